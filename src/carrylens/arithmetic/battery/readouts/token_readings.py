"""Token readings: where the unembedding itself reads each token of the answer.

Takes  a subject and questions.
Gives  `TokenReading`: for every place and level how often the token is read, and where it first surely is.
Never  calls a token read that guessing would get as often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.residual_states import lens_logits, level_name, levels_of, read_states
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.readouts.card import CARD
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

LensGrid = tuple[tuple[Rate, ...], ...]
"""Axes place and level."""


@dataclass(frozen=True)
class TokenReading:
    """Where one token of the answer is first surely read in most questions, and how often it is at every place.

    `places` go from D'0 to the token's own, at which it is predicted.
    """

    token: str
    places: tuple[str, ...]
    rates: LensGrid
    nulls: LensGrid
    guess: float
    onset: tuple[str, str] | None
    early: bool

    @property
    def own(self) -> tuple[Rate, ...]:
        """How often it is read at its own place."""
        return self.rates[-1]

    @property
    def null(self) -> tuple[Rate, ...]:
        """The null there."""
        return self.nulls[-1]


def judge_readings(readings: Sequence[TokenReading]) -> Verdict:
    """Every token is read in the last layer of its own place, and in most questions nowhere before."""
    parts = [Verdict.REFUTED if each.early else Verdict.SUPPORTED for each in readings if each.onset]
    return overall([*parts, *(Verdict.INCONCLUSIVE for each in readings if not each.onset)])


def read_tokens(context: ExperimentContext, questions: Questions) -> list[TokenReading]:
    """What the unembedding reads of each token that is not always the same, from D'0 to the token's own place."""
    subject, settings = context.subject, context.settings
    levels = levels_of(subject.last_layer + 1)
    places = tuple(range(subject.position("D'0"), subject.predicting(0) + 1))
    read = lens_logits(subject.model, read_states(subject.model, questions, places, levels)).argmax(-1)
    truth = answer_tokens(questions).astype(np.int64)
    mixed = np.random.default_rng(settings.seed_of(CARD.name, "mixed")).permutation(len(questions))
    found = []
    for token in range(truth.shape[1]):
        commonest = float(np.bincount(truth[:, token]).max() / len(truth))
        if commonest == 1:  # the sign of a sum: what never differs cannot be missed
            continue
        own = subject.position("=") + token - places[0]
        hits, null = (read[:, : own + 1] == each[:, None, None] for each in (truth[:, token], truth[mixed, token]))
        rates, nulls = (
            tuple(tuple(hit_rate(cell.T[at]) for at in range(len(levels))) for cell in h.swapaxes(0, 1))
            for h in (hits, null)
        )
        onset = _onset(rates, nulls, commonest)
        where = None if onset is None else (subject.place(places[onset[0]]), level_name(levels[onset[1]]))
        early = onset is not None and (onset[0] < own or onset[1] < len(levels) - 2)
        name = subject.place(subject.position("=") + 1 + token)
        passed = tuple(subject.place(place) for place in places[: own + 1])
        found.append(TokenReading(name, passed, rates, nulls, commonest, where, early))
    return found


def _onset(rates: LensGrid, nulls: LensGrid, guess: float) -> tuple[int, int] | None:
    cells = sum(map(len, rates))
    for place, row in enumerate(rates):
        for level, rate in enumerate(row):
            apart = Fact("", {}, rate, nulls[place][level]).p * cells <= THRESHOLDS.level
            if rate.interval[0] > max(guess, THRESHOLDS.least_hit) and apart:
                return place, level
    return None
