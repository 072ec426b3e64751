"""Angles: those between two branches' differences, of their means and of the subspaces they span.

Takes  what turning the carry changes, for every branch.
Gives  `Angle`: |cos| with a bootstrap interval and its null, a ceiling, chance, and the principal angles.
Never  gives a direction length that it does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.axes.card import CARD
from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.discovery.singular_values import singular_values
from carrylens.evidence.rates import Rate

_BOOTSTRAPS = 400
_RANK = 3
_SPANS = 40
Differences = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CarryDifferences:
    """What turning the carry changes in each pair, and what a source of the same carry does: axes pair, d_model.

    `unrelated` are differences of questions that have nothing in common but their carry.
    """

    effect: Differences
    null: Differences
    unrelated: Differences


@dataclass(frozen=True)
class Angle:
    """|cos| of two branches' axes at one digit, its null, the ceiling, and the cosines of all principal angles.

    `chance` is what 95% of unrelated differences stay below. `along` has for each branch how many of its pairs differ
    along the other's axis, beyond chance, and how many sources of the same carry do.
    """

    digit: int
    branches: tuple[Branch, Branch]
    cos: Estimate
    ceiling: float
    principal: tuple[Estimate, ...]
    chance: float
    along: tuple[tuple[Rate, Rate], tuple[Rate, Rate]]

    @property
    def name(self) -> str:
        """Which branches."""
        return f"{self.branches[0].value}-{self.branches[1].value}"


def angles_between(digit: int, turned: Mapping[Branch, CarryDifferences], settings: BatterySettings) -> list[Angle]:
    """The angles between every two branches."""
    spans = {branch: _Spans.of(each, settings.seed_of(CARD.name, branch, digit)) for branch, each in turned.items()}
    found = []
    for one, other in combinations(Branch, 2):
        name, both = f"{one.value}-{other.value} at A{digit}", (turned[one], turned[other])
        chance = max(_chance(*both), _chance(*both[::-1]))
        found.append(
            Angle(
                digit,
                (one, other),
                _cosine(f"|cos| {name}", *both, settings),
                float(np.sqrt(_halves(both[0].effect) * _halves(both[1].effect))),
                _principal(name, spans[one], spans[other], min(len(each.effect) for each in both)),
                chance,
                (_along(*both, chance), _along(*both[::-1], chance)),
            )
        )
    return found


def _cosine(name: str, one: CarryDifferences, other: CarryDifferences, settings: BatterySettings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, name))

    def resampled(rows: Differences) -> Differences:
        picks = random.integers(0, len(rows), (_BOOTSTRAPS, len(rows)))
        return np.stack([rows[pick].mean(0) for pick in picks])

    value = float(_abs_cos(one.effect.mean(0)[None], other.effect.mean(0)[None])[0])
    low, high = np.quantile(_abs_cos(resampled(one.effect), resampled(other.effect)), (0.025, 0.975))
    length = float(np.linalg.norm(other.effect.mean(0)))
    null = _abs_cos(resampled(one.effect), resampled(other.null), length)
    null_low, middle, null_high = (float(each) for each in np.quantile(null, (0.025, 0.5, 0.975)))
    n = min(len(one.effect), len(other.effect))
    return Estimate(name, value, min(value, float(low)), max(value, float(high)), middle, null_low, null_high, n)


def _abs_cos(one: Differences, other: Differences, length: float | None = None) -> NDArray[np.float64]:
    # With a length, that is taken for the other's own.
    own = np.linalg.norm(other, axis=1) if length is None else length
    sizes = np.linalg.norm(one, axis=1) * own
    return np.asarray(np.abs((one * other).sum(1)) / np.maximum(sizes, 1e-12))


def _chance(one: CarryDifferences, other: CarryDifferences) -> float:
    return float(np.quantile(_abs_cos(one.effect.mean(0)[None], other.unrelated), 0.95))


def _halves(rows: Differences) -> float:
    return float(_abs_cos(rows[::2].mean(0)[None], rows[1::2].mean(0)[None])[0])


def _along(one: CarryDifferences, other: CarryDifferences, chance: float) -> tuple[Rate, Rate]:
    # Step 6: pairs of `one` along the axis of `other`, and its sources of the same carry.
    axis, least = other.effect.mean(0)[None], float(np.linalg.norm(one.effect, axis=1).mean())

    def beyond(rows: Differences) -> Rate:
        lengths = np.maximum(np.linalg.norm(rows, axis=1), least)
        cosines = np.abs(rows @ axis[0]) / np.maximum(np.linalg.norm(axis) * lengths, 1e-12)
        return Rate(int((cosines > chance).sum()), len(rows))

    return beyond(one.effect), beyond(one.null)


@dataclass(frozen=True, eq=False)
class _Spans:
    """The largest directions of a branch's differences, and of unrelated ones: of all rows, and of resampled ones."""

    effect: Differences
    unrelated: Differences
    effects: list[Differences]
    unrelateds: list[Differences]

    @classmethod
    def of(cls, turned: CarryDifferences, seed: int) -> _Spans:
        random = np.random.default_rng(seed)

        def again(rows: Differences) -> list[Differences]:
            return [_span(rows[random.integers(0, len(rows), len(rows))]) for _ in range(_SPANS)]

        own, other = turned.effect, turned.unrelated
        return cls(_span(own), _span(other), again(own), again(other))


def _span(rows: Differences) -> Differences:
    # Directions along which nothing but rounding differs are left out.
    _, sizes, directions = singular_values(rows)
    return np.asarray(directions[:_RANK][sizes[:_RANK] > 1e-3 * sizes[0]])


def _principal(name: str, one: _Spans, other: _Spans, n: int) -> tuple[Estimate, ...]:
    # The cosines of all principal angles, largest first; where a resampled span has fewer directions, 0.
    values = _cosines(one.effect, other.effect)
    found = np.array([_cosines(*pair) for pair in zip(one.effects, other.effects, strict=True)])
    nulls = [
        *(_cosines(*pair) for pair in zip(one.effects, other.unrelateds, strict=True)),
        *(_cosines(*pair) for pair in zip(one.unrelateds, other.effects, strict=True)),
    ]
    low, high = np.quantile(found, (0.025, 0.975), axis=0)
    null_low, null, null_high = np.quantile(np.array(nulls), (0.025, 0.5, 0.975), axis=0)
    return tuple(
        Estimate(
            f"cosine of principal angle {at + 1} of {_RANK}, {name}",
            float(values[at]),
            float(min(values[at], low[at])),
            float(max(values[at], high[at])),
            float(null[at]),
            float(null_low[at]),
            float(null_high[at]),
            n,
        )
        for at in range(min(len(one.effect), len(other.effect)))
    )


def _cosines(one: Differences, other: Differences) -> NDArray[np.float64]:
    found = np.zeros(_RANK)
    values = np.linalg.svd(one @ other.T, compute_uv=False)
    found[: len(values)] = np.minimum(values, 1.0)
    return found
