"""Comparing: how much of the truth a map has found, and how much of the map is true.

Takes  a `KnownTruth`, and a map: variables by node, and groups of nodes that belong together.
Gives  precision and recall by role, by node and by group.
Never  gives credit for a part of a group, or for a node with the wrong variable.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from carrylens.benchmark.known_truth import HeldVariable, KnownTruth
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

RolesByNode = Mapping[Node, Collection[Variable]]
"""A map in its simplest form: the variables of every node."""


@dataclass(frozen=True)
class MatchCounts:
    """Counts of what is true, what was found, and what is both."""

    n_true: int
    n_found: int
    n_both: int

    @property
    def precision(self) -> float | None:
        """The share of what was found that is true; None if nothing was found."""
        return self.n_both / self.n_found if self.n_found else None

    @property
    def recall(self) -> float | None:
        """The share of what is true that was found; None if there is nothing to find."""
        return self.n_both / self.n_true if self.n_true else None


@dataclass(frozen=True)
class Comparison:
    """A map compared with the truth. `by_variable` splits the roles by the variable's family."""

    roles: MatchCounts
    nodes: MatchCounts
    groups: MatchCounts
    by_variable: Mapping[str, MatchCounts]
    decoys_found: tuple[Node, ...]


def compare_roles(truth: KnownTruth, found: RolesByNode, groups: Iterable[Collection[Node]] = ()) -> Comparison:
    """How well a map fits the truth.

    A role is a node and a variable. A group is the set of all nodes that make one variable redundantly or by sharing:
    it counts as found if exactly that set was. Groups of one node are no groups.
    """
    said = {(node, variable) for node, variables in found.items() for variable in variables}
    names = sorted({variable.name for _, variable in truth.held | said})
    return Comparison(
        roles=match_counts(truth.held, said),
        nodes=match_counts(set(truth.roles), {node for node, variables in found.items() if variables}),
        groups=match_counts(truth.redundant_sets, {frozenset(each) for each in groups if len(set(each)) > 1}),
        by_variable={name: match_counts(_of_family(truth.held, name), _of_family(said, name)) for name in names},
        decoys_found=tuple(sorted(node for node in truth.decoys if found.get(node) and node not in truth.roles)),
    )


def match_counts(true: Collection[Hashable], found: Collection[Hashable]) -> MatchCounts:
    """How many are true, how many were found, and how many are both."""
    return MatchCounts(len(true), len(found), len(set(true) & set(found)))


def summed(counts: Iterable[MatchCounts]) -> MatchCounts:
    """All counts together."""
    each = [(one.n_true, one.n_found, one.n_both) for one in counts]
    return MatchCounts(*(sum(column) for column in zip(*each, strict=True))) if each else MatchCounts(0, 0, 0)


def _of_family(roles: Iterable[HeldVariable], name: str) -> set[HeldVariable]:
    return {role for role in roles if role[1].name == name}
