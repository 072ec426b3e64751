"""Sufficiency: are the useful nodes enough?

Takes  a subject.
Gives  for every branch how many answers stay right when only the useful nodes work, beside random matched sets; for
       each digit; and as more and more of them are kept.
Never  asks questions that the model, untouched, does not answer, nor those by which nodes were called useful.

1. The useful nodes: those of the map, or those without which a question fails.
2. Natural questions. Every other node writes its mean, its mean over questions of the same class, or what it writes for
   another question.
3. Null: random sets with as many heads and MLPs of each layer in each half of the sequence, another for each question.
4. Keep the most important ones only, more and more of them.
"""

from __future__ import annotations

from collections.abc import Sequence
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
        "Null: random sets of the same size, matched in layer, kind and half of the sequence.",
        "Then the same with only the most important of them kept.",
    ),
    refuted_if="on some branch, under some fill, surely fewer than half of the answers stay right, or matched random "
    "sets do as well.",
    paper="mean .943 (add d5); .893/.483/.357 (mix d6 add/positive/negative), resample .527/.047/.047; random .000",
    where="Section on the shared skeleton",
)
FILLS = (Fill.MEAN, Fill.CLASS_MEAN, Fill.RESAMPLE)
_PAPER = {Branch.ADD: 0.893, Branch.POSITIVE: 0.483, Branch.NEGATIVE: 0.357}
_SHARES = (0.25, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class _Kept:
    """What stays right on one branch: by fill the whole answers, kept and null; tokens and the curve for the mean."""

    branch: Branch
    whole: Sequence[Rate]
    null: Sequence[Rate]
    tokens: Sequence[Rate]
    curve: Sequence[Rate]


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
    verdict = overall(weigh(facts))
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(found, tagged, subject),
        facts=tuple(facts),
        figure=_figure(found, tagged) if found else None,
        headers=("branch", *(f"{fill.value}, null" for fill in FILLS), "sign and digits from the top, mean"),
        rows=tuple(map(_row, found)),
        beside_paper=tuple(_beside(each, subject.operation) for each in found),
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
    steps = [ranked[: max(1, round(share * len(ranked)))] for share in _SHARES[:-1]]
    edits = [keep_only(ranked, fill) for fill in FILLS] + [keep_only(some) for some in steps]
    outcomes = subject.engine.run(edits, asked, reference=reference)
    right = ~outcomes.failed
    random = np.random.default_rng(settings.seed_of(CARD.name, "sets"))
    half = subject.position("=")
    sets = [matched_set(ranked, subject.nodes, half, random) for _ in range(settings.n_draws)]
    return _Kept(
        branch=branch,
        whole=[_rate(right[at]) for at in range(len(FILLS))],
        null=[_rate(_each(subject, [keep_only(some, fill) for some in sets], asked, reference)) for fill in FILLS],
        tokens=[_rate(token) for token in outcomes.correct[0].T],
        curve=[*(_rate(row) for row in right[len(FILLS) :]), _rate(right[0])],
    )


def _each(subject: Subject, edits: Sequence[Edit], asked: Questions, reference: Questions) -> NDArray[np.bool_]:
    # Another set for each question, so that no question counts twice.
    edits = [edits[row % len(edits)] for row in range(len(asked))]
    return ~subject.engine.run_each(edits, asked, reference=reference).failed


def _facts(each: _Kept, tagged: Tagged, settings: Settings) -> list[Fact]:
    about = {"branch": each.branch.value, "kept": len(tagged.nodes), "null": "matched random sets"}
    return [
        Fact(f"battery {CARD.name}", {**about, "fill": fill.value}, rate, null, {"seed": settings.seed})
        for fill, rate, null in zip(FILLS, each.whole, each.null, strict=True)
    ]


def _says(found: Sequence[_Kept], tagged: Tagged, subject: Subject) -> str:
    if not found:
        return "There is nothing to keep: no node is useful, all are, or the model answers too few questions."
    parts = [
        f"{each.branch.value} {'/'.join(f'{rate.value:.2f}' for rate in each.whole)} "
        f"(random {'/'.join(f'{rate.value:.2f}' for rate in each.null)})"
        for each in found
    ]
    return (
        f"With {len(tagged.nodes)} of {len(subject.nodes)} nodes kept, tagged by {tagged.by}, the share of answers "
        f"that stay right under mean/class-mean/resample is {'; '.join(parts)}."
    )


def _beside(each: _Kept, operation: Operation) -> BesidePaper:
    paper, of = (0.943, "add d5") if operation is Operation.ADD else (_PAPER[each.branch], "mix d6")
    low, high = each.whole[0].interval
    what = f"{each.branch.value} answers kept, mean ablation"
    return BesidePaper(what, f"{paper} ({of})", str(each.whole[0]), low <= paper <= high)


def _figure(found: Sequence[_Kept], tagged: Tagged) -> Figure:
    x = [max(1, round(share * len(tagged.nodes))) for share in _SHARES]
    series = [Series.of_rates(f"{each.branch.value}, mean", Kind.EFFECT, x, each.curve) for each in found]
    series += [Series.of_rates(f"{each.branch.value}, resample", Kind.RIVAL, x[-1:], each.whole[-1:]) for each in found]
    null = sum((each.null[0] for each in found), Rate(0, 0))
    series.append(Series.of_rates("random matched sets, mean", Kind.NULL, x[-1:], [null]))
    return Figure("nodes kept, the most important first", "share of answers right", tuple(series))


def _row(each: _Kept) -> tuple[str, ...]:
    cells = (f"{rate.hits}/{rate.n}, {null.hits}/{null.n}" for rate, null in zip(each.whole, each.null, strict=True))
    return (each.branch.value, *cells, " ".join(f"{rate.value:.2f}" for rate in each.tokens))


def _rate(right: NDArray[np.bool_]) -> Rate:
    return Rate(int(right.sum()), len(right))
