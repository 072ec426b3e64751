"""Sufficiency: are the useful nodes enough?

Takes  a subject.
Gives  for every branch how many answers stay right when only the useful nodes work, beside random matched sets; for
       each digit; and as more and more of them are kept.
Never  asks questions that the model, untouched, does not answer, nor those by which nodes were called useful.

1. The useful nodes: those of the map, or those without which a question fails.
2. Natural questions. Every other node writes its mean, its mean over questions of the same class, or what it writes for
   another question. Mean and other question are of all branches alike (a mixed model: a third each of sums, positive
   and negative differences), so that what is ablated does not tell which operation is asked. A class belongs to one
   branch: its mean tells the operation by what it is.
3. Where there are several branches, the same with mean and other question of the asked branch alone: what is kept more
   then is kept by ablated nodes that tell the operation. Facts, on which no verdict rests.
4. Null: random sets with as many heads and MLPs of each layer at each position, or, where that leaves no choice, in the
   same part of the sequence (an operand, the operator, =, the answer); another for each question. Where the map has
   most heads of a position, so has such a set: the share of nodes in common is reported.
5. Keep the most important ones only, more and more of them, beside matched sets of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import Branch, branches_of
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.tagging import (
    Tagged,
    matched_set,
    natural_questions,
    reference_questions,
    tagged_nodes,
)
from carrylens.arithmetic.battery.weighing import overall, weigh
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.questions import Operation, Questions, joined
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, keep_only
from carrylens.nodes import Node

CARD = Card(
    name="sufficiency",
    title="Only the useful nodes kept",
    question="Do the nodes that are useful one by one suffice: does the model answer when all others are ablated?",
    method=(
        "Useful nodes: those of the map, or those without which a question fails when ablated alone.",
        "Natural questions the model answers; all other nodes write a mean, a class mean, or another question's value.",
        "Mean and other question are of all branches alike, so that ablated nodes do not tell the operation; a class "
        "mean, being of the question's own class, does.",
        "Null: random sets with as many heads and MLPs of each layer at each position, or part of the sequence.",
        "Rates for each token, with only the most important nodes kept, and with mean and other question of the asked "
        "branch alone, are facts too; no verdict rests on them.",
    ),
    refuted_if="on some branch, under some fill, surely fewer than half of the answers stay right, or matched random "
    "sets do as well.",
    paper="add d5: mean .943, resample .623, random sets .000; mix d6, add/positive/negative: mean .893/.483/.357, "
    "resample .527/.047/.047; mix d8: mean .923/.190/.663; signs stay right at 1.00 in all",
    where="Section on the shared skeleton",
)
FILLS = (Fill.MEAN, Fill.CLASS_MEAN, Fill.RESAMPLE)
_PAPER: Mapping[tuple[Operation, int], Mapping[Fill, Mapping[Branch, float]]] = {
    (Operation.ADD, 5): {Fill.MEAN: {Branch.ADD: 0.943}, Fill.RESAMPLE: {Branch.ADD: 0.623}},
    (Operation.MIX, 6): {
        Fill.MEAN: {Branch.ADD: 0.893, Branch.POSITIVE: 0.483, Branch.NEGATIVE: 0.357},
        Fill.RESAMPLE: {Branch.ADD: 0.527, Branch.POSITIVE: 0.047, Branch.NEGATIVE: 0.047},
    },
    (Operation.MIX, 8): {Fill.MEAN: {Branch.ADD: 0.923, Branch.POSITIVE: 0.190, Branch.NEGATIVE: 0.663}},
}
_PAPER_RANDOM = {(Operation.ADD, 5): 0.0}
_PAPER_SIGN = 1.0  # of mixed models, by which the paper says that the choice of the operation is kept
_OWN_FILLS = (Fill.MEAN, Fill.RESAMPLE)
_SHARES = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class _Kept:
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
class _Asked:
    """The questions of one branch, and what ablated nodes write: of all branches alike, or of this one alone."""

    branch: Branch
    questions: Questions
    everywhere: Questions
    own: Questions


@dataclass(frozen=True, eq=False)
class SufficiencyMeasurements:
    """The useful nodes, and what stays right on every branch with these alone."""

    tagged: Tagged
    found: tuple[_Kept, ...]


def measure(context: ExperimentContext) -> SufficiencyMeasurements:
    """Keep the useful nodes alone, on every branch of which enough questions are answered."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    context.watch(CARD.title, 0, len(branches) + 1)
    tagged = tagged_nodes(context)
    found = []
    for at, branch in enumerate(branches if 0 < len(tagged.nodes) < len(subject.nodes) else ()):
        context.watch(CARD.title, at + 1, len(branches) + 1)
        asked = _questions(context, branch)
        if len(asked.questions) >= THRESHOLDS.least_searched:
            found.append(_measure(context, tagged, asked))
    return SufficiencyMeasurements(tagged, tuple(found))


