"""The circuit as a picture: places across, layers up, a box for every set of nodes that surely carries something.

Takes  what was saved.
Gives  one SVG drawing whose colours come from the style sheet around it, and the same as a list of text.
Never  draws a role that is not sure by `evidence/sureness.py`, or an edge that no supported claim rests on.

A line joins two boxes that a supported claim of order rests on: what the lower one writes, the upper one can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.variables import COLUMN_KIND, RESOLVED_KIND
from carrylens.discovery.node_map import NodeMap, Nodes
from carrylens.evidence.sureness import is_sure
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.report.kind_styles import kind_class, kinds_of, variable_kind
from carrylens.report.page.elements import element
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.map import short_name, shown_roles
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable, VariableKind

_BOX, _GAP, _LINE, _BAND, _LEFT, _TOP = 66, 12, 14, 34, 62, 16
_CARRIES = (COLUMN_KIND, RESOLVED_KIND)


@dataclass(frozen=True)
class Box:
    """A set of nodes at one place and stage, and what it surely carries.

    `kind` is that of its variables; of several, that which is computed last.
    """

    nodes: Nodes
    variables: tuple[Variable, ...]
    kind: VariableKind

    @property
    def position(self) -> int:
        """Where it stands."""
        return max(node.position for node in self.nodes)

    @property
    def stage(self) -> int:
        """How far up: heads of layer 0, MLP of layer 0, heads of layer 1, and so on."""
        return max(2 * node.layer + node.is_mlp for node in self.nodes)

    @property
    def name(self) -> str:
        """Its nodes without what the picture shows already; only how many they are where a box has no room for more."""
        if len({(node.position, node.layer) for node in self.nodes}) > 1 or len(self.nodes) > 3:
            return f"{len(self.nodes)} nodes"
        return "+".join("MLP" if node.is_mlp else f"H{node.head}" for node in sorted(self.nodes))


@dataclass(frozen=True)
class Circuit:
    """What the picture shows; a set that spans several places stands at the last of them."""

    boxes: tuple[Box, ...]
    edges: tuple[tuple[Nodes, Nodes, Variable], ...]


def circuit_of(saved: Saved) -> Circuit:
    """The boxes and lines of a model's circuit."""
    sure: dict[Nodes, list[Variable]] = {}
    for (nodes, variable), roles in shown_roles(saved.map).items():
        if any(is_sure(role.hit, role.null, role.p) for role in roles):
            sure.setdefault(nodes, []).append(variable)
    kept = {nodes: tuple(_new_in(nodes, some, sure)) for nodes, some in sure.items()}
    boxes = [Box(nodes, new, _last_kind(saved.map, new)) for nodes, new in kept.items() if new]
    shown = {box.nodes for box in boxes}
    return Circuit(tuple(boxes), tuple(dict.fromkeys(_edges(saved.claims, shown))))


def circuit_lines(circuit: Circuit, layout: Layout) -> list[tuple[str, str, str]]:
    """The picture as text: what stands at each place, from the first to the last."""
    names = layout.place_names
    order = sorted(circuit.boxes, key=lambda box: (box.position, box.stage, box.nodes))
    return [(names[box.position], print_nodes(box.nodes), ", ".join(map(short_name, box.variables))) for box in order]


def circuit_drawing(circuit: Circuit, found: NodeMap, name: str = "circuit", *, linked: bool = False) -> Markup:
    """The picture as an SVG element, called `name` on its page; empty where there is nothing to draw.

    If `linked`, a box leads to the evidence of its last node on the same page.
    """
    return _CircuitDrawing(circuit, found, linked).svg(name) if circuit.boxes else Markup("")


def marks_carries(found: NodeMap) -> bool:
    """Whether lines that bring a carry or borrow are solid, and all others dashed: in arithmetic."""
    return isinstance(found.task, ArithmeticTask)


def _last_kind(found: NodeMap, variables: Sequence[Variable]) -> VariableKind:
    return max((variable_kind(found, variable) for variable in variables), key=kinds_of(found).index)


def _new_in(nodes: Nodes, variables: Sequence[Variable], sure: Mapping[Nodes, Sequence[Variable]]) -> list[Variable]:
    # What a set carries that no smaller set inside it surely carries as well.
    inside = [some for smaller, some in sure.items() if set(smaller) < set(nodes)]
    return [variable for variable in variables if not any(variable in some for some in inside)]


def _edges(claims: Mapping[str, object], shown: set[Nodes]) -> list[tuple[Nodes, Nodes, Variable]]:
    found = []
    for claim in claims["claims"]:  # type: ignore[attr-defined]
        if claim["kind"] == "order" and claim["verdict"] == "SUPPORTED":
            part, whole = (tuple(sorted(parse_nodes(each["nodes"]))) for each in claim["evidence"][:2])
            variable = Variable.parse(claim["evidence"][0]["variable"])
            if part in shown and whole in shown:
                found.append((part, whole, variable))
    return found


