"""Map as text: the table of places and nodes for a terminal, and the list of roles.

Takes  a `NodeMap`.
Gives  rich text: plain where colour is not wanted.
Never  prints, and never decides what a role is.

Places run across, layers and their heads and MLPs down. A cell has the variables that a node carries, the index after
the name: `ST3` is ST[3]. A wide table is folded where the question ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET
from rich.text import Text

from carrylens.discovery.behaviours import Behaviour
from carrylens.discovery.node_map import Group, MapRecord, NodeMap, Nodes, Role, Way
from carrylens.evidence.confidence import say_confidence
from carrylens.json_records import to_plain
from carrylens.nodes import Node, print_nodes
from carrylens.report.kind_styles import family_of, kinds_of, variable_kind
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Family, Variable

_WIDTH, _NAME, _CELL = 120, 7, 5
NO_ROLE = "o"
PARTLY = "~"
"""Marks what is carried in some questions and not in others."""


def short_name(variable: Variable) -> str:
    """The variable as a cell shows it.

    >>> short_name(Variable("ST", 3)), short_name(Variable("OPR"))
    ('ST3', 'OPR')
    """
    return variable.name if variable.index is None else f"{variable.name}{variable.index}"


def map_text(found: NodeMap) -> Text:
    """The whole map: a heading, the table, its legend, the roles."""
    useful, places = found.useful, [use.place for use in found.places if use.is_useful]
    shape = f"layers: {found.n_layers}, heads: {found.n_heads}"
    heading = f"{len(useful)} of {len(found.nodes)} nodes are useful"
    where = f", at {len(places)} of {len(found.places)} places" if found.places else ""
    lines = [Text(f"{found.model}  ({shape})", style="bold"), Text(f"{heading}{where}.", style="dim")]
    for columns in _folds(found.task.layout):
        lines += [Text(), *_table(found, columns)]
    lines += [Text(), *_legend(found), Text(), *role_lines(found)]
    if found.groups:
        lines += [Text(), *group_lines(found)]
    return Text("\n").join(lines)


def shown_roles(found: NodeMap) -> dict[tuple[Nodes, Variable], list[Role]]:
    """The roles by set and variable. Of variables that no question tells apart, the one computed first is shown."""
    order = causal_order(found)
    shown: dict[tuple[Nodes, Variable], list[Role]] = {}
    for role in sorted(found.roles, key=lambda role: (role.nodes, order[role.variable], role.token)):
        if all(order[role.variable] < order[other] for other in role.same_as):
            shown.setdefault((role.nodes, role.variable), []).append(role)
    return shown


def is_held_whole(roles: Sequence[Role]) -> bool:
    """Whether some output is surely moved in nearly all questions, so that the variable need not be called partial."""
    return any(role.is_whole for role in roles)


def causal_order(found: NodeMap) -> dict[Variable, int]:
    """The place of every variable that the map can name: those of its causal model first, each after its parents."""
    variables = dict.fromkeys((*found.causal.variables, *found.task.causal.variables))
    return {variable: at for at, variable in enumerate(variables)}


def map_record(found: NodeMap) -> dict[str, Any]:
    """The map as JSON has it, each role with its confidence."""
    record: dict[str, Any] = to_plain(MapRecord.of(found))
    for role, plain in zip(found.roles, record["roles"], strict=True):
        plain["confidence"] = confidence_of(role)
    return record


def confidence_of(role: Role) -> float:
    """How probable it is that the role is true, as `docs/benchmark_controls.md` says."""
    return role.confidence


def role_lines(found: NodeMap) -> Iterator[Text]:
    """A line for each role: the tokens it serves, the rates of the token hit least, the least p and confidence."""
    yield Text("Roles, with the figures of the output that is hit least often. A partial role has its share.", "italic")
    names = found.task.layout.output_places
    for (nodes, variable), roles in shown_roles(found).items():
        least = min(roles, key=lambda role: role.hit.value)
        low, high = least.hit.interval
        others = sorted({short_name(other) for role in roles for other in role.same_as})
        line = Text(f"{print_nodes(nodes):<18} ")
        line.append(f"{short_name(variable):<4}", style=_style(found, variable))
        line.append(
            f" for {' '.join(names[role.token] for role in roles):<18} hit {least.hit.value:.2f} "
            f"[{low:.2f}, {high:.2f}] of {least.hit.n}, null {least.null.value:.2f} of {least.null.n}, "
            f"p {max(role.p for role in roles):.0e}, {say_confidence(min(map(confidence_of, roles)))}"
        )
        line.append(f", or {', '.join(others)}" if others else "")
        line.append(", superposed with others" if least.way is Way.DIFFERENCE else "")
        if not least.is_whole:
            line.append(f", partial: {least.hit.value:.0%}", style="dim")
            line.append(f"; {least.fails}" if least.fails is not UNSET else "", style="dim")
        yield line


def group_lines(found: NodeMap) -> Iterator[Text]:
    """A line for each group: the tokens it serves, the sets that suffice, and how many nodes need no interchange."""
    yield Text("Groups: nodes that move a variable together, and none of them alone.", style="italic")
    names = found.task.layout.output_places
    tokens: dict[tuple[Variable, tuple[Nodes, ...]], list[str]] = {}
    for group in found.groups:
        tokens.setdefault((group.variable, group.sets), []).append(names[group.token])
    for (variable, sets), served in tokens.items():
        line = Text(f"{short_name(variable):<4}", style=_style(found, variable))
        line.append(f" for {' '.join(served):<24} {' or '.join(map(print_nodes, sets))}", style="default")
        group = Group(variable, 0, sets)
        spare = f", {group.spare} of {len(group.nodes)} need not be interchanged" if group.spare else ""
        line.append(spare, style="default")
        yield line


def _folds(layout: Layout) -> list[list[int]]:
    # Positions for each table: one if all fit, else the question and the outputs, each folded again if need be.
    every, most = list(range(layout.n_positions)), (_WIDTH - _NAME) // _CELL
    if len(every) <= most:
        return [every]
    halves = (every[: layout.n_question], every[layout.n_question :])
    return [half[at : at + most] for half in halves for at in range(0, len(half), most)]


def _table(found: NodeMap, columns: Sequence[int]) -> Iterator[Text]:
    names, useful = found.task.layout.place_names, found.useful
    cells: dict[Node, list[Text]] = {}
    for (nodes, variable), roles in shown_roles(found).items():
        if len(nodes) == 1:
            name = short_name(variable) + ("" if is_held_whole(roles) else PARTLY)
            cells.setdefault(nodes[0], []).append(Text(name, style=_style(found, variable)))
    yield _row("", [[Text(names[at], style="bold")] for at in columns], 0)
    for layer in range(found.n_layers):
        for head in found.layer_parts:
            row = [_cell(Node(at, layer, head), cells, useful) for at in columns]
            name = f"L{layer}" + ("MLP" if head is None else f"H{head}")
            for line in range(max(1, *map(len, row))):
                yield _row("" if line else name, row, line)


def _cell(node: Node, cells: dict[Node, list[Text]], useful: frozenset[Node]) -> list[Text]:
    return cells.get(node) or ([Text(NO_ROLE, style="dim")] if node in useful else [])


def _style(found: NodeMap, variable: Variable) -> str:
    return variable_kind(found, variable).terminal


def _row(name: str, cells: Sequence[Sequence[Text]], line: int) -> Text:
    row = Text(name.ljust(_NAME))
    for cell in cells:
        text = cell[line] if line < len(cell) else Text()
        row.append_text(text)
        row.append(" " * max(1, _CELL - len(text)))
    row.rstrip()
    return row


def _legend(found: NodeMap) -> Iterator[Text]:
    line = Text("Legend: ", style="italic")
    for family in _shown_families(found):
        entry = Text.assemble((family.name, family.kind.terminal), f" {family.title or family.meaning}; ")
        if len(line) + len(entry) > _WIDTH:
            yield line
            line = Text()
        line.append_text(entry)
    yield line
    yield Text(f"{NO_ROLE} is a useful node without a role of its own; roles of pairs and groups are listed below.")
    yield Text(f"{PARTLY} marks a partial role: the node carries the variable in only some of the questions.")


def _shown_families(found: NodeMap) -> list[Family]:
    # By kind; within a kind in causal order, inputs after what is computed.
    kinds, order, inputs = kinds_of(found), causal_order(found), frozenset(found.causal.inputs)
    variables = sorted(
        {variable for _, variable in shown_roles(found)},
        key=lambda each: (kinds.index(variable_kind(found, each)), each in inputs, order[each]),
    )
    return list({each.name: family_of(found, each) for each in variables}.values())


def behaviour_lines(found: NodeMap) -> Iterator[Text]:
    """A line for each useful node: failures without it, where it looks, what its write falls into."""
    behaviours = {each.node: each for each in found.behaviours}
    yield Text("Behaviours: share of questions that fail without the node, by mean and by resample ablation.", "italic")
    for each in found.nodes:
        if each.node in found.useful:
            seen = behaviours.get(each.node, Behaviour(each.node))
            line = f"{each.node!s:<9} {each.mean.value:.2f} {each.resample.value:.2f}"
            if seen.backups is not None and seen.backups.is_useful:
                lost = seen.backups.mean_lost
                line += f"  with {print_nodes(seen.backups.nodes)} away too {lost.value:.2f} more"
            yield Text(line + _looks(seen) + _clear(seen))


def _looks(seen: Behaviour) -> str:
    shown = [
        f"{each.operation} " + " ".join(f"{look.place} {look.share:.0%}" for look in each.looks)
        for each in seen.attention
    ]
    return f"  looks at: {'; '.join(shown)}" if shown else ""


def _clear(seen: Behaviour) -> str:
    clear = [f"{short_name(each.variable)} ({each.quality:.2f}, shuffled {each.null:.2f})" for each in seen.clusters]
    chosen = [text for text, each in zip(clear, seen.clusters, strict=True) if each.are_clear]
    return f"  clusters: {', '.join(chosen)}" if chosen else ""
