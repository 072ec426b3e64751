"""What `necessity` says: how many places depend on one head, and the gap between all heads and the worst.

Takes  what is missed at every place.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.necessity.card import CARD
from carrylens.arithmetic.battery.necessity.measure import NecessityMeasurements
from carrylens.arithmetic.battery.necessity.place_verdicts import MissedPlace, needed_mlps
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact

_BOOTSTRAPS = 500
HEAD_JOBS = ((True, "deliver"), (False, "make"))


def gap_ending(verb: str) -> str:
    """How the name of a mean gap ends: that of heads that deliver carries, or that make them."""
    return f"that {verb} carries"


def heads_row(verb: str) -> str:
    """What is set beside the paper about heads that deliver a carry, or that make it."""
    return f"single heads that are necessary to {verb} a carry"


@dataclass(frozen=True)
class NecessityTold:
    """What the sentence about `necessity` is made of."""

    found: Sequence[MissedPlace]
    verdicts: Sequence[Verdict]
    means: Sequence[Estimate]
    by: str


def summarise(context: ExperimentContext, measured: NecessityMeasurements) -> Summary:
    """Which places depend on one head, and how far all heads are missed more than the worst."""
    settings, found, verdicts = context.settings, measured.found, measured.verdicts
    means = _mean_gaps(found, verdicts, settings)
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says="",
        facts=tuple(fact for each in found for fact in _facts(each, settings)),
        estimates=(*(_gap(each, settings) for each in found), *means),
        figure=_figure(found) if found else None,
        headers=("place", "all heads", "worst head", "alone", "untagged", "worst MLP", "verdict"),
        rows=tuple(_row(each, verdict) for each, verdict in zip(found, verdicts, strict=True)),
        beside_paper=_beside(found, verdicts),
    )
    return Summary(outcome, NecessityTold(found, verdicts, means, measured.by))


def _row(each: MissedPlace, verdict: Verdict) -> tuple[str, ...]:
    alone = map(_share, (each.worst, each.untagged, each.mlp))
    return (each.place.name, _share(each.whole), str(each.name), *alone, verdict.value)


def _gap(each: MissedPlace, settings: BatterySettings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap"))
    value, low, high = _bootstrap([each.whole.astype(np.float64) - each.worst], random)
    null = hit_rate(each.untagged)
    name = f"gap between all heads and the worst at {each.place.name}"
    return Estimate(name, value, low, high, null.value, *null.interval, n=len(each.whole))


def _bootstrap(values: Sequence[NDArray[np.float64]], random: np.random.Generator) -> tuple[float, float, float]:
    # The mean over places of their means; questions are drawn again within each place.
    means = np.mean([v[random.integers(0, len(v), (_BOOTSTRAPS, len(v)))].mean(1) for v in values], axis=0)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(np.mean([v.mean() for v in values])), float(low), float(high)


def _mean_gaps(found: Sequence[MissedPlace], verdicts: Sequence[Verdict], settings: BatterySettings) -> list[Estimate]:
    # Of the places of a branch that are missed, over the questions of the first round.
    told = [each for each, verdict in zip(found, verdicts, strict=True) if verdict is not Verdict.UNTESTED]
    random, estimates = np.random.default_rng(settings.seed_of(CARD.name, "mean gap")), []
    for branch in dict.fromkeys(each.place.branch for each in told):
        for delivers, verb in HEAD_JOBS:
            mine = [each for each in told if (each.place.branch, each.place.delivers) == (branch, delivers)]
            if not mine:
                continue
            gaps = [(each.whole.astype(np.float64) - each.worst)[: len(each.mlp)] for each in mine]
            nulls = [each.untagged.astype(np.float64) if len(each.untagged) else np.zeros(1) for each in mine]
            name = f"{branch.value}, {len(mine)} places: mean gap of heads {gap_ending(verb)}"
            (value, low, high), (middle, null_low, null_high) = (_bootstrap(each, random) for each in (gaps, nulls))
            estimates.append(Estimate(name, value, low, high, middle, null_low, null_high, sum(map(len, gaps))))
    return estimates


def _facts(each: MissedPlace, settings: BatterySettings) -> list[Fact]:
    stimuli, null = {"n": len(each.whole), "seed": settings.seed}, hit_rate(each.untagged)
    about = {"place": each.place.name, "null": "untagged heads"}
    return [
        Fact(f"battery {CARD.name}", {**about, "ablated": what}, hit_rate(wrong), null, stimuli)
        for what, wrong in (("all heads", each.whole), (str(each.name), each.worst), ("worst MLP", each.mlp))
    ]


def _beside(found: Sequence[MissedPlace], verdicts: Sequence[Verdict]) -> tuple[BesidePaper, ...]:
    # The paper means heads and MLPs. An MLP is the only one of its layer and place, so it stands in a row of its own.
    rows = []
    for delivers, verb in HEAD_JOBS:
        mine = [verdict for each, verdict in zip(found, verdicts, strict=True) if each.place.delivers is delivers]
        told = [verdict for verdict in mine if verdict in (Verdict.SUPPORTED, Verdict.REFUTED)]
        heads = f"{told.count(Verdict.REFUTED)} of {len(told)} places that could be told depend on one head"
        agrees = Verdict.REFUTED not in told if told else None
        rows.append(BesidePaper(heads_row(verb), "none", heads, agrees))
    n_missed = sum(verdict is not Verdict.UNTESTED for verdict in verdicts)
    n_mlps = needed_mlps(found, verdicts)
    mlps = f"{n_mlps} of {n_missed} places depend on one MLP"
    agrees = n_mlps == 0 if n_missed else None
    return (*rows, BesidePaper("single MLPs that are necessary for the carry", "none", mlps, agrees))


def _figure(found: Sequence[MissedPlace]) -> Figure:
    x, names = range(len(found)), tuple(each.place.name for each in found)
    return Figure(
        "place",
        "share of questions off by the carry",
        (
            Series.of_rates("all heads of the place", SeriesKind.EFFECT, x, [hit_rate(each.whole) for each in found]),
            Series.of_rates("the worst head alone", SeriesKind.RIVAL, x, [hit_rate(each.worst) for each in found]),
            Series.of_rates("untagged heads", SeriesKind.NULL, x, [hit_rate(each.untagged) for each in found]),
        ),
        names,
    )


def _share(wrong: NDArray[np.bool_]) -> str:
    return f"{int(wrong.sum())}/{len(wrong)}"