def summarise(context: ExperimentContext, measured: SufficiencyMeasurements) -> Outcome:
    """Whether the useful nodes suffice, branch by branch and fill by fill."""
    subject, settings = context.subject, context.settings
    tagged, found = measured.tagged, measured.found
    facts = [fact for each in found for fact in _facts(each, tagged, settings)]
    parts = [fact for each in found for fact in _part_facts(each, tagged, context)]
    own = [fill for fill in _OWN_FILLS if any(each.own for each in found)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(facts)),
        says=_says(found, tagged, subject),
        facts=(*facts, *parts),
        figure=_figure(found, tagged) if found else None,
        headers=(
            "branch",
            *(f"{fill.value}, null" for fill in FILLS),
            *(f"{fill.value} of its own branch, null" for fill in own),
            "sign and digits from the top, mean",
        ),
        rows=tuple(map(_row, found)),
        beside_paper=tuple(row for each in found for row in _beside(each, subject)),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _questions(context: ExperimentContext, branch: Branch) -> _Asked:
    # Natural ones of one branch that are answered, of classes that the reference has too.
    subject, settings = context.subject, context.settings
    asked, own = (
        natural_questions(branch, subject.digits, n, settings.seed_of(CARD.name, branch.value, word))
        for n, word in ((settings.n_questions, "asked"), (settings.n_reference, "own"))
    )
    asked = asked[np.isin(classify(asked).code, np.unique(classify(own).code))]
    everywhere = reference_questions(subject, settings.n_reference, settings.seed_of(CARD.name, "reference"))
    return _Asked(branch, asked[subject.right(asked)], everywhere, own)


