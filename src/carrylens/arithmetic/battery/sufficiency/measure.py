"""Sufficiency: are the useful nodes enough?

Takes  a subject.
Gives  for every branch how many answers stay right when only the useful nodes work, beside random matched sets; for
       each digit; and as more and more of them are kept.
Never  uses questions that the model, untouched, does not answer, nor those by which nodes were called useful.

1. The useful nodes: those of the map, or those without which a question fails.
2. Natural questions. Every other node writes its mean, its mean over questions of the same class, or what it writes for
   another question. Mean and other question are of all branches alike (a mixed model: a third each of sums, positive
   and negative differences), so that what is ablated does not tell which operation is due. A class belongs to one
   branch: its mean tells the operation by what it is.
3. Where there are several branches, the same with mean and other question of its own branch alone: what is kept more
   then is kept by ablated nodes that tell the operation. Facts, on which no verdict rests.
4. Null: random sets with as many heads and MLPs of each layer at each position, or, where that leaves no choice, in the
   same part of the sequence (an operand, the operator, =, the answer); another for each question. Where the map has
   most heads of a position, so has such a set: the share of nodes in common is reported.
5. Keep the most important ones only, more and more of them, beside matched sets of those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.useful_nodes import UsefulNodes, find_useful_nodes
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.natural_questions import natural_questions, reference_questions
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.sufficiency.card import CARD
from carrylens.arithmetic.battery.sufficiency.matched_sets import matched_set
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.questions import Questions
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, keep_only
from carrylens.nodes import Node
from carrylens.tasks.batches import joined

FILLS = (Fill.MEAN, Fill.CLASS_MEAN, Fill.RESAMPLE)
OWN_FILLS = (Fill.MEAN, Fill.RESAMPLE)
_SHARES = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class KeptBranch:
    """What stays right on one branch: by fill the whole answers and each token, `curve` under the mean.

    `own` has the mean and another question of this branch alone, where there are others. The nulls are those of matched
    random sets, which have the share `common` of their nodes in common with the kept ones. Of the curve the last is all
    nodes.
    """

    branch: Branch
    common: float
    whole: Sequence[Rate]
    null: Sequence[Rate]
    tokens: Sequence[Sequence[Rate]]
    token_null: Sequence[Sequence[Rate]]
    own: Sequence[Rate]
    own_null: Sequence[Rate]
    curve: Sequence[Rate]
    curve_null: Sequence[Rate]


@dataclass(frozen=True)
class _Plan:
    """Nodes to keep, random sets to stand beside them, and how the rest is ablated."""

    nodes: Sequence[Node]
    sets: Sequence[Nodes]
    fill: Fill


@dataclass(frozen=True, eq=False)
class KeptQuestions:
    """The questions of one branch, and what ablated nodes write: of all branches alike, or of this one alone."""

    branch: Branch
    questions: Questions
    everywhere: Questions
    own: Questions


@dataclass(frozen=True, eq=False)
class SufficiencyMeasurements:
    """The useful nodes, and what stays right on every branch with these alone."""

    tagged: UsefulNodes
    found: tuple[KeptBranch, ...]


def measure(context: ExperimentContext) -> SufficiencyMeasurements:
    """Keep the useful nodes alone, on every branch of which enough questions are answered."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    context.watch(CARD.title, 0, len(branches) + 1)
    tagged = find_useful_nodes(context)
    found = []
    for at, branch in enumerate(branches if 0 < len(tagged.nodes) < len(subject.nodes) else ()):
        context.watch(CARD.title, at + 1, len(branches) + 1)
        asked = _questions(context, branch)
        if len(asked.questions) >= THRESHOLDS.least_searched:
            found.append(_measure_branch(context, tagged, asked))
    return SufficiencyMeasurements(tagged, tuple(found))


def _questions(context: ExperimentContext, branch: Branch) -> KeptQuestions:
    # Natural ones of one branch that are answered, of classes that the reference has too.
    subject, settings = context.subject, context.settings
    asked, own = (
        natural_questions(branch, subject.digits, n, settings.seed_of(CARD.name, branch.value, word))
        for n, word in ((settings.n_questions, "asked"), (settings.n_reference, "own"))
    )
    asked = asked[np.isin(classify(asked).code, np.unique(classify(own).code))]
    everywhere = reference_questions(subject, settings.n_reference, settings.seed_of(CARD.name, "reference"))
    return KeptQuestions(branch, asked[subject.right(asked)], everywhere, own)


def _measure_branch(context: ExperimentContext, tagged: UsefulNodes, asked: KeptQuestions) -> KeptBranch:
    subject, settings = context.subject, context.settings
    ranked = tagged.ranked()
    steps = [ranked[:n] for n in kept_counts(tagged)[:-1]]
    random = np.random.default_rng(settings.seed_of(CARD.name, "sets"))
    whole, *fewer = (
        [matched_set(some, subject.nodes, subject.digits, random) for _ in range(settings.n_draws)]
        for some in (ranked, *steps)
    )
    plans = [_Plan(ranked, whole, fill) for fill in (Fill.MEAN, Fill.RESAMPLE)]
    plans += [_Plan(some, sets, Fill.MEAN) for some, sets in zip(steps, fewer, strict=True)]
    own = [_Plan(ranked, whole, fill) for fill in (Fill.CLASS_MEAN, *OWN_FILLS)]
    if len(branches_of(subject.operation)) == 1:
        own = own[:1]  # all there is to draw from is of this branch
    (mean, resample, *curve), (mean_null, resample_null, *curve_null) = _run(subject, plans, asked, asked.everywhere)
    (by_class, *of_own), (class_null, *own_null) = _run(subject, own, asked, asked.own)
    fills, nulls = (mean, by_class, resample), (mean_null, class_null, resample_null)
    return KeptBranch(
        branch=asked.branch,
        common=float(np.mean([len(tagged.nodes & set(some)) / len(some) for some in whole])),
        whole=[_answers(each) for each in fills],
        null=[_answers(each) for each in nulls],
        tokens=[_tokens(each) for each in fills],
        token_null=[_tokens(each) for each in nulls],
        own=[_answers(each) for each in of_own],
        own_null=[_answers(each) for each in own_null],
        curve=[_answers(each) for each in (*curve, mean)],
        curve_null=[_answers(each) for each in (*curve_null, mean_null)],
    )


def kept_counts(tagged: UsefulNodes) -> list[int]:
    """How many nodes are kept, step by step."""
    return [max(1, round(share * len(tagged.nodes))) for share in _SHARES]


def _run(
    subject: Subject, plans: Sequence[_Plan], asked: KeptQuestions, reference: Questions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    # Which tokens are right with the nodes kept, and with random sets, another one for each question so that none
    # counts twice: [plan, question, token]. All sets go in one call: it runs the reference once.
    n, engine = len(asked.questions), subject.engine
    kept = engine.run([keep_only(plan.nodes, plan.fill) for plan in plans], asked.questions, reference=reference)
    edits = [[keep_only(some, plan.fill) for some in plan.sets] for plan in plans]
    each = [some[row % len(some)] for some in edits for row in range(n)]
    null = engine.run_each(each, joined([asked.questions] * len(plans)), reference=reference)
    return kept.correct, null.correct.reshape(kept.correct.shape)


def _answers(correct: NDArray[np.bool_]) -> Rate:
    return hit_rate(np.asarray(correct.all(-1)))


def _tokens(correct: NDArray[np.bool_]) -> list[Rate]:
    return [hit_rate(token) for token in correct.T]
