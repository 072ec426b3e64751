"""Carry probes: linear probes for one resolved carry at every place and level, and how far each of them holds.

Takes  a subject, an untrained twin of it, questions to fit on and others to score on.
Gives  `CarryRead`: how often probes are right, beside probes fitted to shuffled labels and those of the twin; the onset
       and its lag with an interval; the separation of the classes; what a probe reads at other depths and readers.
Never  scores a probe on questions it was fitted on, nor counts one question twice in one rate.

1. Fit a ridge probe at every place and level; fit it again to shuffled labels, and on the twin's states.
2. Onset: the first place where it is surely right in nine of ten and surely more often than the twin's. Its lag is
   found again in resampled questions; where none is found, it counts as one place after the reader. Null: the twin's
   lag, its probes held to those of shuffled labels.
3. Deeper: fit on depths 0 and 1, score on greater ones. Across: each question is read by the probe of one other
   column's reader, at the level where that was fitted. Both also with shuffled labels, and in the twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import Hits, hit_rate
from carrylens.arithmetic.battery.measures.linear_probe import CarryLabels, LinearProbe, fit_probe
from carrylens.arithmetic.battery.measures.residual_states import States, levels_of, read_states
from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.questions import Questions
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above
from carrylens.model.transformer import Transformer

LEAST = 0.9
"""How often a probe must surely be right for the carry to count as present."""
_BOOTSTRAPS = 400
_NAME = "probes"
RateGrid = list[list[Rate]]
"""Axes place and level."""


@dataclass(frozen=True, eq=False)
class ProbeQuestions:
    """Questions with their carries (-1 and 1) and depths, to fit and to score."""

    questions: Questions
    labels: CarryLabels
    depths: NDArray[np.int64]


@dataclass(frozen=True)
class ProbeTransfer:
    """How often probes are right where they were not fitted, beside those of shuffled labels and of the twin."""

    effect: Rate
    shuffled: Rate
    twin: Rate

    def __add__(self, other: ProbeTransfer) -> ProbeTransfer:
        return ProbeTransfer(self.effect + other.effect, self.shuffled + other.shuffled, self.twin + other.twin)


NO_TRANSFER = ProbeTransfer(Rate(0, 0), Rate(0, 0), Rate(0, 0))


@dataclass(frozen=True, eq=False)
class Separation:
    """The distance of two classes along a probe in units of their spread; resampled, and in the untrained twin."""

    value: float
    resampled: NDArray[np.float64]
    twin: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CarryReader:
    """The probes at the reader's best level, and all levels of the states of the questions that score them there."""

    level: int
    probe: LinearProbe
    mixed: tuple[LinearProbe, ...]
    twin: LinearProbe
    states: States
    twin_states: States
    labels: CarryLabels


@dataclass(frozen=True, eq=False)
class CarryRead:
    """What was found about one resolved carry. `onset` is a place, as an index of `places`, and a level."""

    branch: Branch
    column: int
    places: tuple[int, ...]
    rates: RateGrid
    shuffled: RateGrid
    twin: RateGrid
    onset: tuple[int, int] | None
    lag: Estimate
    deeper: ProbeTransfer
    separation: Separation
    reader: CarryReader

    @property
    def name(self) -> str:
        """The carry, such as SV[3]."""
        return str(self.branch.resolved[self.column])


