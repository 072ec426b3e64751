"""Restoration: what do the useful nodes, kept alone, lack, and which few others bring it back?

Takes  a subject.
Gives  for every branch which untagged nodes restore most, how many answers come back with the best of them, beside
       matched random ones; what these nodes write and what they do when interchanged together.
Never  ranks nodes, or chooses how many, on the questions they are scored on, nor draws a chosen node at random.

1. Keep the tagged nodes only (those of the map, or those without which a question fails). Of the two ways to ablate the
   rest, by the mean and by another question's value, take the one that leaves fewer answers right. Both are of all
   branches alike (a mixed model: a third each), so that what is ablated does not tell which operation is asked.
2. On one split add each untagged node alone, rank them and choose how many to add (`node_ranking.py`).
3. On another split score the best 1, 2, 5, ... beside random additions, drawn from the nodes that are neither tagged
   nor among the best: for each one of its kind and layer within two places, or as near as is left (`node_ranking.py`).
4. Run each question that fails there with the chosen nodes and with a random set of its own: a paired test, and the
   difference with its interval (`restored_answers.py`).
5. Of the chosen nodes: read the carry or the sign off what they write, and interchange those of each place together.
6. The paper ablates by the mean, and has figures for mix d6 alone: there steps 2 and 3 are done with the mean besides,
   where enough answers fail under it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.useful_nodes import UsefulNodes, find_useful_nodes
from carrylens.arithmetic.battery.restoration.card import CARD
from carrylens.arithmetic.battery.restoration.node_ranking import KeptNodes, RankedNodes, best_nodes
from carrylens.arithmetic.battery.restoration.restored_answers import RestoredAnswers
from carrylens.arithmetic.battery.restoration.restored_writes import RestoredWrite, read_restored_writes
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.natural_questions import natural_questions, reference_questions
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.discovery.node_map import Nodes
from carrylens.interventions.edits import Fill

COUNTS = (1, 2, 5, 10, 20, 40)
_FILLS = (Fill.MEAN, Fill.RESAMPLE)
_PAPER_MODEL = (Operation.MIX, 6)
PAPER_COUNTS = (5, 10, 20)
PAPER_FIGURES = {
    Branch.POSITIVE: (".940/.963/1.0, random .49/.63/.58 (mix d6)", 0.963),
    Branch.NEGATIVE: (".990/1.0 with 5/10 (mix d6)", 1.0),
}
"""The paper's figures, and that with ten nodes."""


@dataclass(frozen=True, eq=False)
class RestorationCurve:
    """Which answers are right with 0, 1, 2, 5, ... nodes added: the best ones, and random ones."""

    fill: Fill
    counts: tuple[int, ...]
    right: list[NDArray[np.bool_]]
    null: list[NDArray[np.bool_]]

    @property
    def lost(self) -> int:
        """How many questions fail with nothing added."""
        return int((~self.right[0]).sum())

    @property
    def tells(self) -> bool:
        """Whether enough of them fail for anything to be restored."""
        return self.lost >= THRESHOLDS.least_searched


@dataclass(frozen=True, eq=False)
class RestoredBranch:
    """What was found on one branch; `by_mean` is the curve under the paper's fill, where the paper has one.

    `brought` is what chosen and random nodes bring back, where enough fails; `nearness` how many of the random ones
    were drawn how near to the chosen.
    """

    branch: Branch
    curve: RestorationCurve
    by_mean: RestorationCurve | None
    chosen: Nodes
    told: list[RestoredWrite]
    brought: RestoredAnswers | None = None
    nearness: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class RestorationMeasurements:
    """The useful nodes, and what was found on every branch."""

    tagged: UsefulNodes
    found: tuple[RestoredBranch, ...]


