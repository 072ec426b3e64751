"""Comparing: how much of the truth a map has found, and how much of the map is true.

Takes  a `Truth`, and a map: variables by node, and groups of nodes that belong together.
Gives  precision and recall by role, by node and by group.
Never  gives credit for a part of a group, or for a node with the wrong variable.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass

from carrylens.arithmetic.planted.truth import Truth
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

Map = Mapping[Node, Collection[Variable]]


@dataclass(frozen=True)
class Score:
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
    """A map held against the truth. `by_variable` splits the roles by the variable's name."""

    roles: Score
    nodes: Score
    groups: Score
    by_variable: Mapping[str, Score]
    decoys_found: tuple[Node, ...]


def compare(truth: Truth, found: Map, groups: Iterable[Collection[Node]] = ()) -> Comparison:
    """How well a map fits the truth.

    A role is a node and a variable. A group is the set of all nodes that make one variable redundantly or by sharing:
    it counts as found if exactly that set was. Groups of one node are no groups.
    """
    true_roles = {(node, variable) for node, variables in truth.roles.items() for variable in variables}
    found_roles = {(node, variable) for node, variables in found.items() for variable in variables}
    names = sorted({variable.name for _, variable in true_roles | found_roles})
    named = {name: ({r for r in true_roles if r[1].name == name}, _named(found_roles, name)) for name in names}
    return Comparison(
        roles=_score(true_roles, found_roles),
        nodes=_score(set(truth.roles), {node for node, variables in found.items() if variables}),
        groups=_score(true_groups(truth), {frozenset(members) for members in groups if len(set(members)) > 1}),
        by_variable={name: _score(true, guessed) for name, (true, guessed) in named.items()},
        decoys_found=tuple(sorted(node for node in truth.decoys if found.get(node) and node not in truth.roles)),
    )


def true_groups(truth: Truth) -> set[frozenset[Node]]:
    """Every set of nodes that are copies or partners of one another."""
    return {group.nodes for group in truth.groups if len(group.nodes) > 1}


def _named(roles: set[tuple[Node, Variable]], name: str) -> set[tuple[Node, Variable]]:
    return {role for role in roles if role[1].name == name}


def _score(true: Collection[Hashable], found: Collection[Hashable]) -> Score:
    return Score(len(true), len(found), len(set(true) & set(found)))