def read_carry(
    context: ExperimentContext,
    twin: Transformer,
    branch: Branch,
    column: int,
    asked: tuple[ProbeQuestions, ProbeQuestions],
) -> CarryRead:
    """Everything about the carry out of one column, fitted on the first of `asked` and scored on the second."""
    subject, settings = context.subject, context.settings
    train, test = asked
    places = tuple(range(subject.position("D'0"), subject.predicting(column + 1) + 1))
    levels, name = levels_of(subject.last_layer + 1), str(branch.resolved[column])
    random = np.random.default_rng(settings.seed_of(_NAME, "shuffle"))
    mixed = [random.permutation(train.labels) for _ in range(settings.n_draws)]
    fitted, scored = (read_states(subject.model, some.questions, places, levels) for some in asked)
    plain = [read_states(twin, some.questions, places, levels) for some in asked]
    ours = _hits(fitted, train.labels, scored, test.labels)
    shuffled = _shuffled_hits(fitted, mixed, scored, test.labels)
    of_twin = _hits(plain[0], train.labels, plain[1], test.labels)
    rates, twin_rates = _grid(ours), _grid(of_twin)
    best = max(range(len(levels)), key=lambda level: rates[-1][level].value)
    here, there = fitted[:, -1, best], plain[0][:, -1, best]
    reader = CarryReader(
        best,
        fit_probe(here, train.labels),
        tuple(fit_probe(here, labels) for labels in mixed),
        fit_probe(there, train.labels),
        scored[:, -1],
        plain[1][:, -1],
        test.labels,
    )
    return CarryRead(
        branch,
        column,
        places,
        rates,
        _grid(shuffled),
        twin_rates,
        _onset(rates, twin_rates),
        lag=_lag(name, (ours, of_twin), (of_twin, shuffled), settings),
        deeper=_deeper(here, there, train, reader, test.depths, settings),
        separation=_separation(name, reader, settings),
        reader=reader,
    )


def across(found: Sequence[CarryRead]) -> ProbeTransfer:
    """What probes of other columns' readers read at each reader of one branch, each question read by one of them."""
    total = NO_TRANSFER
    for here in (each.reader for each in found):
        others = [each.reader for each in found if each.reader is not here]
        for at, other in enumerate(others):
            rows = np.arange(at, len(here.labels), len(others))
            states, labels = here.states[rows, other.level], here.labels[rows]
            total += ProbeTransfer(
                hit_rate(other.probe.right(states, labels)),
                _dealt(other.mixed, states, labels),
                hit_rate(other.twin.right(here.twin_states[rows, other.level], labels)),
            )
    return total


def pooled_separation(name: str, found: Sequence[CarryRead]) -> Estimate:
    """The mean separation of some carries; null: that in the untrained twin, along the twin's own probes."""
    parts = [each.separation for each in found]
    resampled, twin = (np.mean([getattr(p, side) for p in parts], axis=0) for side in ("resampled", "twin"))
    low, high = (float(end) for end in np.quantile(resampled, (0.025, 0.975)))
    null_low, null, null_high = (float(each) for each in np.quantile(twin, (0.025, 0.5, 0.975)))
    value, n = float(np.mean([part.value for part in parts])), sum(len(each.reader.labels) for each in found)
    return Estimate(name, value, low, high, null, null_low, null_high, n)


