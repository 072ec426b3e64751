"""Useful nodes: which nodes a map calls useful, or ablations made here where there is no map.

Takes  a subject.
Gives  `UsefulNodes`: with each node how many questions fail without it, and where that is from.
Never  uses the questions that an experiment scores on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.node_map import Usefulness
from carrylens.nodes import Node

BY_MAP, BY_ABLATION = "the node map", "ablation of each node alone"
"""What says which nodes are useful."""


@dataclass(frozen=True)
class UsefulNodes:
    """The useful nodes, how many questions fail without each, and where that is from."""

    importance: Mapping[Node, int]
    by: str

    @property
    def nodes(self) -> frozenset[Node]:
        """The useful nodes."""
        return frozenset(self.importance)

    def ranked(self) -> list[Node]:
        """The useful nodes, the most important first."""
        return sorted(self.importance, key=lambda node: (-self.importance[node], node))


def find_useful_nodes(context: ExperimentContext) -> UsefulNodes:
    """What the subject's map calls useful; without a map, the nodes without which a question fails."""
    subject = context.subject
    if subject.map is not None:
        measured, useful, by = list(subject.map.nodes), subject.map.useful, BY_MAP
    else:
        measured = _ablated(context)
        useful, by = frozenset(each.node for each in measured if each.is_useful), BY_ABLATION
    return UsefulNodes({each.node: _importance(each) for each in measured if each.node in useful}, by)


def _ablated(context: ExperimentContext) -> list[Usefulness]:
    subject, settings = context.subject, context.settings
    n, seed = settings.n_questions // 2, settings.seed_of("tagging")
    population = Population(PopulationKind.ENRICHED, subject.operation, subject.digits)
    questions, reference = population.draw(seed, 0, n), population.draw(seed, n, settings.n_reference)
    return measure_usefulness(subject.engine, subject.nodes, questions, reference)


def _importance(each: Usefulness) -> int:
    return max(each.mean.hits, each.resample.hits)
