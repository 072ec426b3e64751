"""Thresholds: the best one that a scoring method can have, chosen on training circuits.

Takes  the scores of a method on training circuits, and their truths.
Gives  the threshold at which the harmonic mean of precision and recall by role is highest, all circuits together.
Never  sees a circuit that is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.benchmark.comparison import summed
from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.method_interface import NodeScores
from carrylens.benchmark.scores import score_report
from carrylens.tasks.causal import CausalModel

_TRIED = 41


@dataclass(frozen=True, eq=False)
class TrainingScores:
    """What a method scored on one training circuit, and what is true of it."""

    scored: NodeScores
    truth: KnownTruth
    causal: CausalModel


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the harmonic mean of precision and recall that it reaches on the training circuits."""

    value: float
    balance: float


def choose_threshold(training: Sequence[TrainingScores]) -> Threshold:
    """The best of thresholds between the quantiles of all scores, the lowest of equals."""
    scores = np.concatenate([np.fromiter(each.scored.scores.values(), dtype=np.float64) for each in training])
    positive = scores[scores > 0]
    steps = np.unique(np.quantile(positive, np.linspace(0.0, 1.0, _TRIED)).round(6)) if len(positive) else np.ones(1)
    tried = (steps[1:] + steps[:-1]) / 2 if len(steps) > 1 else steps  # between scores, where rounding cannot decide
    best = max(tried, key=lambda each: (_balance(training, float(each)), -each))
    return Threshold(float(best), _balance(training, float(best)))


def _balance(training: Sequence[TrainingScores], threshold: float) -> float:
    results = [score_report(each.truth, each.causal, each.scored.above(threshold)) for each in training]
    roles = summed(each.roles for each in results)
    return 2 * roles.n_both / max(1, roles.n_true + roles.n_found)
