"""Node ranking: which untagged nodes, added to those that are kept, bring answers back.

Takes  what is kept and how the rest is ablated, other nodes, questions.
Gives  the others ranked, how many of the best to choose, random ones to stand beside them.
Never  ranks or chooses on the questions that the chosen ones are scored on, nor draws one of the chosen at random.

1. Add each node alone; rank by how far that lifts the margins of wrong tokens.
2. Where the best five or ten are not enough, rank the next sixty again beside them: nodes that only work together.
3. Choose the least number with which nine of ten answers are right, or else of up to twenty the one with most; never
   more than half of all there are, so that as many are left to draw from.
4. Random ones are drawn from the rest: neither tagged nor chosen. For each chosen node one of its kind and layer within
   two places. Where none is left there: of its kind and layer in the same half of the sequence; else of its kind; else
   any. How many were drawn from each of the four is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import Nodes
from carrylens.interventions.edits import Fill, keep_only
from carrylens.nodes import Node
from carrylens.tasks.batches import joined

MOST_CHOSEN = 20
"""How many nodes may be chosen."""
ROUNDS = (5, 10, MOST_CHOSEN)
ENOUGH_RIGHT = 0.9
_NEAR = 2
_AGAIN = 60  # nodes that are ranked again


@dataclass(frozen=True, eq=False)
class KeptNodes:
    """What is kept, on which branch, with which fill and reference."""

    subject: Subject
    kept: Nodes
    reference: Questions
    fill: Fill

    def margins(self, additions: Sequence[Sequence[Node]], asked: Questions) -> NDArray[np.floating]:
        """The margins of all tokens with each addition: [addition, question, token]."""
        edits = [keep_only([*self.kept, *nodes], self.fill) for nodes in additions]
        return self.subject.engine.run(edits, asked, reference=self.reference).margins

    def right(self, additions: Sequence[Sequence[Node]], asked: Questions) -> NDArray[np.bool_]:
        """Which answers are right with each addition: [addition, question]."""
        edits = [keep_only([*self.kept, *nodes], self.fill) for nodes in additions]
        return np.asarray(~self.subject.engine.run(edits, asked, reference=self.reference).failed)

    def right_each(self, plans: Sequence[Sequence[Sequence[Node]]], asked: Questions) -> NDArray[np.bool_]:
        """Which answers are right under each plan, each question with another of its additions: [plan, question]."""
        sets = [[keep_only([*self.kept, *nodes], self.fill) for nodes in plan] for plan in plans]
        edits = [some[row % len(some)] for some in sets for row in range(len(asked))]
        outcomes = self.subject.engine.run_each(edits, joined([asked] * len(plans)), reference=self.reference)
        return np.asarray(~outcomes.failed).reshape(len(plans), len(asked))


def rank_nodes(keeping: KeptNodes, others: Nodes, asked: Questions) -> Nodes:
    """The nodes, the one that restores most first."""
    # Nodes that only work with others show little at first: the first of the rest are ranked again with the best.
    rest = _ordered(keeping, (), others, asked)
    best: Nodes = ()
    for count in ROUNDS:
        best, rest = (*best, *rest[: count - len(best)]), rest[count - len(best) :]
        if not rest or count == MOST_CHOSEN or keeping.right([best], asked).mean() >= ENOUGH_RIGHT:
            break
        rest = (*_ordered(keeping, best, rest[:_AGAIN], asked), *rest[_AGAIN:])
    return (*best, *rest)


def _ordered(keeping: KeptNodes, best: Nodes, others: Nodes, asked: Questions) -> Nodes:
    # By how far from right all wrong tokens still are, once one more node is added.
    short = np.minimum(keeping.margins([(*best, node) for node in others], asked), 0).sum((1, 2))
    return tuple(others[at] for at in np.argsort(-short, kind="stable"))


def choose_count(right: NDArray[np.bool_], counts: Sequence[int]) -> int:
    """The least of the counts, 0 being the first, that is enough; or else the one of up to twenty with most."""
    shares = right.mean(1)[1 : 1 + sum(0 < n <= MOST_CHOSEN for n in counts)]
    enough = np.flatnonzero(shares >= ENOUGH_RIGHT)
    return counts[1 + int(enough[0] if len(enough) else shares.argmax())]


@dataclass(frozen=True)
class SimilarNodes:
    """Random nodes that are added to others, and how many were drawn how near: `NEARNESS` says what the four are."""

    nodes: Nodes
    nearness: tuple[int, ...]


NEARNESS = ("within two places", "in the same half", "in another layer or half", "of the other kind")


@dataclass(frozen=True)
class RankedNodes:
    """The untagged nodes, the best first, how many to add, and how many are chosen."""

    ranked: Nodes
    counts: tuple[int, ...]
    n_chosen: int

    @property
    def chosen(self) -> Nodes:
        """The nodes that are chosen."""
        return self.ranked[: self.n_chosen]

    def alike(self, n: int, split: int, random: np.random.Generator) -> SimilarNodes:
        """Random nodes to stand beside the best `n`, none of them among those or the chosen."""
        return similar_nodes(self.ranked[:n], self.ranked[max(n, self.n_chosen) :], split, random)


def best_nodes(keeping: KeptNodes, others: Nodes, counts: Sequence[int], asked: Questions) -> RankedNodes:
    """The nodes ranked, and how many to add: no more than half, because as many must be left for random sets."""
    ranked, some = rank_nodes(keeping, others, asked), (0, *(n for n in counts if 2 * n <= len(others)))
    return RankedNodes(ranked, some, choose_count(keeping.right([ranked[:n] for n in some], asked), some))


def similar_nodes(
    nodes: Sequence[Node], among: Collection[Node], split: int, random: np.random.Generator
) -> SimilarNodes:
    """For each node one of its kind and layer that is none of them, no more than two places away where there is one.

    Where there is none: in the same half of the sequence, else of its kind, else any. No node is drawn twice.
    """
    nearer: tuple[Callable[[Node, Node], bool], ...] = (
        lambda a, b: (a.layer, a.is_mlp) == (b.layer, b.is_mlp) and abs(a.position - b.position) <= _NEAR,
        lambda a, b: (a.layer, a.is_mlp, a.position < split) == (b.layer, b.is_mlp, b.position < split),
        lambda a, b: a.is_mlp == b.is_mlp,
        lambda _a, _b: True,
    )
    free, found, nearness = sorted(set(among) - set(nodes)), [], [0] * len(nearer)
    for node in nodes:
        pools = ([other for other in free if alike(node, other)] for alike in nearer)
        near, pool = next(((at, pool) for at, pool in enumerate(pools) if pool), (0, []))
        if pool:
            drawn = pool[int(random.integers(len(pool)))]
            found.append(drawn)
            free.remove(drawn)
            nearness[near] += 1
    return SimilarNodes(tuple(sorted(found)), tuple(nearness))
