"""Scores: how much of a known circuit a method found, and how much of what it found is there. The one scorer.

Takes  a truth, the causal model that the method was told, and what it found.
Gives  `CircuitScore`: counts by role, node, group, variable and decoy, areas under ROC curves, and every wrong and
       missed role by name; for every role that states a confidence, whether it is true.
Never  counts a variable as another because a method says that they are the same.

- **Strict**: a role counts as true only if the truth lists its node with that very variable.
- **Up to equivalence** (`roles`): a variable that no question can tell from a true one counts as that one, once; see
  `tasks/equivalence.py`. It needs the same node, and must be equivalent at the output that the role names, or at all
  outputs if it names none. Equivalent variables none of which is true of the node are one error, not several.
- Sites known as a whole count as one role each: any of their nodes, with the site's variable, finds the site.
- Variables that the method was not told of are not asked: they count neither as found nor as missed.
- Single inputs: a node that brings one input of a variable, while a partner brings the others, carries that input,
  though the truth lists it under what both bring inputs for. A role that says so is left out of the count.
- Nodes that bring inputs hold those inputs, not what is made of them. `made` leaves out the roles of such nodes, for
  methods that look at what a node holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from carrylens.benchmark.component_edges import component_edge
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.match_counts import MatchCounts, auroc, match_counts
from carrylens.benchmark.method_interface import Found, FoundRole, Given, NodeRole
from carrylens.nodes import Node, print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.variables import Variable

RoleUnit = tuple[tuple[Node, ...], Variable]
"""What a role is counted as: a node, or a whole site, and a variable."""


@dataclass(frozen=True)
class CircuitScore:
    """What a method found, compared with one known circuit. Shares that cannot be computed are None."""

    roles: MatchCounts
    strict: MatchCounts
    made: MatchCounts
    nodes: MatchCounts
    groups: MatchCounts
    by_variable: Mapping[str, MatchCounts]
    decoys: MatchCounts
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    wrong_groups: tuple[str, ...]
    missed_groups: tuple[str, ...]
    node_auroc: float | None = None
    edge_auroc: float | None = None

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> CircuitScore:
        """What `plain` gave."""
        return msgspec.convert(given, cls)


@dataclass(frozen=True)
class StatedRole:
    """A role that a method is so sure of, whether it is true, and whether it is one of a set of nodes."""

    confidence: float
    true: bool
    is_set: bool


def score_found(truth: KnownTruth, given: Given, found: Found) -> CircuitScore:
    """How well a method did on a model: `score_roles`, and how its scores rank nodes and edges."""
    counted = score_roles(truth, given.causal, found)
    nodes, edges = node_auroc(truth, given.nodes, found), edge_auroc(truth, given, found)
    return replace(counted, node_auroc=nodes, edge_auroc=edges)


def score_roles(truth: KnownTruth, causal: CausalModel, found: Found) -> CircuitScore:
    """How well roles and groups fit the truth."""
    true = true_units(truth, causal)
    counted = [role for role in found.node_roles if (role.node, role.variable) not in truth.single_inputs]
    said = {unit for role in counted if (unit := said_unit(truth, causal, role)) is not None}
    strictly = {_unit(truth, role) for role in counted}
    said_nodes, said_sets = {role.node for role in counted}, {nodes for nodes in found.groups if len(nodes) > 1}
    inputs = {((node,), variable) for node, variable in truth.input_roles}
    only_decoys = {node for node in truth.decoys if node not in truth.roles}
    names = sorted({variable.name for _, variable in true | said})
    return CircuitScore(
        roles=match_counts(true, said),
        strict=match_counts(true, strictly),
        made=match_counts(true - inputs, said - inputs),
        nodes=match_counts(set(truth.roles), said_nodes),
        groups=match_counts(truth.redundant_sets, said_sets),
        by_variable={name: match_counts(_of_family(true, name), _of_family(said, name)) for name in names},
        decoys=match_counts(only_decoys, only_decoys & said_nodes),
        wrong=_ordered(map(_unit_text, said - true)),
        missed=_ordered(map(_unit_text, true - said)),
        wrong_groups=_ordered(map(print_nodes, said_sets - truth.redundant_sets)),
        missed_groups=_ordered(map(print_nodes, truth.redundant_sets - said_sets)),
    )


def true_units(truth: KnownTruth, causal: CausalModel) -> set[RoleUnit]:
    """What there is to be found, of variables that the method was told of."""
    told = frozenset(causal.variables)
    return {unit for unit in _true_units(truth) if unit[1] in told}


def said_unit(truth: KnownTruth, causal: CausalModel, role: NodeRole) -> RoleUnit | None:
    """What a reported role is counted as, up to equivalence; None of a single input, which is not counted."""
    if (role.node, role.variable) in truth.single_inputs:
        return None
    return _unit(truth, settled_role(truth, causal, role))


def settled_role(truth: KnownTruth, causal: CausalModel, role: NodeRole) -> NodeRole:
    """The role, or the true one that no question tells from it, or that of the first such variable of the algorithm."""
    true = truth.roles.get(role.node, frozenset())
    if role.variable in true:
        return role
    for variable in (*sorted(true, key=str), *causal.by_variable):
        if are_equivalent(causal, role.variable, variable, role.output):
            return NodeRole(role.node, variable, role.output)
    return role


def is_true_role(truth: KnownTruth, causal: CausalModel, role: FoundRole) -> bool:
    """Whether every node of a role's set carries its variable, or one that no question tells from it."""
    stated = (NodeRole(node, role.variable, role.output) for node in role.nodes)
    settled = (settled_role(truth, causal, each) for each in stated)
    return all(each.variable in truth.roles.get(each.node, frozenset()) for each in settled)