def _measure(context: ExperimentContext, tagged: Tagged, asked: _Asked) -> _Kept:
    subject, settings = context.subject, context.settings
    ranked = tagged.ranked()
    steps = [ranked[:n] for n in _counts(tagged)[:-1]]
    random = np.random.default_rng(settings.seed_of(CARD.name, "sets"))
    whole, *fewer = (
        [matched_set(some, subject.nodes, subject.digits, random) for _ in range(settings.n_draws)]
        for some in (ranked, *steps)
    )
    plans = [_Plan(ranked, whole, fill) for fill in (Fill.MEAN, Fill.RESAMPLE)]
    plans += [_Plan(some, sets, Fill.MEAN) for some, sets in zip(steps, fewer, strict=True)]
    own = [_Plan(ranked, whole, fill) for fill in (Fill.CLASS_MEAN, *_OWN_FILLS)]
    if len(branches_of(subject.operation)) == 1:
        own = own[:1]  # all there is to draw from is of this branch
    (mean, resample, *curve), (mean_null, resample_null, *curve_null) = _run(subject, plans, asked, asked.everywhere)
    (by_class, *of_own), (class_null, *own_null) = _run(subject, own, asked, asked.own)
    fills, nulls = (mean, by_class, resample), (mean_null, class_null, resample_null)
    return _Kept(
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


def _counts(tagged: Tagged) -> list[int]:
    return [max(1, round(share * len(tagged.nodes))) for share in _SHARES]


def _run(
    subject: Subject, plans: Sequence[_Plan], asked: _Asked, reference: Questions
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
    return _rate(np.asarray(correct.all(-1)))


def _tokens(correct: NDArray[np.bool_]) -> list[Rate]:
    return [_rate(token) for token in correct.T]


def _facts(each: _Kept, tagged: Tagged, settings: Settings) -> list[Fact]:
    about: dict[str, object] = {"branch": each.branch.value, "kept": len(tagged.nodes), "null": "matched random sets"}
    about["in common"] = round(each.common, 3)
    return [
        Fact(
            f"battery {CARD.name}",
            {**about, "fill": fill.value, "reference": _reference_of(fill)},
            rate,
            null,
            {"seed": settings.seed},
        )
        for fill, rate, null in zip(FILLS, each.whole, each.null, strict=True)
    ]


def _reference_of(fill: Fill) -> str:
    return "its own class" if fill is Fill.CLASS_MEAN else "all branches alike"


def _part_facts(each: _Kept, tagged: Tagged, context: ExperimentContext) -> list[Fact]:
    # Each token under each fill, the curve under the mean, and what the asked branch's own reference would keep: `rest`
    # is the fill, which is not called so here because who looks for a fill wants whole answers with all nodes kept.
    about, stimuli = {"branch": each.branch.value, "null": "matched random sets"}, {"seed": context.settings.seed}
    names = ["sign", *(f"A{digit}" for digit in range(context.subject.digits, -1, -1))]
    kept: dict[str, object] = {**about, "kept": len(tagged.nodes)}
    tokens = [
        Fact(f"battery {CARD.name}", {**kept, "rest": fill.value, "token": name}, rate, null, stimuli)
        for fill, rates, nulls in zip(FILLS, each.tokens, each.token_null, strict=True)
        for name, rate, null in zip(names, rates, nulls, strict=True)
    ]
    curve = [
        Fact(f"battery {CARD.name}", {**about, "kept": n, "rest": Fill.MEAN.value, "curve": True}, rate, null, stimuli)
        for n, rate, null in zip(_counts(tagged), each.curve, each.curve_null, strict=True)
    ]
    own = [
        Fact(
            f"battery {CARD.name}",
            {**kept, "rest": fill.value, "reference": "the asked branch alone"},
            rate,
            null,
            stimuli,
        )
        for fill, rate, null in zip(_OWN_FILLS, each.own, each.own_null, strict=False)
    ]
    return tokens + curve + own


def _says(found: Sequence[_Kept], tagged: Tagged, subject: Subject) -> str:
    if not found:
        return "There is nothing to keep: no node is useful, all are, or the model answers too few questions."
    parts = [
        f"{each.branch.value} {'/'.join(f'{rate.value:.2f}' for rate in each.whole)} "
        f"(matched random sets {'/'.join(f'{rate.value:.2f}' for rate in each.null)})"
        for each in found
    ]
    text = (
        f"With {len(tagged.nodes)} of {len(subject.nodes)} nodes kept, tagged by {tagged.by}, the share of answers "
        f"that stay right under mean/class-mean/resample is {'; '.join(parts)}. "
    )
    if own := [f"{each.branch.value} {'/'.join(f'{r.value:.2f}' for r in each.own)}" for each in found if each.own]:
        text += (
            "Mean and resample are of all branches alike, so what is ablated does not tell which operation is asked; "
            f"a class mean does. Mean/resample of the asked branch alone would keep {'; '.join(own)}. "
        )
    return text + (
        "Random sets are matched in kind, layer and position, and share "
        f"{np.mean([each.common for each in found]):.2f} of their nodes with those kept."
    )


def _beside(each: _Kept, subject: Subject) -> list[BesidePaper]:
    # Only where the paper has a figure for a model of this operation and as many digits.
    key = (subject.operation, subject.digits)
    of, rows = f"{key[0].value} d{key[1]}", []
    for fill, by_branch in _PAPER.get(key, {}).items():
        ours, paper = each.whole[FILLS.index(fill)], by_branch[each.branch]
        what = f"{each.branch.value} answers kept, {fill.value} ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    if subject.operation is Operation.MIX and key in _PAPER:
        sign = each.tokens[0][0]
        what = f"signs of {each.branch.value} answers kept, mean ablation over all branches"
        rows.append(BesidePaper(what, f"{_PAPER_SIGN:.2f} ({of})", str(sign), _holds(sign, _PAPER_SIGN)))
    if key in _PAPER_RANDOM:
        ours, paper = each.null[0], _PAPER_RANDOM[key]
        what = f"{each.branch.value} answers kept by random sets, mean ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    return rows


def _holds(ours: Rate, paper: float) -> bool:
    return ours.interval[0] <= paper <= ours.interval[1]


def _figure(found: Sequence[_Kept], tagged: Tagged) -> Figure:
    x = _counts(tagged)
    of = " over all branches" if any(each.own for each in found) else ""
    series = [Series.of_rates(f"{each.branch.value}, mean{of}", Kind.EFFECT, x, each.curve) for each in found]
    for each in found:
        name, last = each.branch.value, x[-1:]
        series.append(Series.of_rates(f"{name}, resample{of}", Kind.RIVAL, last, each.whole[-1:]))
        if each.own:
            series.append(Series.of_rates(f"{name}, mean of its own branch", Kind.RIVAL, last, each.own[:1]))
    nulls = [sum((each.curve_null[at] for each in found), Rate(0, 0)) for at in range(len(x))]
    series.append(Series.of_rates(f"random matched sets, mean{of}", Kind.NULL, x, nulls))
    return Figure("nodes kept, the most important first", "share of answers right", tuple(series))


def _row(each: _Kept) -> tuple[str, ...]:
    pairs = zip((*each.whole, *each.own), (*each.null, *each.own_null), strict=True)
    cells = (f"{rate.hits}/{rate.n}, {null.hits}/{null.n}" for rate, null in pairs)
    return (each.branch.value, *cells, " ".join(f"{rate.value:.2f}" for rate in each.tokens[0]))


def _rate(right: NDArray[np.bool_]) -> Rate:
    return Rate(int(right.sum()), len(right))
