"""Served branches: which branches each node serves, and how many would serve several by chance.

Takes  how many questions of a branch fail without a node.
Gives  for each node its branches; the share that serves several, and the same with branches shuffled among nodes.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.polysemy.card import CARD
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node

Served = Mapping[Node, frozenset[Branch]]


@dataclass(frozen=True)
class MissedNode:
    """How many questions of a branch fail without a node, and untouched."""

    node: Node
    branch: Branch
    without: Rate
    clean: Rate


def served_branches(missed: Sequence[MissedNode], p_values: Sequence[float]) -> Served:
    """What each node serves, of the nodes that serve anything."""
    found: dict[Node, frozenset[Branch]] = {}
    for each, p in zip(missed, holm(p_values), strict=True):
        if p <= THRESHOLDS.level:
            found[each.node] = found.get(each.node, frozenset()) | {each.branch}
    return found


def shuffled_several(served: Served, context: ExperimentContext) -> Rate:
    """How many of the serving nodes would serve several branches, had each branch chosen among nodes of a sort."""
    subject, settings = context.subject, context.settings
    random = np.random.default_rng(settings.seed_of(CARD.name, "shuffle"))
    middle = subject.position("=")
    sorts: dict[tuple[int, bool, bool], list[Node]] = {}
    for node in subject.nodes:
        sorts.setdefault((node.layer, node.is_mlp, node.position < middle), []).append(node)
    total = Rate(0, 0)
    for _ in range(settings.n_draws):
        counts = [c for some in sorts.values() for c in _shuffled_counts(some, served, random)]
        total += Rate(sum(count > 1 for count in counts), sum(count > 0 for count in counts))
    return total


def _shuffled_counts(some: Sequence[Node], served: Served, random: np.random.Generator) -> list[int]:
    counts = np.zeros(len(some), dtype=np.int64)
    for branch in Branch:
        counts += random.permutation([branch in served.get(node, frozenset()) for node in some])
    return [int(count) for count in counts]


def missed_fact(each: MissedNode, settings: BatterySettings) -> Fact:
    """How often a branch fails without a node, beside how often it does untouched."""
    about = {"node": str(each.node), "branch": each.branch.value, "null": "untouched"}
    return Fact(f"battery {CARD.name}", about, each.without, each.clean, {"seed": settings.seed})


def share_serving(nodes: Sequence[Node], served: Served, branch: Branch) -> Rate:
    """How many of the nodes serve a branch."""
    return Rate(sum(branch in served.get(node, frozenset()) for node in nodes), len(nodes))