def is_single_input(truth: KnownTruth, role: FoundRole) -> bool:
    """Whether a node brings one input for a partner to complete, and the variable is that input: true, not counted."""
    return any((node, role.variable) in truth.single_inputs for node in role.nodes)


def stated_roles(truth: KnownTruth, causal: CausalModel, found: Found) -> list[StatedRole]:
    """Every role that states a confidence, and whether it is true."""
    return [
        StatedRole(role.confidence, is_true_role(truth, causal, role), len(role.nodes) > 1)
        for role in found.roles
        if role.confidence is not None and not is_single_input(truth, role)
    ]


def node_scores_of(found: Found) -> Mapping[Node, float]:
    """How much each node matters: as the method scores it, or its best role score, or how sure its surest role is."""
    if found.node_scores:
        return found.node_scores
    best: dict[Node, float] = {}
    for (node, _), score in found.role_scores.items():
        best[node] = max(score, best.get(node, score))
    for role in found.roles if not found.role_scores else ():
        sure = 1.0 if role.confidence is None else role.confidence
        best |= {node: max(sure, best.get(node, sure)) for node in role.nodes}
    return best


def node_auroc(truth: KnownTruth, nodes: Iterable[Node], found: Found) -> float | None:
    """How well scores part nodes of the circuit from idle ones and decoys; a site known as a whole counts by its best.

    A node that the method does not score counts as the lowest.
    """
    scores = node_scores_of(found)
    if not scores:
        return None
    lowest = min(scores.values()) - 1.0
    whole = {copy for group in truth.groups if group.as_whole for copy in group.copies}
    single = {node for group in truth.groups if not group.as_whole for node in group.nodes}
    idle = truth.idle if truth.idle is not None else set(nodes) - set(truth.roles)
    true = [scores.get(node, lowest) for node in single]
    true += [max(scores.get(node, lowest) for node in copy) for copy in whole]
    return auroc(true, [scores.get(node, lowest) for node in idle - single])


def edge_auroc(truth: KnownTruth, given: Given, found: Found) -> float | None:
    """How well scores part edges of the circuit from all others."""
    if not found.edge_scores or not truth.edges:
        return None
    true, scores = {component_edge(edge) for edge in truth.edges}, found.edge_scores
    lowest = min(scores.values()) - 1.0
    every = given.edges
    inside = [scores.get(edge, lowest) for edge in every if edge in true]
    return auroc(inside, [scores.get(edge, lowest) for edge in every if edge not in true])


def _true_units(truth: KnownTruth) -> Iterable[RoleUnit]:
    for group in truth.groups:
        for copy in group.copies:
            yield from [(copy, group.variable)] if group.as_whole else (((node,), group.variable) for node in copy)


def _unit(truth: KnownTruth, role: NodeRole) -> RoleUnit:
    for group in truth.groups:
        if group.as_whole and group.variable == role.variable:
            for copy in group.copies:
                if role.node in copy:
                    return copy, role.variable
    return (role.node,), role.variable


def _unit_text(unit: RoleUnit) -> str:
    return f"{print_nodes(unit[0])} {unit[1]}"


def _of_family(units: Iterable[RoleUnit], name: str) -> set[RoleUnit]:
    return {unit for unit in units if unit[1].name == name}


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