class _CircuitDrawing:
    def __init__(self, circuit: Circuit, found: NodeMap, linked: bool) -> None:
        self.circuit, self.found, self.linked = circuit, found, linked
        self.places = sorted({box.position for box in circuit.boxes})
        self.width = _LEFT + len(self.places) * (_BOX + _GAP) + 8
        self._stack()

    def _stack(self) -> None:
        piles: dict[tuple[int, int], list[Box]] = {}
        for box in sorted(self.circuit.boxes, key=lambda box: box.nodes):
            piles.setdefault((box.stage, box.position), []).append(box)
        stages = sorted({stage for stage, _ in piles})
        heights = {
            stage: max(sum(_height(box) + 5 for box in pile) for (at, _), pile in piles.items() if at == stage)
            for stage in stages
        }
        self.bottom = _TOP + sum(heights[stage] + _BAND for stage in stages)
        self.height = self.bottom + 40
        self.at: dict[Nodes, tuple[float, float, int]] = {}
        self.bands: list[tuple[int, float]] = []
        y = float(self.bottom)
        for stage in stages:
            y -= heights[stage]
            self.bands.append((stage, y + heights[stage] / 2))
            for place in self.places:
                top = y
                for box in piles.get((stage, place), []):
                    self.at[box.nodes] = (self._x(place), top, _height(box))
                    top += _height(box) + 5
            y -= _BAND

    def _x(self, place: int) -> float:
        return _LEFT + self.places.index(place) * (_BOX + _GAP)

    def svg(self, name: str) -> Markup:
        n_edges = len(self.circuit.edges)
        title = f"Circuit of {self.found.model}: {len(self.circuit.boxes)} boxes, {n_edges} lines between them"
        about_it = {
            "viewBox": f"0 0 {self.width} {self.height}",
            "role": "img",
            "style": f"min-width:{min(self.width, 820)}px;max-width:{int(1.25 * self.width)}px",
            "aria_labelledby": f"{name}-title {name}-about",
        }
        about = "Places run from left to right, layers from the bottom up. The list after the picture says the same."
        words = [element("title", title, id=f"{name}-title"), element("desc", about, id=f"{name}-about")]
        parts = (*words, *self._frame(), *self._lines(), *self._boxes())
        return element("svg", *parts, apart="\n", class_="circuit", **about_it)

    def _frame(self) -> list[Markup]:
        names, parts = self.found.task.layout.place_names, []
        for stage, y in self.bands:
            for at, word in enumerate((f"layer {stage // 2}", "MLP" if stage % 2 else "heads")):
                parts.append(element("text", word, class_="quiet", x=0, y=f"{y + 13 * at:g}"))
        for place in self.places:
            middle = f"{self._x(place) + _BOX / 2:g}"
            for look, text, below in (("place", names[place], 20), ("quiet", f"P{place}", 34)):
                parts.append(element("text", text, class_=look, x=middle, y=self.bottom + below, text_anchor="middle"))
        return parts

    def _lines(self) -> list[Markup]:
        parts = []
        for part, whole, variable in self.circuit.edges:
            x, y, _ = self.at[part]
            to_x, to_y, to_height = self.at[whole]
            start, end = x + _BOX / 2, to_x + _BOX / 2
            low = to_y + to_height
            bend = max(18.0, (y - low) / 2)
            kind = variable_kind(self.found, variable)
            strength = "carry" if kind in _CARRIES or not marks_carries(self.found) else "other"
            way = f"M{start:g} {y:g} C{start:g} {y - bend:g} {end:g} {low + bend:g} {end:g} {low:g}"
            parts.append(element("path", class_=f"line {kind_class(kind)} {strength}", d=way))
        return parts

    def _boxes(self) -> list[Markup]:
        parts = []
        for box in self.circuit.boxes:
            x, y, height = self.at[box.nodes]
            middle = {"x": f"{x + _BOX / 2:g}"}
            inside = [
                element("rect", class_="box", x=f"{x:g}", y=f"{y:g}", width=_BOX, height=height, rx=6),
                element("text", box.name, class_="node", **middle, y=f"{y + 13:g}", text_anchor="middle"),
            ]
            for at, words in enumerate(_rows(box)):
                y_row = f"{y + 27 + _LINE * at:g}"
                inside.append(element("text", words, class_="role", **middle, y=y_row, text_anchor="middle"))
            drawn = element("g", *inside, apart="\n", class_=kind_class(box.kind))
            parts.append(element("a", drawn, href=f"#{box.nodes[-1]}") if self.linked else drawn)
        return parts


def _rows(box: Box) -> list[str]:
    # Two names on a line, four lines at most.
    names = [short_name(variable) for variable in box.variables]
    rows = [" ".join(names[at : at + 2]) for at in range(0, len(names), 2)]
    return rows if len(rows) <= 4 else [*rows[:3], f"+{len(names) - 6} more"]


def _height(box: Box) -> int:
    return 20 + _LINE * len(_rows(box))


def circuit_nodes(circuit: Circuit) -> frozenset[Node]:
    """Every node that is in some box."""
    return frozenset(node for box in circuit.boxes for node in box.nodes)
