"""Tagging: which nodes a map calls useful, and random sets that match a set of nodes.

Takes  a subject.
Gives  the useful nodes, from its map or else from ablations made here, with how important each is; matched sets.
Never  uses the questions that an experiment scores on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.subject import Settings, Subject
from carrylens.discovery.node_map import Nodes, Usefulness
from carrylens.discovery.usefulness import measure_usefulness
from carrylens.nodes import Node


@dataclass(frozen=True)
class Tagged:
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


def tagged_nodes(subject: Subject, settings: Settings) -> Tagged:
    """What the subject's map calls useful; without a map, the nodes without which a question fails."""
    if subject.map is not None:
        measured, useful, by = list(subject.map.nodes), subject.map.useful, "the node map"
    else:
        measured = _measured(subject, settings)
        useful, by = frozenset(each.node for each in measured if each.is_useful), "ablation of each node alone"
    return Tagged({each.node: _importance(each) for each in measured if each.node in useful}, by)


def matched_set(nodes: Collection[Node], among: Collection[Node], split: int, random: np.random.Generator) -> Nodes:
    """A random set with as many heads and MLPs of each layer, before and from position `split` on, as `nodes` has.

    Where `among` has too few of some sort, all of them are taken.
    """
    sorts: dict[tuple[int, bool, bool], int] = {}
    for node in nodes:
        sort = (node.layer, node.is_mlp, node.position < split)
        sorts[sort] = sorts.get(sort, 0) + 1
    found: list[Node] = []
    for (layer, is_mlp, before), count in sorts.items():
        pool = [n for n in sorted(among) if (n.layer, n.is_mlp, n.position < split) == (layer, is_mlp, before)]
        if pool:
            found += [pool[int(at)] for at in random.choice(len(pool), min(count, len(pool)), replace=False)]
    return tuple(sorted(found))


def _measured(subject: Subject, settings: Settings) -> list[Usefulness]:
    n = settings.n_questions // 2
    stream = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of("tagging"))
    return measure_usefulness(subject.engine, subject.nodes, stream.take(0, n), stream.take(n, settings.n_reference))


def _importance(each: Usefulness) -> int:
    return max(each.mean.hits, each.resample.hits)
