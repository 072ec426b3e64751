"""Necessity: is any single head necessary for the carry, or only all heads of a place together?

Takes  a subject.
Gives  for every digit how often it is off by the carry without all heads that deliver its carry, without the worst of
       them alone, and without untagged ones; the same for the heads at each column's place, and for MLPs beside them.
Never  picks the worst head on the questions it is scored on, and never counts a failure that is not the carry's.

1. Delivery: the heads of the combiner's layer (`combining.py`) at the place that predicts digit j; what counts is that
   digit. Making: the heads of earlier layers at D'k; what counts are the digits above k. Each branch by itself: heads
   may divide the branches.
2. Take the carry from all heads together, from each alone, from untagged heads; count the questions with a digit that
   is off by just that carry (`missing.py` says how both is done).
3. The worst single head is picked on one split; all rates are those of another.
4. A place is redundant if all its heads are missed more than the untagged, and the worst alone less than half as much:
   a paired test of the same questions (without all, without the worst), Holm over the places. The same for MLPs.
5. Places that stay open are asked four times as many questions; each round of asking has half of the level.
6. The gap, all heads less the worst: for every place, and its mean for each branch over the places that are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from carrylens.arithmetic.battery.combining import combiner_layers
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.missing import (
    Asked,
    Hits,
    Place,
    draw_pairs,
    draw_questions,
    missed_by,
    missed_untagged,
    places_of,
)
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings
from carrylens.arithmetic.battery.tagging import tagged_nodes
from carrylens.arithmetic.battery.weighing import overall
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node

CARD = Card(
    name="necessity",
    title="Single heads, all heads of a place, untagged heads",
    question="Is no single head that makes or delivers a carry necessary, while all heads of its place together are?",
    method=(
        "Delivery: the combiner's layer's heads where digit j is predicted. Making: earlier heads at a column's place.",
        "Delivery: heads write the mean of two questions, with the carry and without. Making: their mean over many.",
        "Do so to all heads of the place, each alone, and untagged ones; count digits that are off by just the carry.",
        "The worst single head is picked on one split and scored on another.",
        "Paired tests of the same questions, Holm over places; those that stay open are asked four times as many.",
    ),
    refuted_if="at some place one head alone is surely missed at least half as much as all of them.",
    paper="no single node is necessary; necessity appears at the class level, and the gap grows with digits",
    where="Table of family invariants",
)
_BOOTSTRAPS = 500
_ROUNDS = (2, 8)
"""How many questions each round has asked in the end, times those of the settings."""
_LEAST_MISSED = 0.05
_KINDS = ((True, "deliver"), (False, "make"))


@dataclass(frozen=True, eq=False)
class Missed:
    """Which questions are off by the carry: without a place's heads, the worst one, untagged ones, the worst MLP.

    The first round's questions come first in all of them, and `untagged` and `mlp` have no others.
    """

    place: Place
    whole: Hits
    worst: Hits
    untagged: Hits
    mlp: Hits
    name: Node

    @property
    def excess(self) -> NDArray[np.int64]:
        """For each question twice the worst head's failure less that of all: on average above 0 if it is needed."""
        return 2 * self.worst.astype(np.int64) - self.whole.astype(np.int64)

    @property
    def excess_of_mlp(self) -> NDArray[np.int64]:
        """The same for the worst MLP."""
        return 2 * self.mlp.astype(np.int64) - self.whole[: len(self.mlp)].astype(np.int64)


@dataclass(frozen=True)
class NecessityMeasurements:
    """What is missed at each place, the verdict on it, and how nodes were called useful."""

    found: tuple[Missed, ...]
    verdicts: tuple[Verdict, ...]
    by: str


