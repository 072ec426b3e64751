"""Averages: means in which every circuit counts once, with bootstrap intervals over circuits.

Takes  values with the circuit that each belongs to; or stated confidences with what is true.
Gives  `Averaged`: a mean and its 95% interval; Brier score and calibration error of stated confidences.
Never  counts the rotations of one circuit as several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

_RESAMPLES, _SEED, _BINS = 1000, 0, 10


class Averaged(msgspec.Struct, frozen=True):
    """A mean over circuits, its bootstrap interval, how many circuits. Of one circuit no interval is known: 0 to 1."""

    value: float
    low: float
    high: float
    n: int


class Reliability(msgspec.Struct, frozen=True):
    """How far stated confidences can be relied on.

    Brier: the mean of (stated - true)^2. Calibration error: in ten bins of stated confidence, the mean distance between
    what is stated and the share that is true, weighed by the number of roles in the bin.
    """

    n: int
    brier: Averaged
    calibration_error: Averaged
    mean_stated: float
    share_true: float


StatedCase = tuple[str, float, bool]
"""A circuit, a stated confidence, and whether the role is true."""


def averaged(values: Iterable[tuple[str, float | None]]) -> Averaged | None:
    """The mean of values with each circuit counting once; None where there is no value."""
    by_circuit: dict[str, list[float]] = {}
    for circuit, value in values:
        if value is not None:
            by_circuit.setdefault(circuit, []).append(value)
    means = np.array([np.mean(some) for some in by_circuit.values()])
    if not len(means):
        return None
    return _with_interval(float(means.mean()), len(means), lambda chosen: means[chosen].mean(1).tolist())


def reliability_of(cases: Sequence[StatedCase]) -> Reliability | None:
    """Brier score and calibration error, with intervals over circuits; None of no case."""
    if not cases:
        return None
    circuits = sorted({circuit for circuit, _, _ in cases})
    stated, true = (np.array([case[at] for case in cases], dtype=np.float64) for at in (1, 2))
    rows = [np.flatnonzero([case[0] == circuit for case in cases]) for circuit in circuits]

    def over(measure: Callable[[NDArray[np.float64], NDArray[np.float64]], float]) -> Averaged:
        def again(chosen: NDArray[np.intp]) -> list[float]:
            some = (np.concatenate([rows[at] for at in each]) for each in chosen)
            return [measure(stated[each], true[each]) for each in some]

        return _with_interval(measure(stated, true), len(circuits), again)

    return Reliability(len(cases), over(brier), over(calibration_error), float(stated.mean()), float(true.mean()))


def brier(stated: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    """The mean squared distance of what is stated from what is true.

    >>> brier(np.array([0.9, 0.6]), np.array([1.0, 0.0]))
    0.185
    """
    return float(np.mean((stated - true) ** 2))


def calibration_error(stated: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    """The expected calibration error in ten bins of equal width.

    >>> round(calibration_error(np.array([0.95, 0.95, 0.55, 0.55]), np.array([1.0, 1.0, 1.0, 0.0])), 4)
    0.05
    """
    bins = np.minimum((stated * _BINS).astype(np.int64), _BINS - 1)
    gaps = [abs(float((stated - true)[bins == each].sum())) for each in range(_BINS)]
    return sum(gaps) / len(stated)


def _with_interval(value: float, n: int, again: Callable[[NDArray[np.intp]], list[float]]) -> Averaged:
    # `again` gives the figure for every row of circuits drawn with replacement.
    if n == 1:
        return Averaged(value, 0.0, 1.0, 1)
    tried = again(np.random.default_rng(_SEED).integers(0, n, (_RESAMPLES, n)))
    low, high = np.quantile(tried, [0.025, 0.975])
    return Averaged(value, min(value, float(low)), max(value, float(high)), n)