def first_places(hits: Hits, other: Hits, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every row of `weights` (how often each question counts) the first place where `hits` are surely right in nine
    of ten and surely more often than `other`; the number of places where there is none.
    """
    n, n_places, n_levels = hits.shape
    mine, theirs = (weights @ each.reshape(n, -1).astype(np.int64) for each in (hits, other))
    beaten = np.array([_most_beaten(count, n) for count in range(n + 1)])
    cells = np.asarray(theirs <= beaten[mine]).reshape(len(weights), n_places, n_levels)
    present = np.any(cells, axis=2)
    return np.where(present.any(axis=1), present.argmax(axis=1), n_places)


@cache
def _most_beaten(hits: int, n: int) -> int:
    # The most hits of a rival than which `hits` of n are surely more, being surely nine of ten; -1 if there are none.
    if Rate(hits, n).interval[0] <= LEAST:
        return -1
    low, high = -1, hits
    while high - low > 1:
        middle = (low + high) // 2
        above = p_above(Rate(hits, n), Rate(middle, n)) <= THRESHOLDS.level
        low, high = (middle, high) if above else (low, middle)
    return low


def _hits(fitted: States, labels: CarryLabels, scored: States, truth: CarryLabels) -> Hits:
    # Axes question, place, level.
    _, n_places, n_levels, _ = fitted.shape
    found = np.zeros((len(truth), n_places, n_levels), dtype=np.bool_)
    for place in range(n_places):
        for level in range(n_levels):
            probe = fit_probe(fitted[:, place, level], labels)
            found[:, place, level] = probe.right(scored[:, place, level], truth)
    return found


def _shuffled_hits(fitted: States, mixed: Sequence[CarryLabels], scored: States, truth: CarryLabels) -> Hits:
    # Each question is read by the probe of one shuffle: where states are few, one shuffle is all right or all wrong.
    found = np.zeros((len(truth), *fitted.shape[1:3]), dtype=np.bool_)
    for at, labels in enumerate(mixed):
        rows = np.arange(at, len(truth), len(mixed))
        found[rows] = _hits(fitted, labels, scored[rows], truth[rows])
    return found


def _grid(hits: Hits) -> RateGrid:
    return [[hit_rate(cell) for cell in row.T] for row in hits.swapaxes(0, 1)]


def _onset(rates: RateGrid, twin: RateGrid) -> tuple[int, int] | None:
    for place, row in enumerate(rates):
        for level, each in enumerate(row):
            better = Fact("", {}, each, twin[place][level]).p <= THRESHOLDS.level
            if each.interval[0] > LEAST and better:
                return place, level
    return None


def _lag(name: str, ours: tuple[Hits, Hits], null: tuple[Hits, Hits], settings: BatterySettings) -> Estimate:
    # Step 2. Places begin at D'0, so that the place's index is the lag.
    n = len(ours[0])
    random = np.random.default_rng(settings.seed_of(_NAME, name, "lag"))
    weights = random.multinomial(n, np.full(n, 1 / n), size=_BOOTSTRAPS)

    def found(hits: Hits, other: Hits) -> tuple[float, float, float]:
        value = int(first_places(hits, other, np.ones((1, n), dtype=np.int64))[0])
        low, high = np.quantile(first_places(hits, other, weights), (0.025, 0.975), method="nearest")
        return float(value), float(min(value, low)), float(max(value, high))

    return Estimate(f"lag of {name} after D'0, in tokens", *found(*ours), *found(*null), n)


def _deeper(
    here: NDArray[np.float64],
    there: NDArray[np.float64],
    train: ProbeQuestions,
    reader: CarryReader,
    depths: NDArray[np.int64],
    settings: BatterySettings,
) -> ProbeTransfer:
    shallow, deep = train.depths <= 1, depths > 1
    if not deep.any():
        return NO_TRANSFER
    labels, truth, states = train.labels[shallow], reader.labels[deep], reader.states[deep, reader.level]
    random = np.random.default_rng(settings.seed_of(_NAME, "deeper"))
    mixed = [fit_probe(here[shallow], random.permutation(labels)) for _ in range(settings.n_draws)]
    return ProbeTransfer(
        hit_rate(fit_probe(here[shallow], labels).right(states, truth)),
        _dealt(mixed, states, truth),
        hit_rate(fit_probe(there[shallow], labels).right(reader.twin_states[deep, reader.level], truth)),
    )


def _dealt(probes: Sequence[LinearProbe], states: NDArray[np.float64], labels: CarryLabels) -> Rate:
    # Each question is read by one of the probes.
    whose = np.arange(len(labels)) % len(probes)
    parts = (hit_rate(probe.right(states[whose == at], labels[whose == at])) for at, probe in enumerate(probes))
    return sum(parts, Rate(0, 0))


def _separation(name: str, reader: CarryReader, settings: BatterySettings) -> Separation:
    # On questions the probe was not fitted on.
    labels, n = reader.labels, len(reader.labels)
    random = np.random.default_rng(settings.seed_of(_NAME, f"separation of {name}"))

    def distance(scores: NDArray[np.float64], rows: NDArray[np.int64]) -> float:
        low, high = scores[rows][labels[rows] < 0], scores[rows][labels[rows] > 0]
        spread = np.sqrt((low.var() + high.var()) / 2) if len(low) and len(high) else 0.0
        return float(abs(high.mean() - low.mean()) / spread) if spread > 0 else 0.0

    ours = reader.probe.scores(reader.states[:, reader.level])
    twin = reader.twin.scores(reader.twin_states[:, reader.level])
    picks = [random.integers(0, n, n) for _ in range(_BOOTSTRAPS)]
    again = (np.array([distance(scores, rows) for rows in picks]) for scores in (ours, twin))
    return Separation(distance(ours, np.arange(n)), *again)
