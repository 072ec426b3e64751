"""Thresholds: the best one that a method of role scores can have, chosen on models that are not scored.

Takes  what a method found on models of the `dev` split, and their truths.
Gives  the threshold at which the harmonic mean of precision and recall by role is highest, all models together.
Never  sees a model of the `test` split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.benchmark.known_truth import KnownTruth
from carrylens.benchmark.match_counts import MatchCounts, match_counts, summed
from carrylens.benchmark.method_interface import Found, NodeRole
from carrylens.benchmark.scores import RoleUnit, said_unit, true_units
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
    settled = [_Settled.of(each) for each in dev]
    best = max(tried, key=lambda each: (_balance(settled, float(each)), -each))
    return Threshold(float(best), _balance(settled, float(best)))


@dataclass(frozen=True, eq=False)
class _Settled:
    """What each score would be counted as, worked out once for all thresholds."""

    true: set[RoleUnit]
    said: list[tuple[float, RoleUnit]]

    @classmethod
    def of(cls, dev: DevScores) -> _Settled:
        found = [(math.inf, role) for role in dev.found.node_roles]  # roles without a score are there at any threshold
        found += [(score, NodeRole(*at)) for at, score in dev.found.role_scores.items()]
        units = ((score, said_unit(dev.truth, dev.causal, role)) for score, role in found)
        return cls(true_units(dev.truth, dev.causal), [(score, unit) for score, unit in units if unit is not None])

    def counts(self, threshold: float) -> MatchCounts:
        return match_counts(self.true, {unit for score, unit in self.said if score >= threshold})


def _balance(dev: Sequence[_Settled], threshold: float) -> float:
    roles = summed(each.counts(threshold) for each in dev)
    return 2 * roles.n_both / max(1, roles.n_true + roles.n_found)
