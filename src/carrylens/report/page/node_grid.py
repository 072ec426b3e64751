"""The node map as a table, and the evidence behind each of its cells.

Takes  what was saved.
Gives  rows of cells, layers up and places across, and for each cell an `Evidence`.
Never  shows a rate without the null it stands beside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from carrylens.discovery.behaviours import Behaviour, Clusters
from carrylens.discovery.node_map import Group, NodeMap, Nodes, Role, Usefulness, Way
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.nodes import Node, print_nodes
from carrylens.report.kind_styles import kind_class, variable_kind
from carrylens.report.page.effects import SAME_VALUE, Effect, effect_of_role, percent
from carrylens.report.page.saved import Saved
from carrylens.report.terminal.map import PARTLY, is_held_whole, short_name, shown_roles
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable

_MOST_CHIPS = 3


@dataclass(frozen=True)
class Chip:
    """A variable as a cell shows it, in the colours of a class of the style sheet."""

    text: str
    css_class: str
    meaning: str = ""


@dataclass(frozen=True)
class GridCell:
    """One node of the table."""

    node: str
    label: str
    chips: tuple[Chip, ...]
    more: int
    useful: bool


@dataclass(frozen=True)
class GridRow:
    """The nodes of one head or MLP, at every place shown."""

    name: str
    top: bool
    cells: tuple[GridCell, ...]


@dataclass(frozen=True)
class RoleRow:
    """One role as evidence: what it is, its effect with the null, and what no question tells from it."""

    nodes: str
    variable: Chip
    token: str
    effect: Effect
    same_as: str
    pairs: str


@dataclass(frozen=True)
class GroupRow:
    """A group: what it carries for which tokens, the sets that suffice, and how many nodes need no interchange."""

    variable: Chip
    tokens: str
    sets: str
    spare: int
    size: int


@dataclass(frozen=True)
class Evidence:
    """All that is known of one node."""

    node: str
    where: str
    useful: bool
    without: tuple[Effect, ...]
    tokens: tuple[Effect, ...]
    classes: tuple[str, ...]
    looks: tuple[str, ...]
    clusters: tuple[Clusters, ...]
    roles: tuple[RoleRow, ...]
    groups: tuple[RoleRow, ...]
    n_tried: int
    best_tried: Effect | None


@dataclass(frozen=True)
class Grid:
    """The table, the places it leaves out, and the evidence of every cell."""

    places: tuple[str, ...]
    left_out: tuple[str, ...]
    rows: tuple[GridRow, ...]
    evidence: tuple[Evidence, ...]


def map_grid(saved: Saved) -> Grid:
    """The node map, at the places where some node is useful."""
    found, useful = saved.map, saved.map.useful
    names = found.task.layout.place_names
    useful_places = sorted({node.position for node in useful})
    measured = sorted({each.node.position for each in found.nodes})
    shown = [each for each in found.nodes if each.node.position in useful_places]
    tried = _tried(saved.facts)
    roles = list(_role_rows(found))
    behaviours = {each.node: each for each in found.behaviours}
    return Grid(
        places=tuple(names[at] for at in useful_places),
        left_out=tuple(names[at] for at in measured if at not in useful_places),
        rows=tuple(_rows(found, useful, useful_places)),
        evidence=tuple(
            _evidence(found, each, each.node in useful, behaviours.get(each.node, Behaviour(each.node)), roles, tried)
            for each in shown
        ),
    )


def role_table(found: NodeMap) -> list[RoleRow]:
    """Every role of every set, of variables that no question tells apart the first."""
    return [row for _, row in _role_rows(found)]


def group_table(found: NodeMap) -> list[GroupRow]:
    """Every group; a set that no role stands for, with its null, is an error."""
    known = {(role.nodes, role.variable) for role in found.roles}
    tokens: dict[tuple[Variable, tuple[Nodes, ...]], list[str]] = {}
    for group in found.groups:
        for nodes in group.sets:
            if (nodes, group.variable) not in known:
                raise CarryLensError(
                    f"The group {print_nodes(nodes)} for {group.variable} has no role with its null, so it cannot be "
                    "shown. Map the model again."
                )
        tokens.setdefault((group.variable, group.sets), []).append(found.task.layout.output_places[group.token])
    rows = []
    for (variable, sets), served in tokens.items():
        group, named = Group(variable, 0, sets), " or ".join(map(print_nodes, sets))
        rows.append(GroupRow(chip_of(found, variable), " ".join(served), named, group.spare, len(group.nodes)))
    return rows


def _rows(found: NodeMap, useful: frozenset[Node], places: Sequence[int]) -> Iterator[GridRow]:
    carried: dict[Node, dict[Variable, bool]] = {}
    grouped: dict[Node, int] = {}
    for (nodes, variable), roles in shown_roles(found).items():
        if len(nodes) == 1:
            carried.setdefault(nodes[0], {})[variable] = is_held_whole(roles)
        else:
            for node in nodes:
                grouped[node] = grouped.get(node, 0) + 1
    for layer in reversed(range(found.n_layers)):
        for head in reversed(found.layer_parts):
            nodes_here = [Node(at, layer, head) for at in places]
            cells = [_cell(found, node, node in useful, carried, grouped) for node in nodes_here]
            yield GridRow(f"L{layer}" + ("MLP" if head is None else f"H{head}"), head is None, tuple(cells))


def _cell(
    found: NodeMap,
    node: Node,
    useful: bool,
    carried: Mapping[Node, Mapping[Variable, bool]],
    grouped: Mapping[Node, int],
) -> GridCell:
    variables = carried.get(node, {})
    if variables:
        each = [str(variable) if whole else f"{variable} in part" for variable, whole in variables.items()]
        said = f"carries {', '.join(each)}"
    elif node in grouped:
        said = "carries something only together with others"
    else:
        said = "useful, no role found" if useful else "not useful"
    chips = tuple(chip_of(found, variable, whole=whole) for variable, whole in variables.items())
    if not chips and node in grouped:
        chips = (Chip("group", "group", "carries something only together with others"),)
    place = found.task.layout.place_names[node.position]
    most = chips[:_MOST_CHIPS]
    return GridCell(str(node), f"{node} at {place}: {said}", most, len(chips) - len(most), useful)


def chip_of(found: NodeMap, variable: Variable, *, whole: bool = True) -> Chip:
    """A variable in the colours of its kind; one that is carried in part is marked."""
    kind = variable_kind(found, variable)
    name, meaning = short_name(variable), kind.meaning
    return Chip(name if whole else name + PARTLY, kind_class(kind), meaning if whole else f"{meaning}, carried in part")


def _role_rows(found: NodeMap) -> Iterator[tuple[Role, RoleRow]]:
    tokens = found.task.layout.output_places
    for (nodes, variable), roles in shown_roles(found).items():
        for role in roles:
            yield (
                role,
                RoleRow(
                    print_nodes(nodes),
                    chip_of(found, variable, whole=role.is_whole),
                    tokens[role.token],
                    effect_of_role(role),
                    ", ".join((*map(short_name, role.same_as), *_superposed(role))),
                    short_name(variable),
                ),
            )


def _superposed(role: Role) -> Iterator[str]:
    # What is to be known of a role besides.
    if role.way is Way.DIFFERENCE:
        yield "superposed with others"
    if not role.is_whole:
        yield f"partial: {percent(role.hit.value)}"
    if role.fails is not UNSET:
        yield str(role.fails)


def _evidence(
    found: NodeMap,
    each: Usefulness,
    useful: bool,
    seen: Behaviour,
    roles: Sequence[tuple[Role, RoleRow]],
    tried: Mapping[str, tuple[int, Effect | None]],
) -> Evidence:
    node, layout = each.node, found.task.layout
    kind = "The MLP" if node.is_mlp else f"Head {node.head}"
    n_tried, best = tried.get(str(node), (0, None))
    return Evidence(
        node=str(node),
        where=f"{kind} of layer {node.layer} at {layout.place_names[node.position]}, position {node.position}",
        useful=useful,
        without=tuple(_without(each, seen)),
        tokens=tuple(_token_effects(each, layout)),
        classes=each.hit_classes,
        looks=tuple(_looks(seen)),
        clusters=seen.clusters,
        roles=tuple(row for role, row in roles if role.nodes == (node,)),
        groups=tuple(row for role, row in roles if node in role.nodes and len(role.nodes) > 1),
        n_tried=n_tried,
        best_tried=best,
    )


def _without(each: Usefulness, seen: Behaviour) -> Iterator[Effect]:
    untouched = "the same questions, untouched"
    yield Effect("fail when it writes its mean", each.mean, each.clean, untouched)
    yield Effect("fail when it writes another question's value", each.resample, each.clean, untouched)
    if (found := seen.backups) is not None:
        others = print_nodes(found.nodes)
        null_is = f"only {others} ablated"
        yield Effect(f"fail when it and {others} write their means", found.mean, found.mean_alone, null_is)
        yield Effect(f"fail when it and {others} are resampled", found.resample, found.resample_alone, null_is)


def _token_effects(each: Usefulness, layout: Layout) -> Iterator[Effect]:
    rates = dict(zip(layout.output_places, each.tokens, strict=False))  # a map may leave its tokens out
    for place in each.hit_places(layout):
        yield Effect(f"{place} wrong without it", rates[place], each.clean, "the same questions, untouched")


def _looks(seen: Behaviour) -> Iterator[str]:
    for each in seen.attention:
        told = ", ".join(f"{look.place} {look.share:.0%}" for look in each.looks)
        yield f"{each.operation}: {told or 'nowhere in particular'} (average of {each.n} questions)"


def _tried(facts: Sequence[Fact]) -> dict[str, tuple[int, Effect | None]]:
    # How many variables and tokens each set was tried for and not found to carry, and which of them came nearest.
    tried: dict[str, list[Fact]] = {}
    confirmed = {
        (fact.about["nodes"], fact.about["variable"], fact.about["token"])
        for fact in facts
        if fact.kind == "swap" and fact.about.get("split") == "confirm"
    }
    for fact in facts:
        if fact.kind == "swap" and fact.about.get("split") == "find":
            key = (fact.about["nodes"], fact.about["variable"], fact.about["token"])
            if key not in confirmed:
                tried.setdefault(str(fact.about["nodes"]), []).append(fact)
    return {nodes: (len(some), _nearest(some)) for nodes, some in tried.items()}


def _nearest(facts: Sequence[Fact]) -> Effect | None:
    measured = [fact for fact in facts if fact.effect.n and fact.null.n]  # where nothing was hit, there is no null
    if not measured:
        return None
    best = max(measured, key=lambda fact: (fact.effect.value - fact.null.value, fact.effect.n))
    return Effect(f"{best.about['variable']}", best.effect, best.null, SAME_VALUE)