def measure(context: ExperimentContext) -> NecessityMeasurements:
    """Both rounds: all places, then those that stay open."""
    subject, layers = context.subject, combiner_layers(context)
    places = [place for branch, layer in layers.items() for place in places_of(subject, branch, layer)]
    context.watch(CARD.title, 0, len(places) + 1)
    tagged = tagged_nodes(context)
    untagged = [node for node in subject.nodes if node not in tagged.nodes]
    asked, found = _questions(context, places), []
    for at, place in enumerate(places):
        context.watch(CARD.title, at + 1, len(places) + 1)
        each = _measure(context, place, asked[place], untagged)
        if each is not None:
            found.append(each)
    first = weigh_places(found, len(_ROUNDS))
    for at, verdict in enumerate(first):
        if verdict is Verdict.INCONCLUSIVE:
            context.watch(CARD.title, len(places), len(places) + 1)
            found[at] = _ask_on(context, found[at], asked[found[at].place])
    second = weigh_places(found, len(_ROUNDS))
    verdicts = [then if now is Verdict.INCONCLUSIVE else now for now, then in zip(first, second, strict=True)]
    return NecessityMeasurements(tuple(found), tuple(verdicts), tagged.by)


def summarise(context: ExperimentContext, measured: NecessityMeasurements) -> Outcome:
    """Which places depend on one head, and how far all heads are missed more than the worst."""
    settings, found, verdicts = context.settings, measured.found, measured.verdicts
    means = _mean_gaps(found, verdicts, settings)
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says=_says(found, verdicts, means, measured.by),
        facts=tuple(fact for each in found for fact in _facts(each, settings)),
        estimates=(*(_gap(each, settings) for each in found), *means),
        figure=_figure(found) if found else None,
        headers=("place", "all heads", "worst head", "alone", "untagged", "worst MLP", "verdict"),
        rows=tuple(_row(each, verdict) for each, verdict in zip(found, verdicts, strict=True)),
        beside_paper=_beside(found, verdicts),
    )


def _row(each: Missed, verdict: Verdict) -> tuple[str, ...]:
    alone = map(_share, (each.worst, each.untagged, each.mlp))
    return (each.place.name, _share(each.whole), str(each.name), *alone, verdict.value)


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _questions(context: ExperimentContext, places: Sequence[Place]) -> dict[Place, Asked]:
    # Pairs of its own for each place that delivers; the same questions for all that make carries of one branch.
    subject, settings = context.subject, context.settings
    stream = Stream(
        StreamKind.ENRICHED,
        subject.operation,
        subject.digits,
        settings.seed_of(CARD.name, "reference"),
    )
    reference = stream.take(0, settings.n_reference)
    n = _n_picking(settings) + _ROUNDS[-1] * settings.n_questions
    branches = dict.fromkeys(place.branch for place in places)
    making = {
        branch: draw_questions(subject, branch, n, reference, settings.seed_of(CARD.name, branch.value))
        for branch in branches
    }
    return {
        place: draw_pairs(subject, place, n, reference, settings.seed_of(CARD.name, place.name))
        if place.delivers
        else making[place.branch]
        for place in places
    }


def _n_picking(settings: Settings) -> int:
    return settings.n_questions // 2


def _measure(context: ExperimentContext, place: Place, asked: Asked, untagged: Sequence[Node]) -> Missed | None:
    # The first round.
    subject, settings = context.subject, context.settings
    n, stop = _n_picking(settings), _n_picking(settings) + _ROUNDS[0] * settings.n_questions
    picking, scoring = asked[:n].answered(subject), asked[n:stop].answered(subject)
    if min(len(picking), len(scoring)) < THRESHOLDS.least_searched:
        return None
    failures = missed_by(subject, place, [(node,) for node in (*place.heads, *place.mlps)], picking).sum(1)
    n_heads = len(place.heads)
    head, mlp = place.heads[failures[:n_heads].argmax()], place.mlps[failures[n_heads:].argmax()]
    whole, worst, by_mlp = missed_by(subject, place, [place.heads, (head,), (mlp,)], scoring)
    seed = settings.seed_of(CARD.name, place.name, "untagged")
    without = missed_untagged(context, place, scoring, untagged, seed)
    return Missed(place, whole, worst, without, by_mlp, head)


