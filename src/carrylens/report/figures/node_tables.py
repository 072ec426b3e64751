"""Node tables for print: failure map, answer-impact map, purpose map, attention map, and which questions share a node.

Takes  a node map.
Gives  a figure each: places across, layers up, a cell for every head and MLP at the places that matter.
Never  draws a node as useful that is not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.node_map import NodeMap
from carrylens.nodes import Node
from carrylens.report.kind_styles import kinds_of, variable_kind
from carrylens.report.terminal.map import short_name, shown_roles
from carrylens.tasks.variables import VariableKind

WIDTH = 7.0
"""Inches: the width of a page of text."""
_MOST_LINES = 4


@dataclass(frozen=True)
class NodeCell:
    """What one node's cell shows."""

    lines: tuple[str, ...] = ()
    fill: str = "#ffffff"
    ink: str = "#222222"


def failure_map(found: NodeMap) -> Figure:
    """How many percent of the questions fail when each node writes its mean; untouched, the clean share fails."""
    rates, useful = {each.node: each for each in found.nodes}, found.useful
    clean = found.nodes[0].clean if found.nodes else None
    colours = colormaps["Blues"]

    def cell(node: Node) -> NodeCell:
        if node not in useful:
            return NodeCell()
        value = rates[node].mean.value
        percent = f"{100 * value:.0f}" if value >= 0.01 or not value else "<1"
        return NodeCell((percent,), to_hex(colours(0.08 + 0.6 * value)), "#ffffff" if value > 0.75 else "#222222")

    null = "" if clean is None else f"; untouched {clean.hits} of {clean.n}"
    return _draw(found, f"Questions that fail without a node, percent of {clean.n if clean else 0}{null}", cell)


def impact_map(found: NodeMap) -> Figure:
    """Which outputs go wrong without each node: in arithmetic, digits of the answer by their number."""
    rates, useful = {each.node: each for each in found.nodes}, found.useful
    is_arithmetic = isinstance(found.task, ArithmeticTask)
    title = "Digits A of the answer" if is_arithmetic else "Outputs"

    def cell(node: Node) -> NodeCell:
        hit = rates[node].hit_places(found.task.layout) if node in useful else ()
        places = [place.removeprefix("A" if is_arithmetic else "") for place in hit]
        runs = tuple(" ".join(places[at : at + 4]) for at in range(0, len(places), 4))
        return NodeCell(runs, "#e8f1f8" if runs else "#f3f3f3" if node in useful else "#ffffff")

    return _draw(found, f"{title} that go wrong without a node", cell)


def reuse_map(found: NodeMap) -> Figure:
    """Which kinds of arithmetic questions each node serves: those that fail more often without it than untouched."""
    rates, useful = {each.node: each for each in found.nodes}, found.useful
    fills = ("#ffffff", "#e8f1f8", "#a9cfe6", "#5b9fc9")

    def cell(node: Node) -> NodeCell:
        failing: dict[str, int] = {}
        for name, rate in rates[node].classes.items():
            failing[name[0]] = failing.get(name[0], 0) + rate.hits
        served = "".join(letter for letter in "SMN" if failing.get(letter, 0) > rates[node].clean.hits)
        return NodeCell((served,) if served and node in useful else (), fills[len(served) if node in useful else 0])

    clean = found.nodes[0].clean if found.nodes else None
    said = "" if clean is None else f", {clean.hits} of {clean.n} fail untouched"
    return _draw(found, f"Questions that need a node: S additions, M and N differences of either sign{said}", cell)


def purpose_map(found: NodeMap) -> Figure:
    """What each node carries by itself; `+` where only together with others."""
    alone: dict[Node, list[str]] = {}
    looks: dict[Node, VariableKind] = {}
    together: set[Node] = set()
    for nodes, variable in shown_roles(found):
        if len(nodes) == 1:
            alone.setdefault(nodes[0], []).append(short_name(variable))
            looks.setdefault(nodes[0], variable_kind(found, variable))
        else:
            together |= set(nodes)
    useful = found.useful

    def cell(node: Node) -> NodeCell:
        if node in alone:
            lines = alone[node]
            shown = lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], f"+{len(lines) - 3}"]
            return NodeCell(tuple(shown), *looks[node].light)
        return NodeCell(("+",) if node in together else ("o",) if node in useful else (), ink="#666666")

    figure = _draw(found, "What a node carries; + only together with others, o useful without a role", cell)
    used = [kind for kind in kinds_of(found) if kind in looks.values()]
    handles = [Rectangle((0, 0), 1, 1, facecolor=kind.light[0], edgecolor=kind.light[1]) for kind in used]
    figure.legend(
        handles, [kind.meaning for kind in used], loc="outside lower center", ncols=2, fontsize=6, frameon=False
    )
    return figure


def attention_map(found: NodeMap) -> Figure:
    """The places that each useful head looks at most."""
    seen = {each.node: each for each in found.behaviours}

    def cell(node: Node) -> NodeCell:
        if node.is_mlp or node not in seen:
            return NodeCell()
        places = dict.fromkeys(look.place for each in seen[node].attention for look in each.looks[:3])
        return NodeCell(tuple(places)[:_MOST_LINES], "#f1ecf7")

    n = next((each.n for one in found.behaviours for each in one.attention), 0)
    return _draw(found, f"Places that a useful head looks at most, average of {n} questions", cell, heads_only=True)


def _draw(found: NodeMap, title: str, cell: Callable[[Node], NodeCell], *, heads_only: bool = False) -> Figure:
    places, names = sorted({node.position for node in found.useful}), found.task.layout.place_names
    rows = [
        (layer, head)
        for layer in range(found.n_layers)
        for head in found.layer_parts
        if head is not None or not heads_only
    ]
    cells = {(at, row): cell(Node(place, *row)) for at, place in enumerate(places) for row in rows}
    heights = [max(1, *(len(cells[at, row].lines) for at in range(len(places)))) if places else 1 for row in rows]
    figure = Figure(figsize=(WIDTH, 0.125 * sum(heights) + 0.055 * len(rows) + 0.75), layout="constrained")
    panel = figure.add_subplot()
    y = 0.0
    for row, height in zip(rows, heights, strict=True):
        for at in range(len(places)):
            shown = cells[at, row]
            panel.add_patch(
                Rectangle((at, y), 1, height + 0.4, facecolor=shown.fill, edgecolor="#c8c8c8", linewidth=0.4)
            )
            for line, text in enumerate(shown.lines):
                middle = y + (height + 0.4) / 2 + (len(shown.lines) - 1) / 2 - line
                panel.text(at + 0.5, middle, text, ha="center", va="center", fontsize=6, color=shown.ink)
        name = f"L{row[0]}" + ("MLP" if row[1] is None else f"H{row[1]}")
        panel.text(-0.15, y + (height + 0.4) / 2, name, ha="right", va="center", fontsize=6)
        y += height + 0.4
    panel.set_xlim(-1, max(1, len(places)))
    panel.set_ylim(0, y)
    panel.set_xticks([at + 0.5 for at in range(len(places))], [names[at] for at in places])
    panel.tick_params(labelsize=7, length=0)
    panel.set_yticks([])
    panel.set_frame_on(False)
    panel.set_title(f"{found.model}\n{title}", fontsize=8, loc="left")
    return figure
