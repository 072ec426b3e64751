"""What `whole-algorithm` says: how much each hypothesis predicts, which rivals are ruled out, what scrubbing keeps.

Takes  what the model answered in every row, and what each hypothesis predicts for it.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.hit_rates import Hits, hit_rate
from carrylens.arithmetic.battery.measures.verdict_rules import overall, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.whole_algorithm.card import CARD
from carrylens.arithmetic.battery.whole_algorithm.disambiguation import judge_disambiguations
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import InterchangeSite, SiteLabel
from carrylens.arithmetic.battery.whole_algorithm.measure import (
    MAP_HYPOTHESIS,
    AnsweredRows,
    WholeMeasurements,
    map_labels,
)
from carrylens.arithmetic.battery.whole_algorithm.scrubbing import ClaimedCircuit, ScrubbedCircuit
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact

_BOOTSTRAPS = 500
RESAMPLED = "is resampled"
PREDICTED_ROW = "whole answers predicted"
"""What is set beside the paper."""


@dataclass(frozen=True)
class WholeAlgorithmTold:
    """What the sentence about `whole-algorithm` is made of."""

    answers: bool
    main: Fact
    disambiguations: Sequence[Fact]
    scrubbed: Sequence[Fact]
    circuits: Sequence[ScrubbedCircuit]


def summarise(context: ExperimentContext, measured: WholeMeasurements) -> Summary:
    """How often each hypothesis predicts the answer, how each pair of them is told apart, and what scrubbing keeps."""
    settings, rows, circuits = context.settings, measured.rows, measured.circuits
    stimuli = {"n": rows.n_first, "seed": settings.seed}
    main = _accuracy(rows, measured.ours, stimuli)
    rest = [_accuracy(rows, name, stimuli) for name in measured.rivals]
    disambiguations = [_disambiguation(rows, measured.ours, name, settings) for name in measured.rivals]
    by_map = [_accuracy(rows, MAP_HYPOTHESIS, stimuli)] if MAP_HYPOTHESIS in rows.predicted else []
    answers, scrubbed = rows.answered.value >= 0.5, measured.scrubbed
    labels = measured.hypotheses[0].labels
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=_verdict(main, disambiguations) if answers else Verdict.UNTESTED,
        says="",
        facts=(
            main,
            *rest,
            *disambiguations,
            *by_map,
            *_circuit_facts(circuits, settings),
            *scrubbed[1:],
            *scrubbed[:1],
        ),
        estimates=tuple(each for one in circuits for each in _explained(one, _how(one, circuits), settings)),
        figure=_figure(main, rest),
        headers=("site", "holds", "by the map"),
        rows=tuple((site.name, _text(labels[site]), _mapped(site, measured.claimed)) for site in measured.sites),
        beside_paper=(BesidePaper(PREDICTED_ROW, "not reported", str(main.effect), None),),
    )
    return Summary(outcome, WholeAlgorithmTold(answers, main, disambiguations, scrubbed, circuits))


def _accuracy(rows: AnsweredRows, name: str, stimuli: Mapping[str, object]) -> Fact:
    predicted = rows.predicted[name]
    told = ((predicted != rows.plain) & (predicted != rows.copied).all(0)).any(1)
    told[rows.n_first :] = False
    hits, by_chance = ((side == rows.given).all(1)[told] for side in (predicted, rows.permuted))
    about = {"account": name, "null": "labels moved round one column"}
    return Fact(f"battery {CARD.name}", about, hit_rate(hits), hit_rate(by_chance), stimuli)


def _disambiguation(rows: AnsweredRows, ours: str, theirs: str, settings: BatterySettings) -> Fact:
    # Effect and null are counted on the same rows, and at most one of them is right in each.
    fought = rows.disambiguations[theirs]
    hits, their_hits = (hit_rate((rows.predicted[name] == rows.given).all(1)[fought]) for name in (ours, theirs))
    about = {"duel": ours, "against": theirs, "told": rows.told[theirs], "proposed": rows.n_proposed}
    return Fact(f"battery {CARD.name}", about, hits, their_hits, {"n": len(fought), "seed": settings.seed})


def _circuit_facts(circuits: Sequence[ScrubbedCircuit], settings: BatterySettings) -> list[Fact]:
    found = []
    for circuit in circuits:
        about = {"claimed": len(circuit.claimed.labels), "freed": round(circuit.freed, 3)}
        if len(circuits) > 1:
            about |= {"other operator": circuit.turned, "sources": circuit.n_sources}
        how = _how(circuit, circuits)
        measured = (
            ("computes on", "random roles of the same size", circuit.computing, circuit.random_computing),
            (RESAMPLED, "random roles of the same size", circuit.resampled, circuit.random_resampled),
            ("computes on", "sources that agree in nothing", circuit.computing, circuit.floor),
        )
        stimuli = {"n": len(circuit.floor), "seed": settings.seed}
        for rest, null, kept, lost in measured:
            told = {**about, "rest": rest + how, "null": null + how}
            found.append(Fact(f"battery {CARD.name}", told, hit_rate(kept), hit_rate(lost), stimuli))
    return found


def _how(circuit: ScrubbedCircuit, circuits: Sequence[ScrubbedCircuit]) -> str:
    return "" if circuit is circuits[0] else ", the base's operator in all sources"


def _explained(circuit: ScrubbedCircuit, how: str, settings: BatterySettings) -> tuple[Estimate, ...]:
    # The share of the way from the floor to all answers right, questions drawn again for the interval.
    n = len(circuit.floor)
    picks = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap")).integers(0, n, (_BOOTSTRAPS, n))

    def explained(kept: Hits) -> tuple[float, float, float]:
        floor = circuit.floor[picks].mean(1)
        shares = (kept[picks].mean(1) - floor) / np.maximum(1 - floor, 1 / n)
        low, high = np.quantile(shares, (0.025, 0.975))
        value = (kept.mean() - circuit.floor.mean()) / max(1 - circuit.floor.mean(), 1 / n)
        return float(value), float(low), float(high)

    what, named = (
        "share of behaviour that the map's circuit explains",
        (
            ("nodes without a role compute on", circuit.computing, circuit.random_computing),
            ("nodes without a role resampled", circuit.resampled, circuit.random_resampled),
        ),
    )
    return tuple(
        Estimate(f"{what}, {name}{how}", *explained(kept), *explained(null), n=n) for name, kept, null in named
    )


def _verdict(main: Fact, disambiguations: Sequence[Fact]) -> Verdict:
    # A low accuracy may come of variables that these sites do not divide; only a rival that knows better refutes.
    found = weigh([main])[0]
    first = Verdict.INCONCLUSIVE if found is Verdict.REFUTED else found
    return overall([first, *judge_disambiguations(disambiguations)])


def _mapped(site: InterchangeSite, claimed: ClaimedCircuit | None) -> str:
    return "-" if claimed is None else _text(map_labels([site], claimed)[site])


def _figure(main: Fact, rivals: Sequence[Fact]) -> Figure:
    names = tuple(str(fact.about["account"]) for fact in (main, *rivals))
    places = range(1, len(names))
    series = [Series.of_rates("left to right", SeriesKind.EFFECT, [0], [main.effect])]
    if rivals:
        series.append(Series.of_rates("rivals", SeriesKind.RIVAL, places, [fact.effect for fact in rivals]))
    series.append(
        Series.of_rates(
            "null: labels moved round", SeriesKind.NULL, range(len(names)), [f.null for f in (main, *rivals)]
        )
    )
    return Figure("hypothesis", "share of whole answers predicted", tuple(series), names)


def _text(label: SiteLabel) -> str:
    return ", ".join(map(str, label)) if label else "nothing that is read"