def _ask_on(context: ExperimentContext, each: Missed, asked: Asked) -> Missed:
    # The second round: the rest of the questions.
    subject, settings = context.subject, context.settings
    more = asked[_n_picking(settings) + _ROUNDS[0] * settings.n_questions :].answered(subject)
    if not len(more):
        return each
    wrong = missed_by(subject, each.place, [each.place.heads, (each.name,)], more)
    whole, worst = (np.concatenate(both) for both in ((each.whole, wrong[0]), (each.worst, wrong[1])))
    return replace(each, whole=whole, worst=worst)


def weigh_places(found: Sequence[Missed], n_rounds: int = 1) -> list[Verdict]:
    """SUPPORTED: the worst head is surely missed less than half as much as all; REFUTED: surely more.

    UNTESTED: a place that is not missed at all cannot be told redundant from idle. The level is shared among rounds.
    """
    level = THRESHOLDS.level / n_rounds
    n = [len(each.mlp) for each in found]
    missed = holm([Fact("", {}, _rate(e.whole[:m]), _rate(e.untagged)).p for e, m in zip(found, n, strict=True)])
    needed, spared = (holm([_paired(sign * each.excess) for each in found]) for sign in (1, -1))
    verdicts = []
    for at, each in enumerate(found):
        if missed[at] > level or each.whole.mean() < _LEAST_MISSED:
            verdicts.append(Verdict.UNTESTED)
        elif needed[at] <= level:
            verdicts.append(Verdict.REFUTED)
        else:
            verdicts.append(Verdict.SUPPORTED if spared[at] <= level else Verdict.INCONCLUSIVE)
    return verdicts


def _paired(excess: NDArray[np.int64]) -> float:
    # The p of the mean being above 0. Too few questions that say anything say nothing.
    if np.count_nonzero(excess) < THRESHOLDS.least_searched:
        return 1.0
    if excess.min() == excess.max():
        return 0.0 if excess[0] > 0 else 1.0
    return float(ttest_1samp(excess, 0, alternative="greater").pvalue)


def needed_mlps(found: Sequence[Missed], verdicts: Sequence[Verdict]) -> int:
    """At how many of the places that are missed one MLP alone is surely missed at least half as much as all heads."""
    mine = [each for each, verdict in zip(found, verdicts, strict=True) if verdict is not Verdict.UNTESTED]
    return sum(p <= THRESHOLDS.level for p in holm([_paired(each.excess_of_mlp) for each in mine]))


