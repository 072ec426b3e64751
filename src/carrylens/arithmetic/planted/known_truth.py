"""Known truth of planted models: their `Truth` in the form that methods are scored against, whatever the task.

Takes  the `Truth` of a planted model.
Gives  `KnownTruth`.
Never  adds to it, or leaves anything out that a method is scored on.
"""

from __future__ import annotations

from collections.abc import Iterable

from carrylens.arithmetic.planted.hostile_roles import WEIGHED_NAMES
from carrylens.arithmetic.planted.truth import PlantedGroup, Truth
from carrylens.arithmetic.variables import D_PRIME, D
from carrylens.benchmark.known_truth import HeldVariable, KnownTruth, TrueEdge, TrueGroup
from carrylens.nodes import Node

_FETCH = "fetch"


def known_truth(truth: Truth) -> KnownTruth:
    """What is true of the model. Heads that fetch a column's digits bring inputs."""
    groups = tuple(
        TrueGroup(each.variable, _with_backups(each, truth), each.serves, each.stage == _FETCH, each.share)
        for each in truth.groups
    )
    edges = tuple(TrueEdge(each.sender, each.receiver, each.input, each.variable) for each in truth.edges)
    deserved = {each.hypothesis: each.verdict for each in truth.deserved}
    return KnownTruth(groups, edges, truth.decoys, _single_digits(truth.groups), deserved=deserved)


def _with_backups(group: PlantedGroup, truth: Truth) -> tuple[tuple[Node, ...], ...]:
    # A backup is one more copy: it suffices when the others are gone.
    return (*group.copies, *((backup.node,) for backup in truth.backups if (backup.first,) in group.copies))


def _single_digits(groups: Iterable[PlantedGroup]) -> frozenset[HeldVariable]:
    # The heads that bring one digit of a column, and which: of two that share a column the first brings D.
    return frozenset(
        (node, family[group.variable.index])
        for group in groups
        if group.stage == _FETCH and group.variable.index is not None and group.variable.name not in WEIGHED_NAMES
        for copy in group.copies
        if len(copy) == 2
        for node, family in zip(sorted(copy), (D, D_PRIME), strict=True)
    )
