"""Thresholds: the best one that a method of role scores can have, chosen on models that are not scored.

Takes  what a method found on models of the `dev` split, and their truths.
Gives  the threshold at which the harmonic mean of precision and recall by role is highest, all models together.
Never  sees a model of the `test` split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.match_counts import summed
from carrylens.benchmark.method_interface import Found
from carrylens.benchmark.scores import score_roles
from carrylens.tasks.causal import CausalModel

_TRIED = 41


@dataclass(frozen=True, eq=False)
class DevScores:
    """What a method scored on one model of the dev split, and what is true of it."""

    found: Found
    truth: KnownTruth
    causal: CausalModel


@dataclass(frozen=True)
class Threshold:
    """A threshold, and the harmonic mean of precision and recall that it reaches on the dev split."""

    value: float
    balance: float


def choose_threshold(dev: Sequence[DevScores]) -> Threshold:
    """The best of thresholds between the quantiles of all scores, the lowest of equals."""
    scores = np.concatenate([np.fromiter(each.found.role_scores.values(), dtype=np.float64) for each in dev])
    positive = scores[scores > 0]
    steps = np.unique(np.quantile(positive, np.linspace(0.0, 1.0, _TRIED)).round(6)) if len(positive) else np.ones(1)
    tried = (steps[1:] + steps[:-1]) / 2 if len(steps) > 1 else steps  # between scores, where rounding cannot decide
    best = max(tried, key=lambda each: (_balance(dev, float(each)), -each))
    return Threshold(float(best), _balance(dev, float(best)))


def _balance(dev: Sequence[DevScores], threshold: float) -> float:
    results = [score_roles(each.truth, each.causal, each.found.above(threshold)) for each in dev]
    roles = summed(each.roles for each in results)
    return 2 * roles.n_both / max(1, roles.n_true + roles.n_found)
