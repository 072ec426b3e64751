"""Probes: where and when is the resolved carry linearly present?

Takes  a subject.
Gives  for every branch and column the first place and level where a linear probe reads the carry out of it, how long
       after the last digit of the question that is, and whether the probe holds at other depths and places.
Never  scores a probe on questions it was fitted on, nor asks for the carry of the units: it needs no resolving.

1. Questions in which columns k to k-d+1 are uncertain and the one below decides, both ways alike; d from 0 to k, each
   as often, so that no single column's own carry tells the resolved one.
2. At every place from D'0 to the one that reads SV[k], behind the heads and the MLP of every layer, fit a ridge probe.
3. Score it on other questions, beside a probe fitted to shuffled labels, and beside one of an untrained twin.
4. The onset is the first place where it is surely right in nine of ten, and surely more often than the twin's.
5. Fit at depths 0 and 1, score at greater ones; fit at one column's reader, score at another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Questions
from carrylens.battery.columns import Branch, ColumnPairs, branches_of, deciding_pairs, own_carry
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.states import States, level_name, levels_of, read_states
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.weighing import overall
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict
from carrylens.model.transformer import Transformer

CARD = Card(
    name="probes",
    title="Where the resolved carry can be read",
    question="Is the resolved carry first linearly present at the place that reads it, and not before?",
    method=(
        "Questions whose carry must pass uncertain columns, both outcomes alike.",
        "A ridge probe at every place from D'0 to the reader and every level; fitted on some, scored on others.",
        "Beside it probes fitted to shuffled labels, and those of an untrained twin.",
        "Onset: the first place surely right in nine of ten, and more often than the twin.",
        "Transfer: fitted at depths 0 and 1 and scored deeper; fitted at one reader and scored at another.",
    ),
    refuted_if="for some column the onset is before the place that reads the carry, or there is none.",
    paper="present lazily, at the answer read: 2 tokens after D'0 (d5, d6), 3 (d8); carry-axis separation "
    "32.3/28.5/5.3/6.1/6.0 (d5/6/8/10/13)",
    where="Table of family invariants; one figure each",
)
LEAST = 0.9
"""How often a probe must surely be right for the carry to count as present."""
_RIDGE = 1e-3
_BOOTSTRAPS = 400

Labels = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Probe:
    """A linear map from a state to a number that is positive where the carry is 1."""

    weights: NDArray[np.float64]
    offset: float

    def scores(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probe's number for each state."""
        return np.asarray(states @ self.weights + self.offset)

    def right(self, states: NDArray[np.float64], labels: Labels) -> NDArray[np.bool_]:
        """Which states it reads rightly."""
        return np.asarray((self.scores(states) > 0) == (labels > 0))


def fit_probe(states: NDArray[np.float64], labels: Labels) -> Probe:
    """The ridge regression of labels -1 and 1 on states."""
    mean = states.mean(0)
    centred = states - mean
    gram = centred.T @ centred
    gram += np.eye(len(gram)) * max(_RIDGE * np.trace(gram) / len(gram), 1e-9)
    weights = np.linalg.solve(gram, centred.T @ (labels - labels.mean()))
    return Probe(weights, float(labels.mean() - mean @ weights))


