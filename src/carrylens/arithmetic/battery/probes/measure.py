"""Probes: where and when is the resolved carry linearly present?

Takes  a subject.
Gives  for every branch and column the first place and level where a linear probe reads the carry out of it, how long
       after the last digit of the question that is, and whether the probe holds at other depths and places.
Never  scores a probe on questions it was fitted on, nor asks for the carry of the units: it needs no resolving.

1. Questions in which columns k to k-d+1 are uncertain and the one below decides, both ways alike; d from 0 to k, each
   as often, so that no single column's own carry tells the resolved one.
2. At every place from D'0 to the one that reads SV[k], behind the heads and the MLP of every layer, fit a ridge probe.
3. Score it on other questions, beside a probe fitted to shuffled labels, and beside one of an untrained twin.
4. The onset is the first place where it is surely right in nine of ten, and surely more often than the twin's. Its lag
   after D'0 has an interval from resampled questions.
5. Fit at depths 0 and 1, score at greater ones; score each question at one column's reader with a probe of another's.
   Both beside probes of shuffled labels, and those of the twin. `carry_probes.py` does all this.
6. Where the onset is before the reader, interchange what the probe reads there: does the digit follow?
   `early_readings.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.probes.card import CARD
from carrylens.arithmetic.battery.probes.carry_probes import CarryRead, ProbeQuestions, read_carry
from carrylens.arithmetic.battery.probes.early_readings import EarlyReading, early_reading
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs, own_carry
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Questions
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.model.transformer import Transformer


@dataclass(frozen=True, eq=False)
class ProbeMeasurements:
    """What probes read of every resolved carry, and what the answer does where they read it early."""

    found: tuple[CarryRead, ...]
    early: tuple[EarlyReading, ...]


def measure(context: ExperimentContext) -> ProbeMeasurements:
    """Probe every resolved carry of which enough questions are answered; interchange what is read early."""
    subject = context.subject
    wanted = [(b, k) for b in branches_of(subject.operation) for k in range(1, b.top(subject.digits))]
    twin = untrained_twin(context)
    found, early = list[CarryRead](), list[EarlyReading]()
    for at, (branch, column) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        asked = asked_for(context, branch, column)
        if _answers(subject, asked[1]):
            found.append(read_carry(context, twin, branch, column, asked))
            if reading := early_reading(context, found[-1], asked):
                early.append(reading)
    return ProbeMeasurements(tuple(found), tuple(early))


def untrained_twin(context: ExperimentContext) -> Transformer:
    """A model of the same shape with the weights it might have begun with."""
    return Transformer(replace(context.subject.model.config, seed=context.settings.seed_of(CARD.name, "twin"))).eval()


def asked_for(context: ExperimentContext, branch: Branch, column: int) -> tuple[ProbeQuestions, ProbeQuestions]:
    """Questions to fit on and questions to score on: step 1."""
    return (
        _ask(context, branch, column, "train"),
        _ask(context, branch, column, "test"),
    )


def _answers(subject: Subject, test: ProbeQuestions) -> bool:
    good = subject.right(test.questions) if len(test.labels) else np.zeros(0, dtype=np.bool_)
    return bool(good.sum() >= max(2 * THRESHOLDS.least_searched, 0.5 * len(good)))


def _ask(context: ExperimentContext, branch: Branch, column: int, split: str) -> ProbeQuestions:
    subject, settings = context.subject, context.settings
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
    return ProbeQuestions(questions, np.where(np.concatenate(values) == 1, 1.0, -1.0), depths)
