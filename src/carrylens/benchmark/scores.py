"""Scores: how much of a known circuit a method found, and how much of what it found is there.

Takes  a truth, its causal model, and what a method reported.
Gives  `CircuitScore`: counts by role, node, group, variable and decoy, and every wrong and missed role by name.
Never  counts a variable as another because a method says that they are the same.

Variables that no question tells apart: a role whose variable is not true of the node, but is equivalent to one that is
(see `tasks/equivalence.py`), counts as that one, found once. So it is neither a hit of its own nor an error. It needs
the same node, and must be equivalent at the output that the role names; a role that names none must be equivalent at
all outputs. Roles of equivalent variables none of which is true of the node are one error, not several. `strict` is the
score without all that.

Single inputs: a node that brings one input of a variable, while a partner brings the others, carries that input and
nothing else, though the truth lists it under what both bring inputs for. A role that says so is true and is left out of
the count, neither hit nor error; any other role of an input is an error.

Nodes that bring inputs hold those inputs, not what is made of them, and only an interchange makes the two the same.
`made` is the score without the roles of such nodes, for methods that look at what a node holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from carrylens.benchmark.comparison import MatchCounts, compare_roles, match_counts
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.method_interface import NodeRole, ReportedCircuit, variables_by_node
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent


@dataclass(frozen=True)
class CircuitScore:
    """A method's report compared with one known circuit."""

    roles: MatchCounts
    made: MatchCounts
    strict: MatchCounts
    nodes: MatchCounts
    groups: MatchCounts
    by_variable: Mapping[str, MatchCounts]
    decoys: MatchCounts
    wrong: tuple[str, ...]
    missed: tuple[str, ...]
    wrong_groups: tuple[str, ...]
    missed_groups: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return msgspec.to_builtins(self)

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> CircuitScore:
        """What `plain` gave."""
        return msgspec.convert(given, cls)


def score_report(truth: KnownTruth, causal: CausalModel, report: ReportedCircuit) -> CircuitScore:
    """How well a method did."""
    counted = [role for role in report.roles if (role.node, role.variable) not in truth.single_inputs]
    settled = variables_by_node(settled_role(truth, causal, role) for role in counted)
    compared = compare_roles(truth, settled, report.groups)
    true = truth.held
    said = {(node, variable) for node, variables in settled.items() for variable in variables}
    said_sets = {nodes for nodes in report.groups if len(nodes) > 1}
    only_decoys = [node for node in truth.decoys if node not in truth.roles]
    return CircuitScore(
        roles=compared.roles,
        made=match_counts(true - truth.input_roles, said - truth.input_roles),
        strict=compare_roles(truth, variables_by_node(counted)).roles,
        nodes=compared.nodes,
        groups=compared.groups,
        by_variable=compared.by_variable,
        decoys=MatchCounts(len(only_decoys), len(compared.decoys_found), len(compared.decoys_found)),
        wrong=_ordered(f"{node} {variable}" for node, variable in said - true),
        missed=_ordered(f"{node} {variable}" for node, variable in true - said),
        wrong_groups=_ordered(map(print_nodes, said_sets - truth.redundant_sets)),
        missed_groups=_ordered(map(print_nodes, truth.redundant_sets - said_sets)),
    )


def settled_role(truth: KnownTruth, causal: CausalModel, role: NodeRole) -> NodeRole:
    """The role, or the true one that no question tells from it, or that of the first such variable of the algorithm."""
    true = truth.roles.get(role.node, frozenset())
    if role.variable in true:
        return role
    for variable in (*sorted(true, key=str), *causal.by_variable):
        if are_equivalent(causal, role.variable, variable, role.output):
            return NodeRole(role.node, variable, role.output)
    return role


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
