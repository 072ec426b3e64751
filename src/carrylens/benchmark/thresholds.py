"""Thresholds: the best one that a scoring method can have, found on training circuits.

Takes  the scores of a method on training circuits, and their truths.
Gives  the threshold at which the harmonic mean of precision and recall by role is highest, all circuits together.
Never  sees a circuit that is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.method_result import Found, Scored
from carrylens.benchmark.scores import score, total
from carrylens.tasks.causal import CausalModel

_TRIED = 41


@dataclass(frozen=True, eq=False)
class Lesson:
    """One training circuit: what a method scored, and what is true."""

    scored: Scored
    truth: Truth
    causal: CausalModel


@dataclass(frozen=True)
class Threshold:
    """A threshold, and what it reaches on the training circuits."""

    value: float
    balance: float


def choose_threshold(lessons: Sequence[Lesson]) -> Threshold:
    """The best of thresholds between the quantiles of all scores, the lowest of equals."""
    scores = np.concatenate([np.fromiter(lesson.scored.scores.values(), dtype=np.float64) for lesson in lessons])
    positive = scores[scores > 0]
    steps = np.unique(np.quantile(positive, np.linspace(0.0, 1.0, _TRIED)).round(6)) if len(positive) else np.ones(1)
    tried = (steps[1:] + steps[:-1]) / 2 if len(steps) > 1 else steps  # between scores, where rounding cannot decide
    best = max(tried, key=lambda each: (_balance(lessons, float(each)), -each))
    return Threshold(float(best), _balance(lessons, float(best)))


def _balance(lessons: Sequence[Lesson], threshold: float) -> float:
    found: list[Found] = [lesson.scored.above(threshold) for lesson in lessons]
    results = [score(lesson.truth, lesson.causal, each) for lesson, each in zip(lessons, found, strict=True)]
    roles = total([each.roles for each in results])
    return 2 * roles.n_both / max(1, roles.n_true + roles.n_found)