def measure(context: ExperimentContext) -> RestorationMeasurements:
    """Rank, choose and score untagged nodes on every branch."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    context.watch(CARD.title, 0, len(branches) + 1)
    tagged = find_useful_nodes(context)
    others = _untagged(subject, tagged)
    found = []
    for at, branch in enumerate(branches if tagged.nodes and len(others) > 1 else ()):
        context.watch(CARD.title, at + 1, len(branches) + 1)
        each = _measure_branch(context, branch, tagged, others)
        if each is not None:
            found.append(each)
    return RestorationMeasurements(tagged, tuple(found))


def _untagged(subject: Subject, tagged: UsefulNodes) -> Nodes:
    # No later component reads what the last layer writes before =.
    last, equals = subject.last_layer, subject.position("=")
    read = (node for node in subject.nodes if node.layer < last or node.position >= equals)
    return tuple(node for node in read if node not in tagged.nodes)


def _measure_branch(
    context: ExperimentContext, branch: Branch, tagged: UsefulNodes, others: Nodes
) -> RestoredBranch | None:
    subject, settings = context.subject, context.settings
    first, second, reference = _splits(context, branch)
    if min(len(first), len(second)) < THRESHOLDS.least_searched:
        return None
    ways = [KeptNodes(subject, tuple(sorted(tagged.nodes)), reference, fill) for fill in _FILLS]
    keeping = min(ways, key=lambda way: int(way.right([()], first).sum()))
    random = np.random.default_rng(settings.seed_of(CARD.name, branch, "sets"))
    best = best_nodes(keeping, others, COUNTS, first)
    curve = _curve(keeping, best, second, settings.n_draws, random)
    by_mean = None
    if (subject.operation, subject.digits) == _PAPER_MODEL and branch in PAPER_FIGURES:
        by_mean = curve if keeping.fill is Fill.MEAN else _by_mean(ways[0], others, (first, second), settings, random)
    if not curve.tells:
        return RestoredBranch(branch, curve, by_mean, best.chosen, [])
    told = read_restored_writes(context, branch, best.chosen)
    brought, nearness = _brought(keeping, branch, best, curve, second, settings)
    return RestoredBranch(branch, curve, by_mean, best.chosen, told, brought, nearness)


def _curve(
    keeping: KeptNodes, best: RankedNodes, asked: Questions, n_draws: int, random: np.random.Generator
) -> RestorationCurve:
    right = list(keeping.right([best.ranked[:n] for n in best.counts], asked))
    equals = keeping.subject.position("=")
    drawn = [[best.alike(n, equals, random).nodes for _ in range(n_draws)] for n in best.counts[1:]]
    return RestorationCurve(
        keeping.fill, best.counts, right, [right[0], *(keeping.right_each(drawn, asked) if drawn else ())]
    )


def _brought(
    keeping: KeptNodes,
    branch: Branch,
    best: RankedNodes,
    curve: RestorationCurve,
    asked: Questions,
    settings: BatterySettings,
) -> tuple[RestoredAnswers, tuple[int, ...]]:
    # Each failing question has two random sets of its own.
    lost, at = ~curve.right[0], best.counts.index(best.n_chosen)
    random = np.random.default_rng(settings.seed_of(CARD.name, "own sets"))
    equals = keeping.subject.position("=")
    drawn = [[best.alike(best.n_chosen, equals, random) for _ in range(int(lost.sum()))] for _ in range(2)]
    null, again = keeping.right_each([[each.nodes for each in some] for some in drawn], asked[lost])
    nearness = np.sum([each.nearness for some in drawn for each in some], axis=0)
    seed = settings.seed_of(CARD.name, "bootstrap")
    return RestoredAnswers(branch.value, curve.right[at][lost], null, again, seed), tuple(map(int, nearness))


def _by_mean(
    keeping: KeptNodes,
    others: Nodes,
    asked: tuple[Questions, Questions],
    settings: BatterySettings,
    random: np.random.Generator,
) -> RestorationCurve:
    # Ranked anew, because other nodes may be missing under another fill; not where too few answers fail to tell.
    first, second = asked
    plain = _curve(keeping, RankedNodes((), (0,), 0), second, settings.n_draws, random)
    if not plain.tells:
        return plain
    return _curve(keeping, best_nodes(keeping, others, PAPER_COUNTS, first), second, settings.n_draws, random)


def _splits(context: ExperimentContext, branch: Branch) -> tuple[Questions, Questions, Questions]:
    subject, settings = context.subject, context.settings
    n_rank, n_score = settings.n_questions // 6, settings.n_questions
    asked = natural_questions(
        branch, subject.digits, n_rank + n_score, settings.seed_of(CARD.name, branch, "questions")
    )
    reference = reference_questions(subject, settings.n_reference, settings.seed_of(CARD.name, "reference"))
    first, second = asked[:n_rank], asked[n_rank:]
    return first[subject.right(first)], second[subject.right(second)], reference
