"""Hostile truth: the truth about what hostile dials add to a wiring, node by node and edge by edge.

Takes  a `Wiring`.
Gives  groups, edges and backups for its `Truth`, and the share of questions that each group is for.
Never  leaves out a node that is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from carrylens.arithmetic.mixtures import G
from carrylens.arithmetic.planted.algorithm_of import RESOLVED
from carrylens.arithmetic.planted.hostile_algorithm import HALVES, KEY, MN, MX, PARTS
from carrylens.arithmetic.planted.hostile_roles import WEIGHED_NAMES
from carrylens.arithmetic.planted.truth import PlantedBackup, PlantedEdge, PlantedGroup
from carrylens.arithmetic.planted.wiring import COLUMN, Wiring, bringers, extra_carriers, fetched
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

_SOME_HALVES = {half.name for pair in HALVES.values() for half in pair}


def carrier_group(wiring: Wiring, token: Variable, resolved: Variable) -> PlantedGroup:
    """The heads that bring a carry, with their votes. A backup has none: it is silent as long as they are there."""
    votes = {role.heads: 1 for role in wiring.carriers(token, resolved)}
    for name, role in extra_carriers(wiring, token, resolved).items():
        if name != "backup":
            votes[role.heads] = -1 if name == "negative" else 1
    copies = tuple(sorted(votes))
    weights = tuple(votes[copy] for copy in copies) if wiring.description.hostile.cancel else ()
    return PlantedGroup(resolved, "bring", (token,), copies, weights)


def bringing_heads(wiring: Wiring, token: Variable, resolved: Variable) -> list[tuple[int, Node]]:
    """The heads that bring a carry, with their lanes, without backups."""
    backup = extra_carriers(wiring, token, resolved).get("backup")
    silent = backup.heads if backup else ()
    return [(lane, head) for lane, head in bringers(wiring, token, resolved) if head not in silent]


def backups_of(wiring: Wiring) -> tuple[PlantedBackup, ...]:
    """Every head that acts only when another is gone."""
    return tuple(
        PlantedBackup(backup.heads[0], wiring.carriers(token, resolved)[0].heads[0], resolved, (token,))
        for token in wiring.tokens
        for resolved in wiring.parents(token, RESOLVED)
        if (backup := extra_carriers(wiring, token, resolved).get("backup"))
    )


def part_groups(wiring: Wiring) -> Iterator[PlantedGroup]:
    """The parts of spread columns: fetched, worked out, gathered."""
    for part, head, serves in _parts(wiring):
        (made,) = wiring.description.of(part)
        yield PlantedGroup(part, "fetch", serves, (made.heads,))
        yield PlantedGroup(part, "table", serves, (made.mlps,))
        yield PlantedGroup(part, "gather", serves, ((head,),))


def part_edges(wiring: Wiring) -> Iterator[PlantedEdge]:
    """What carries them: from the fetching heads to the heads that resolve."""
    for part, gatherer, serves in _parts(wiring):
        (made,) = wiring.description.of(part)
        yield from (PlantedEdge(head, made.mlps[0], "mlp", part) for head in made.heads)
        yield PlantedEdge(made.mlps[0], gatherer, "v", part)
        for token in serves:
            for resolved in wiring.parents(token, RESOLVED):
                if (part.index or 0) <= (resolved.index or 0):
                    for _, reader in bringing_heads(wiring, token, resolved):
                        yield PlantedEdge(gatherer, reader, "k" if part.name == "STU" else "v", part)


def route_groups(wiring: Wiring, token: Variable) -> Iterator[PlantedGroup]:
    """What a token's other routes need, where it is predicted."""
    for variable, stage, copies in _route_steps(wiring, token):
        yield PlantedGroup(variable, stage, (token,), tuple(sorted(set(copies))))


def route_edges(wiring: Wiring, token: Variable) -> Iterator[PlantedEdge]:
    """What carries it, from the heads to the combining MLP."""
    combiner = wiring.combiner(token)
    assert combiner is not None
    for variable, stage, copies in _route_steps(wiring, token):
        for node in (node for copy in copies for node in copy):
            mlp = Node(node.position, node.layer, None)
            yield PlantedEdge(node, mlp if stage == "fetch" else combiner, "mlp", variable)


def shared_out(groups: Iterable[PlantedGroup], wiring: Wiring) -> list[PlantedGroup]:
    """The groups with the share of natural questions that each is for."""
    hostile, key = wiring.description.hostile, wiring.description.hostile.key_share(wiring.digits)

    def share(group: PlantedGroup) -> float:
        name = group.variable.name
        gated = any(G.variable in wiring.model.by_variable[token].parents for token in group.serves)
        if name in (MX.name, MN.name, KEY.name):
            return key
        if name in _SOME_HALVES:
            return 0.5
        if name in WEIGHED_NAMES:
            return hostile.gate if gated else 1.0
        return 1.0 - hostile.gate if gated and name in (*RESOLVED, *COLUMN, *PARTS) else 1.0

    return [replace(group, share=share(group)) for group in groups]


def _parts(wiring: Wiring) -> Iterator[tuple[Variable, Node, tuple[Variable, ...]]]:
    # Every part of every spread column that is read, the head that gathers it, and the tokens that it serves.
    for k in wiring.columns.get("S", []) if wiring.description.hostile.spread else []:
        (column,) = wiring.column_variables("S", k)
        (role,) = wiring.description.of(column)
        serves = tuple(
            token
            for token in wiring.tokens
            if any((resolved.index or 0) >= k for resolved in wiring.parents(token, RESOLVED))
        )
        for part, head in zip(wiring.model.by_variable[column].parents, role.heads, strict=True):
            yield part, head, serves


def _route_steps(wiring: Wiring, token: Variable) -> Iterator[tuple[Variable, str, Sequence[tuple[Node, ...]]]]:
    # Each variable that is fetched or worked out for another route of the token, and the nodes that do it.
    parents = wiring.model.by_variable[token].parents
    for variable in parents:
        if variable.name in (*WEIGHED_NAMES, G.name):
            roles = fetched(wiring, token, variable)
            yield variable, "fetch", [role.heads for role in roles]
            yield variable, "table", [role.mlps for role in roles]
    if KEY.variable in parents:
        for extreme in (MX.variable, MN.variable):
            (role,) = fetched(wiring, token, extreme)
            yield extreme, "fetch", [role.heads]
            if extreme in parents:
                yield extreme, "table", [role.mlps]
        yield KEY.variable, "table", [role.mlps]