@dataclass(frozen=True, eq=False)
class _Asked:
    """Questions with their carries (-1 and 1) and depths, to fit and to score."""

    questions: Questions
    labels: Labels
    depths: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Carry:
    """What was found about one resolved carry: axes of the arrays are place and level."""

    branch: Branch
    column: int
    places: tuple[int, ...]
    rates: list[list[Rate]]
    shuffled: list[list[Rate]]
    twin: list[list[Rate]]
    onset: tuple[int, int] | None
    deeper: Rate
    separation: Estimate
    reader: tuple[Probe, States, Labels]


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    wanted = [(b, k) for b in branches_of(subject.operation) for k in range(1, b.top(subject.digits))]
    twin = Transformer(replace(subject.model.config, seed=settings.seed_of(CARD.name, "twin"))).eval()
    found = []
    for at, (branch, column) in enumerate(wanted):
        watch(CARD.title, at, len(wanted))
        carry = _measure(subject, twin, branch, column, settings)
        if carry is not None:
            found.append(carry)
    verdicts = [_verdict(carry) for carry in found]
    across = _across(found)
    facts = [fact for carry in found for fact in _facts(carry, settings)]
    if across.n:
        facts.append(
            Fact(f"battery {CARD.name}", {"probe": "of another column's reader"}, across, Rate(across.n // 2, across.n))
        )
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(verdicts),
        says=_says(subject, found, verdicts, across),
        facts=tuple(facts),
        estimates=tuple(carry.separation for carry in found),
        figure=_figure(subject, found) if found else None,
        headers=("carry", "onset", "level", "lag after D'0", "reader", "at the reader, shuffled, twin", "deeper"),
        rows=tuple(_row(subject, carry) for carry in found),
        beside_paper=_beside(subject, found),
    )


def _measure(subject: Subject, twin: Transformer, branch: Branch, column: int, settings: Settings) -> _Carry | None:
    train, test = (_ask(subject, branch, column, settings, split) for split in ("train", "test"))
    good = subject.right(test.questions) if len(test.labels) else np.zeros(0, dtype=np.bool_)
    if good.sum() < max(2 * THRESHOLDS.least_searched, 0.5 * len(good)):
        return None
    places = tuple(range(subject.position("D'0"), subject.predicting(column + 1) + 1))
    levels = levels_of(subject.last_layer + 1)
    random = np.random.default_rng(settings.seed_of(CARD.name, "shuffle"))
    mixed = [random.permutation(train.labels) for _ in range(settings.n_draws)]
    fitted, scored = (read_states(subject.model, some.questions, places, levels) for some in (train, test))
    plain = [read_states(twin, some.questions, places, levels) for some in (train, test)]
    rates = _rates(fitted, train.labels, scored, test.labels)
    shuffled = _shuffled_rates(fitted, mixed, scored, test.labels)
    of_twin = _rates(plain[0], train.labels, plain[1], test.labels)
    best = max(range(len(levels)), key=lambda level: rates[-1][level].value)
    probe, states = fit_probe(fitted[:, -1, best], train.labels), scored[:, -1, best]
    return _Carry(
        *(branch, column, places, rates, shuffled, of_twin, _onset(rates, of_twin)),
        deeper=_deeper(fitted[:, -1, best], train, states, test),
        separation=_separation(f"separation of {_name(branch, column)}", probe, states, test.labels, settings),
        reader=(probe, states, test.labels),
    )


def _ask(subject: Subject, branch: Branch, column: int, settings: Settings, split: str) -> _Asked:
    n = (settings.n_train if split == "train" else settings.n_questions) // (2 * column + 2)
    drawn: list[ColumnPairs] = []
    for depth in range(column + 1):
        seed = settings.seed_of(CARD.name, branch, column, depth, split)
        drawn.append(deciding_pairs(branch, subject.digits, column + 1, depth, n, seed))
    sides = [side for pairs in drawn for side in (pairs.base, pairs.source)]
    questions = Questions(
        *(np.concatenate([getattr(side, name) for side in sides]) for name in ("first", "second", "minus"))
    )
    depths = np.concatenate([np.full(2 * len(pairs), depth) for depth, pairs in enumerate(drawn)])
    values = [own_carry(pairs, side) for pairs in drawn for side in (pairs.base, pairs.source)]
    return _Asked(questions, np.where(np.concatenate(values) == 1, 1.0, -1.0), depths)


def _rates(fitted: States, labels: Labels, scored: States, truth: Labels) -> list[list[Rate]]:
    _, n_places, n_levels, _ = fitted.shape
    return [
        [
            _rate(fit_probe(fitted[:, place, level], labels).right(scored[:, place, level], truth))
            for level in range(n_levels)
        ]
        for place in range(n_places)
    ]


def _shuffled_rates(fitted: States, mixed: Sequence[Labels], scored: States, truth: Labels) -> list[list[Rate]]:
    # Each question is read by the probe of one shuffle: where states are few, one shuffle is all right or all wrong.
    whose = np.arange(len(truth)) % len(mixed)
    parts = [_rates(fitted, labels, scored[whose == at], truth[whose == at]) for at, labels in enumerate(mixed)]
    return [[sum(cells, Rate(0, 0)) for cells in zip(*rows, strict=True)] for rows in zip(*parts, strict=True)]


def _onset(rates: list[list[Rate]], twin: list[list[Rate]]) -> tuple[int, int] | None:
    for place, row in enumerate(rates):
        for level, rate in enumerate(row):
            better = Fact("", {}, rate, twin[place][level]).p <= THRESHOLDS.level
            if rate.interval[0] > LEAST and better:
                return place, level
    return None


def _deeper(fitted: NDArray[np.float64], train: _Asked, states: NDArray[np.float64], test: _Asked) -> Rate:
    shallow, deep = train.depths <= 1, test.depths > 1
    if not deep.any():
        return Rate(0, 0)
    return _rate(fit_probe(fitted[shallow], train.labels[shallow]).right(states[deep], test.labels[deep]))


def _across(found: Sequence[_Carry]) -> Rate:
    # Each column's probe on the states of the other columns' readers, within a branch.
    total = Rate(0, 0)
    for one in found:
        for other in found:
            if one is not other and one.branch is other.branch:
                total += _rate(one.reader[0].right(other.reader[1], other.reader[2]))
    return total


def _separation(name: str, probe: Probe, states: States, labels: Labels, settings: Settings) -> Estimate:
    # The distance of the two classes along the probe in units of their spread, on questions it was not fitted on.
    scores = probe.scores(states)
    random = np.random.default_rng(settings.seed_of(CARD.name, name))

    def distance(rows: NDArray[np.int64], signs: Labels) -> float:
        low, high = scores[rows][signs[rows] < 0], scores[rows][signs[rows] > 0]
        spread = np.sqrt((low.var() + high.var()) / 2) if len(low) and len(high) else 0.0
        return float(abs(high.mean() - low.mean()) / spread) if spread > 0 else 0.0

    every = np.arange(len(scores))
    resampled = [distance(random.integers(0, len(scores), len(scores)), labels) for _ in range(_BOOTSTRAPS)]
    shuffled = [distance(every, random.permutation(labels)) for _ in range(_BOOTSTRAPS)]
    low, high, null_low, null_high = (*np.quantile(resampled, (0.025, 0.975)), *np.quantile(shuffled, (0.025, 0.975)))
    ours, null = (distance(every, labels), float(low), float(high)), (float(np.median(shuffled)), null_low, null_high)
    return Estimate(name, *ours, null[0], float(null[1]), float(null[2]), len(scores))


def _verdict(carry: _Carry) -> Verdict:
    if carry.onset is None:
        return Verdict.REFUTED if max(rate.interval[1] for rate in carry.rates[-1]) < LEAST else Verdict.INCONCLUSIVE
    return Verdict.SUPPORTED if carry.onset[0] == len(carry.places) - 1 else Verdict.REFUTED


def _facts(carry: _Carry, settings: Settings) -> list[Fact]:
    stimuli = {"n": carry.rates[0][0].n, "n_train": settings.n_train, "seed": settings.seed}
    name, facts = _name(carry.branch, carry.column), []
    for place, row in enumerate(carry.rates):
        for level, rate in enumerate(row):
            about = {"carry": name, "position": carry.places[place], "level": level}
            for null, other in (("shuffled labels", carry.shuffled), ("untrained twin", carry.twin)):
                fact = Fact(f"battery {CARD.name}", {**about, "null": null}, rate, other[place][level], stimuli)
                facts.append(fact)
    return facts


def _says(subject: Subject, found: Sequence[_Carry], verdicts: Sequence[Verdict], across: Rate) -> str:
    if not found:
        return "No carry could be asked for: there are too few columns, or the model answers too few questions."
    lazy, early = (verdicts.count(verdict) for verdict in (Verdict.SUPPORTED, Verdict.REFUTED))
    none = [_name(c.branch, c.column) for c in found if c.onset is None]
    early_ones = [(carry, carry.onset[0]) for carry in found if carry.onset and carry.onset[0] < len(carry.places) - 1]
    soon = [f"{_name(c.branch, c.column)} at {subject.place(c.places[at])}" for c, at in early_ones]
    text = f"Of {len(found)} resolved carries {lazy} are first read at the place that needs them and {early} are not"
    text += f" (before: {', '.join(soon)})" if soon else ""
    text += f" (nowhere: {', '.join(none)})" if none else ""
    deeper = sum((carry.deeper for carry in found), Rate(0, 0))
    moved = f"read deeper ones in {deeper.value:.2f}, those of other columns in {across.value:.2f}"
    return f"{text}; probes fitted at depths 0 and 1 {moved}."


def _beside(subject: Subject, found: Sequence[_Carry]) -> tuple[BesidePaper, ...]:
    top = [c for c in found if c.column == c.branch.top(subject.digits) - 1 and c.branch is found[0].branch]
    if not top or top[0].onset is None:
        return ()
    carry, onset = top[0], top[0].onset
    lag = carry.places[onset[0]] - subject.position("D'0")
    what = f"lag of {_name(carry.branch, carry.column)} after D'0"
    paper = {5: 2, 6: 2, 8: 3}.get(subject.digits)
    shown = "2 tokens (d5, d6), 3 (d8)"
    each = carry.separation
    ours = f"{each.value:.1f} [{each.low:.1f}, {each.high:.1f}]"
    return (
        BesidePaper(what, shown, f"{lag} tokens", None if paper is None else lag == paper),
        BesidePaper("carry-axis separation", "32.3/28.5/5.3/6.1/6.0 (d5/6/8/10/13), in units not stated", ours, None),
    )


def _figure(subject: Subject, found: Sequence[_Carry]) -> Figure:
    names = tuple(_name(carry.branch, carry.column) for carry in found)
    x = range(len(found))

    def best(rows: list[list[Rate]], place: int) -> Rate:
        return max(rows[place], key=lambda rate: rate.value)

    return Figure(
        "resolved carry",
        "share read rightly by the best level",
        (
            Series.of_rates("at the place that reads it", Kind.EFFECT, x, [best(c.rates, -1) for c in found]),
            Series.of_rates("one place before", Kind.RIVAL, x, [best(c.rates, -2) for c in found]),
            Series.of_rates(
                f"at {subject.place(found[0].places[1])}", Kind.RIVAL, x, [best(c.rates, 1) for c in found]
            ),
            Series.of_rates("null: shuffled labels", Kind.NULL, x, [best(c.shuffled, -1) for c in found]),
            Series.of_rates("null: untrained twin", Kind.NULL, x, [best(c.twin, -1) for c in found]),
        ),
        names,
    )


def _row(subject: Subject, carry: _Carry) -> tuple[str, ...]:
    levels = levels_of(subject.last_layer + 1)
    best = max(range(len(levels)), key=lambda level: carry.rates[-1][level].value)
    at_reader = ", ".join(f"{rows[-1][best].value:.2f}" for rows in (carry.rates, carry.shuffled, carry.twin))
    onset = ("none", "-", "-")
    if carry.onset is not None:
        position = carry.places[carry.onset[0]]
        lag = position - subject.position("D'0")
        onset = (subject.place(position), level_name(levels[carry.onset[1]]), str(lag))
    deeper = f"{carry.deeper.hits}/{carry.deeper.n}" if carry.deeper.n else "-"
    return (_name(carry.branch, carry.column), *onset, subject.place(carry.places[-1]), at_reader, deeper)


def _name(branch: Branch, column: int) -> str:
    return str(branch.resolved[column])


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
