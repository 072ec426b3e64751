"""Sufficiency: are the useful nodes enough?

Takes  a subject.
Gives  for every branch how many answers stay right when only the useful nodes work, beside random matched sets; for
       each digit; and as more and more of them are kept.
Never  asks questions that the model, untouched, does not answer, nor those by which nodes were called useful.

1. The useful nodes: those of the map, or those without which a question fails.
2. Natural questions. Every other node writes its mean, its mean over questions of the same class, or what it writes for
   another question.
3. Null: random sets with as many heads and MLPs of each layer at each position, or, where that leaves no choice, in the
   same part of the sequence (an operand, the operator, =, the answer); another for each question. Where the map has
   most heads of a position, so has such a set: the share of nodes in common is reported.
4. Keep the most important ones only, more and more of them, beside matched sets of those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.classes import classify, is_negative
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.columns import Branch, branches_of
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.tagging import Tagged, matched_set, tagged_nodes
from carrylens.battery.weighing import overall, weigh
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.interventions.edits import Edit, Fill, keep_only

CARD = Card(
    name="sufficiency",
    title="Only the useful nodes kept",
    question="Do the nodes that are useful one by one suffice: does the model answer when all others are ablated?",
    method=(
        "Useful nodes: those of the map, or those without which a question fails when ablated alone.",
        "Natural questions the model answers; all other nodes write a mean, a class mean, or another question's value.",
        "Null: random sets with as many heads and MLPs of each layer at each position, or part of the sequence.",
        "Rates for each token, and with only the most important nodes kept, are facts too; no verdict rests on them.",
    ),
    refuted_if="on some branch, under some fill, surely fewer than half of the answers stay right, or matched random "
    "sets do as well.",
    paper="add d5: mean .943, resample .623, random sets .000; mix d6, add/positive/negative: mean .893/.483/.357, "
    "resample .527/.047/.047; mix d8: mean .923/.190/.663",
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
_SHARES = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class _Kept:
    """What stays right on one branch: by fill the whole answers and each token, `curve` under the mean.

    The nulls are those of matched random sets, which have the share `common` of their nodes in common with the kept
    ones. Of the curve the last is all nodes.
    """

    branch: Branch
    common: float
    whole: Sequence[Rate]
    null: Sequence[Rate]
    tokens: Sequence[Sequence[Rate]]
    token_null: Sequence[Sequence[Rate]]
    curve: Sequence[Rate]
    curve_null: Sequence[Rate]


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    branches = branches_of(subject.operation)
    watch(CARD.title, 0, len(branches) + 1)
    tagged = tagged_nodes(subject, settings)
    found = []
    for at, branch in enumerate(branches if 0 < len(tagged.nodes) < len(subject.nodes) else ()):
        watch(CARD.title, at + 1, len(branches) + 1)
        asked, reference = _questions(subject, branch, settings)
        if len(asked) >= THRESHOLDS.least_searched:
            found.append(_measure(subject, branch, tagged, asked, reference, settings))
    facts = [fact for each in found for fact in _facts(each, tagged, settings)]
    parts = [fact for each in found for fact in _part_facts(each, tagged, subject, settings)]
    verdict = overall(weigh(facts))
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(found, tagged, subject),
        facts=(*facts, *parts),
        figure=_figure(found, tagged) if found else None,
        headers=("branch", *(f"{fill.value}, null" for fill in FILLS), "sign and digits from the top, mean"),
        rows=tuple(map(_row, found)),
        beside_paper=tuple(row for each in found for row in _beside(each, subject)),
    )


def _questions(subject: Subject, branch: Branch, settings: Settings) -> tuple[Questions, Questions]:
    # Natural ones of one branch that are answered, of classes that the reference has too.
    seed = settings.seed_of(CARD.name, branch.value)
    stream = Stream(StreamKind.NATURAL, branch.operation, subject.digits, seed)
    n_reference = settings.n_reference
    reference, asked = stream.take(0, n_reference), stream.take(n_reference, 4 * settings.n_questions)
    asked = asked[is_negative(asked) == (branch is Branch.NEGATIVE)]
    asked = asked[np.isin(classify(asked).code, np.unique(classify(reference).code))]
    asked = asked[: settings.n_questions]
    return asked[subject.right(asked)], reference


def _measure(
    subject: Subject, branch: Branch, tagged: Tagged, asked: Questions, reference: Questions, settings: Settings
) -> _Kept:
    ranked = tagged.ranked()
    steps = [ranked[:n] for n in _counts(tagged)[:-1]]
    edits = [keep_only(ranked, fill) for fill in FILLS] + [keep_only(some) for some in steps]
    correct = subject.engine.run(edits, asked, reference=reference).correct
    random = np.random.default_rng(settings.seed_of(CARD.name, "sets"))
    drawn = [
        [matched_set(some, subject.nodes, subject.digits, random) for _ in range(settings.n_draws)]
        for some in (ranked, *steps)
    ]
    whole, *fewer = drawn
    plans = [[keep_only(some, fill) for some in whole] for fill in FILLS]
    plans += [[keep_only(some) for some in sets] for sets in fewer]
    null = np.stack([_each(subject, plan, asked, reference) for plan in plans])
    n_fills = len(FILLS)
    (right, tokens), (random_right, random_tokens) = (_rates(some) for some in (correct, null))
    return _Kept(
        branch=branch,
        common=float(np.mean([len(tagged.nodes & set(some)) / len(some) for some in whole])),
        whole=right[:n_fills],
        null=random_right[:n_fills],
        tokens=tokens[:n_fills],
        token_null=random_tokens[:n_fills],
        curve=[*right[n_fills:], right[0]],
        curve_null=[*random_right[n_fills:], random_right[0]],
    )


def _counts(tagged: Tagged) -> list[int]:
    return [max(1, round(share * len(tagged.nodes))) for share in _SHARES]


def _each(subject: Subject, edits: Sequence[Edit], asked: Questions, reference: Questions) -> NDArray[np.bool_]:
    # Another set for each question, so that no question counts twice: [question, token].
    edits = [edits[row % len(edits)] for row in range(len(asked))]
    return subject.engine.run_each(edits, asked, reference=reference).correct


def _rates(correct: NDArray[np.bool_]) -> tuple[list[Rate], list[list[Rate]]]:
    # For each edit how many whole answers, and how many of each token, are right.
    return [_rate(each.all(-1)) for each in correct], [[_rate(token) for token in each.T] for each in correct]


def _facts(each: _Kept, tagged: Tagged, settings: Settings) -> list[Fact]:
    about: dict[str, object] = {"branch": each.branch.value, "kept": len(tagged.nodes), "null": "matched random sets"}
    about["in common"] = round(each.common, 3)
    return [
        Fact(f"battery {CARD.name}", {**about, "fill": fill.value}, rate, null, {"seed": settings.seed})
        for fill, rate, null in zip(FILLS, each.whole, each.null, strict=True)
    ]


def _part_facts(each: _Kept, tagged: Tagged, subject: Subject, settings: Settings) -> list[Fact]:
    # Each token under each fill, and the curve under the mean: `rest` is the fill, which is not called so here
    # because who looks for a fill wants whole answers with all nodes kept.
    about, stimuli = {"branch": each.branch.value, "null": "matched random sets"}, {"seed": settings.seed}
    names = ["sign", *(f"A{digit}" for digit in range(subject.digits, -1, -1))]
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
    return tokens + curve


def _says(found: Sequence[_Kept], tagged: Tagged, subject: Subject) -> str:
    if not found:
        return "There is nothing to keep: no node is useful, all are, or the model answers too few questions."
    parts = [
        f"{each.branch.value} {'/'.join(f'{rate.value:.2f}' for rate in each.whole)} "
        f"(matched random sets {'/'.join(f'{rate.value:.2f}' for rate in each.null)})"
        for each in found
    ]
    return (
        f"With {len(tagged.nodes)} of {len(subject.nodes)} nodes kept, tagged by {tagged.by}, the share of answers "
        f"that stay right under mean/class-mean/resample is {'; '.join(parts)}. Random sets are matched in kind, layer "
        f"and position, and share {np.mean([each.common for each in found]):.2f} of their nodes with those kept."
    )


def _beside(each: _Kept, subject: Subject) -> list[BesidePaper]:
    # Only where the paper has a figure for a model of this operation and as many digits.
    key = (subject.operation, subject.digits)
    of, rows = f"{key[0].value} d{key[1]}", []
    for fill, by_branch in _PAPER.get(key, {}).items():
        ours, paper = each.whole[FILLS.index(fill)], by_branch[each.branch]
        what = f"{each.branch.value} answers kept, {fill.value} ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    if key in _PAPER_RANDOM:
        ours, paper = each.null[0], _PAPER_RANDOM[key]
        what = f"{each.branch.value} answers kept by random sets, mean ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    return rows


def _holds(ours: Rate, paper: float) -> bool:
    return ours.interval[0] <= paper <= ours.interval[1]


def _figure(found: Sequence[_Kept], tagged: Tagged) -> Figure:
    x = _counts(tagged)
    series = [Series.of_rates(f"{each.branch.value}, mean", Kind.EFFECT, x, each.curve) for each in found]
    series += [Series.of_rates(f"{each.branch.value}, resample", Kind.RIVAL, x[-1:], each.whole[-1:]) for each in found]
    nulls = [sum((each.curve_null[at] for each in found), Rate(0, 0)) for at in range(len(x))]
    series.append(Series.of_rates("random matched sets, mean", Kind.NULL, x, nulls))
    return Figure("nodes kept, the most important first", "share of answers right", tuple(series))


def _row(each: _Kept) -> tuple[str, ...]:
    cells = (f"{rate.hits}/{rate.n}, {null.hits}/{null.n}" for rate, null in zip(each.whole, each.null, strict=True))
    return (each.branch.value, *cells, " ".join(f"{rate.value:.2f}" for rate in each.tokens[0]))


def _rate(right: NDArray[np.bool_]) -> Rate:
    return Rate(int(right.sum()), len(right))
