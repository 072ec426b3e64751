"""Node truth: the truth about a wiring, node by node and edge by edge.

Takes  a `Wiring`.
Gives  the groups and the edges of its `Truth`.
Never  leaves out a node that is read: a test interchanges every node of small models and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carrylens.arithmetic.planted.algorithm_of import DIGITS, RESOLVED
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.hostile_truth import (
    bringing_heads,
    carrier_group,
    part_edges,
    part_groups,
    route_edges,
    route_groups,
    shared_out,
)
from carrylens.arithmetic.planted.truth import PlantedEdge, PlantedGroup
from carrylens.arithmetic.planted.wiring import Wiring, halves
from carrylens.arithmetic.variables import OPR, SGN
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


def truth_of_nodes(wiring: Wiring) -> tuple[tuple[PlantedGroup, ...], tuple[PlantedEdge, ...]]:
    """Every group and every edge."""
    groups = [*_column_groups(wiring), *_resolver_groups(wiring), *part_groups(wiring)]
    edges = [*_column_edges(wiring), *_tail_edges(wiring), *part_edges(wiring)]
    for token in wiring.tokens:
        groups += [*_token_groups(wiring, token), *route_groups(wiring, token)]
        edges += [*_token_edges(wiring, token), *route_edges(wiring, token)]
    return tuple(dict.fromkeys(shared_out(groups, wiring))), tuple(dict.fromkeys(edges))


def group(
    variable: Variable,
    stage: str,
    serves: Sequence[Variable],
    copies: Sequence[Sequence[Node]],
    share: float = 1.0,
) -> PlantedGroup:
    """A group with every copy once, in order."""
    in_order = tuple(sorted({tuple(sorted(copy)) for copy in copies}))
    return PlantedGroup(variable, stage, tuple(serves), in_order, share=share)


def _served(wiring: Wiring, letter: str, k: int) -> list[Variable]:
    # The tokens that a carry out of column k, or above it, goes into.
    return [
        token
        for token in wiring.tokens
        if any(parent.name[0] == letter and (parent.index or 0) >= k for parent in wiring.parents(token, RESOLVED))
    ]


def _columns(wiring: Wiring) -> Iterator[tuple[Variable, list[Variable], list[PlantedRole]]]:
    # Each variable a column holds its carry in, the tokens it serves, and its copies.
    serves: dict[Variable, set[Variable]] = {}
    for letter, columns in wiring.columns.items():
        for k in columns:
            for variable in wiring.column_variables(letter, k):
                serves.setdefault(variable, set()).update(_served(wiring, letter, k))
    for variable, tokens in serves.items():
        yield variable, [token for token in wiring.tokens if token in tokens], list(wiring.description.of(variable))


def _column_groups(wiring: Wiring) -> Iterator[PlantedGroup]:
    for variable, serves, roles in _columns(wiring):
        if wiring.description.hostile.spread:
            continue  # the parts of such a column have groups of their own
        yield group(variable, "fetch", serves, [role.heads for role in roles])
        yield group(variable, "table", serves, [role.mlps[:1] for role in roles])
        if wiring.resolver:
            yield group(variable, "sort", serves, [role.mlps[1:] for role in roles])


def _resolver_groups(wiring: Wiring) -> Iterator[PlantedGroup]:
    for role in wiring.description.roles:
        if wiring.resolver and role.variable.name in RESOLVED and role.mlps:
            serves = [token for token in wiring.tokens if role.variable in wiring.parents(token, RESOLVED)]
            yield group(role.variable, "gather", serves, [role.heads])
            yield group(role.variable, "resolve", serves, [role.mlps])


def _token_groups(wiring: Wiring, token: Variable) -> Iterator[PlantedGroup]:
    for variable in wiring.parents(token, DIGITS):
        roles = wiring.description.of(variable)
        for alike in zip(*(halves(wiring, role) for role in roles), strict=True):
            yield group(alike[0].variable, "fetch", [token], [half.heads for half in alike])
        if roles[0].mlps:
            yield group(variable, "table", [token], [role.mlps for role in roles])
    for variable in wiring.parents(token, (str(OPR), str(SGN))):
        yield group(variable, "select", [token], [[_known(wiring.selector(token, variable))]])
    for variable in wiring.parents(token, RESOLVED):
        yield carrier_group(wiring, token, variable)
    yield group(token, "combine", [token], [[_known(wiring.combiner(token))]])


def _column_edges(wiring: Wiring) -> Iterator[PlantedEdge]:
    if wiring.description.hostile.spread:
        return
    for variable, _, roles in _columns(wiring):
        for role in roles:
            yield from (PlantedEdge(head, role.mlps[0], "mlp", variable) for head in role.heads)
    for token in wiring.tokens if wiring.resolver is None else ():
        for resolved in wiring.parents(token, RESOLVED):
            for lane, reader in bringing_heads(wiring, token, resolved):
                for k in range((resolved.index or 0) + 1):
                    for role in wiring.lanes(resolved.name[0], k)[lane].values():
                        for side in _sides(role.variable, resolved):
                            yield PlantedEdge(role.mlps[0], reader, side, role.variable)


def _sides(variable: Variable, resolved: Variable) -> str:
    # A key says whether the column passes on, which the units never do; a value says what it carries.
    if variable.name == "S9":
        return "k"
    if variable.name[0] != resolved.name[0]:
        return "k"
    return "v" if variable.index == 0 or variable.name == "SC" else "kv"


def _tail_edges(wiring: Wiring) -> Iterator[PlantedEdge]:
    resolver = wiring.resolver
    if resolver is None:
        return
    for variable, _, roles in _columns(wiring):
        for role in roles:
            yield PlantedEdge(role.mlps[0], role.mlps[1], "mlp", variable)
            yield PlantedEdge(role.mlps[1], resolver.heads[0], "v", variable)
    for role in wiring.description.roles:
        if role.variable.name in RESOLVED and role.mlps:
            yield PlantedEdge(resolver.heads[0], resolver.mlps[0], "mlp", role.variable)
    for token in wiring.tokens:
        for resolved in wiring.parents(token, RESOLVED):
            for _, reader in bringing_heads(wiring, token, resolved):
                yield PlantedEdge(resolver.mlps[0], reader, "k", resolved)


def _token_edges(wiring: Wiring, token: Variable) -> Iterator[PlantedEdge]:
    combiner = _known(wiring.combiner(token))
    for variable in wiring.parents(token, DIGITS):
        for role in wiring.description.of(variable):
            for half in halves(wiring, role):
                reader = role.mlps[0] if role.mlps else combiner
                yield from (PlantedEdge(head, reader, "mlp", half.variable) for head in half.heads)
            yield from (PlantedEdge(mlp, combiner, "mlp", variable) for mlp in role.mlps)
    for variable in wiring.parents(token, (str(OPR), str(SGN))):
        yield PlantedEdge(_known(wiring.selector(token, variable)), combiner, "mlp", variable)
    for variable in wiring.parents(token, RESOLVED):
        yield from (PlantedEdge(n, combiner, "mlp", variable) for _, n in bringing_heads(wiring, token, variable))
    yield PlantedEdge(combiner, None, "logits", token)


def _known(node: Node | None) -> Node:
    assert node is not None, "the wiring was checked"
    return node