def _gap(each: Missed, settings: Settings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap"))
    value, low, high = _bootstrap([each.whole.astype(np.float64) - each.worst], random)
    null = _rate(each.untagged)
    name = f"gap between all heads and the worst at {each.place.name}"
    return Estimate(name, value, low, high, null.value, *null.interval, n=len(each.whole))


def _bootstrap(values: Sequence[NDArray[np.float64]], random: np.random.Generator) -> tuple[float, float, float]:
    # The mean over places of their means; questions are drawn again within each place.
    means = np.mean([v[random.integers(0, len(v), (_BOOTSTRAPS, len(v)))].mean(1) for v in values], axis=0)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(np.mean([v.mean() for v in values])), float(low), float(high)


def _mean_gaps(found: Sequence[Missed], verdicts: Sequence[Verdict], settings: Settings) -> list[Estimate]:
    # Of the places of a branch that are missed, over the questions of the first round.
    told = [each for each, verdict in zip(found, verdicts, strict=True) if verdict is not Verdict.UNTESTED]
    random, estimates = np.random.default_rng(settings.seed_of(CARD.name, "mean gap")), []
    for branch in dict.fromkeys(each.place.branch for each in told):
        for delivers, verb in _KINDS:
            mine = [each for each in told if (each.place.branch, each.place.delivers) == (branch, delivers)]
            if not mine:
                continue
            gaps = [(each.whole.astype(np.float64) - each.worst)[: len(each.mlp)] for each in mine]
            nulls = [each.untagged.astype(np.float64) if len(each.untagged) else np.zeros(1) for each in mine]
            name = f"{branch.value}, {len(mine)} places: mean gap of heads that {verb} carries"
            (value, low, high), (middle, null_low, null_high) = (_bootstrap(each, random) for each in (gaps, nulls))
            estimates.append(Estimate(name, value, low, high, middle, null_low, null_high, sum(map(len, gaps))))
    return estimates


def _facts(each: Missed, settings: Settings) -> list[Fact]:
    stimuli, null = {"n": len(each.whole), "seed": settings.seed}, _rate(each.untagged)
    about = {"place": each.place.name, "null": "untagged heads"}
    return [
        Fact(f"battery {CARD.name}", {**about, "ablated": what}, _rate(wrong), null, stimuli)
        for what, wrong in (("all heads", each.whole), (str(each.name), each.worst), ("worst MLP", each.mlp))
    ]


def _says(found: Sequence[Missed], verdicts: Sequence[Verdict], means: Sequence[Estimate], by: str) -> str:
    if not found:
        return "The model answers too few questions for anything to be missed."
    parts = []
    for delivers, verb in _KINDS:
        mine = [v for each, v in zip(found, verdicts, strict=True) if each.place.delivers == delivers]
        counts = {verdict: mine.count(verdict) for verdict in Verdict}
        gaps = [
            f"{each.name.split(',')[0]} {each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
            for each in means
            if each.name.endswith(f"that {verb} carries")
        ]
        parts.append(
            f"Of {len(mine)} places where heads {verb} carries {counts[Verdict.SUPPORTED]} are redundant, "
            f"{counts[Verdict.REFUTED]} depend on one head, {counts[Verdict.UNTESTED]} are not missed, "
            f"{counts[Verdict.INCONCLUSIVE]} are open"
            + (f"; mean gap between all heads and the worst: {', '.join(gaps)}" if gaps else "")
        )
    n_missed = sum(verdict is not Verdict.UNTESTED for verdict in verdicts)
    return (
        f"{'. '.join(parts)}. One MLP alone is missed half as much as all heads or more at "
        f"{needed_mlps(found, verdicts)} of the {n_missed} places that are missed. Heads tagged by {by}."
    )


def _beside(found: Sequence[Missed], verdicts: Sequence[Verdict]) -> tuple[BesidePaper, ...]:
    # The paper means heads and MLPs. An MLP is the only one of its layer and place, so it stands in a row of its own.
    rows = []
    for delivers, verb in _KINDS:
        mine = [verdict for each, verdict in zip(found, verdicts, strict=True) if each.place.delivers is delivers]
        told = [verdict for verdict in mine if verdict in (Verdict.SUPPORTED, Verdict.REFUTED)]
        heads = f"{told.count(Verdict.REFUTED)} of {len(told)} places that could be told depend on one head"
        agrees = Verdict.REFUTED not in told if told else None
        rows.append(BesidePaper(f"single heads that are necessary to {verb} a carry", "none", heads, agrees))
    n_missed = sum(verdict is not Verdict.UNTESTED for verdict in verdicts)
    n_mlps = needed_mlps(found, verdicts)
    mlps = f"{n_mlps} of {n_missed} places depend on one MLP"
    agrees = n_mlps == 0 if n_missed else None
    return (*rows, BesidePaper("single MLPs that are necessary for the carry", "none", mlps, agrees))


def _figure(found: Sequence[Missed]) -> Figure:
    x, names = range(len(found)), tuple(each.place.name for each in found)
    return Figure(
        "place",
        "share of questions off by the carry",
        (
            Series.of_rates("all heads of the place", Kind.EFFECT, x, [_rate(each.whole) for each in found]),
            Series.of_rates("the worst head alone", Kind.RIVAL, x, [_rate(each.worst) for each in found]),
            Series.of_rates("untagged heads", Kind.NULL, x, [_rate(each.untagged) for each in found]),
        ),
        names,
    )


def _share(wrong: NDArray[np.bool_]) -> str:
    return f"{int(wrong.sum())}/{len(wrong)}"


def _rate(wrong: NDArray[np.bool_]) -> Rate:
    return Rate(int(wrong.sum()), len(wrong))
