"""Curve fits: how steep a curve between 0 and 1 is, and whether it is a step.

Takes  curves over the shares of the way from base to source.
Gives  `CurveFit`: threshold, width and slope of each, and whether it is a step rather than a straight line.
Never  scores a fit on the shares it was made on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHARES = np.linspace(0, 1, 11)
_SLOPES = np.concatenate([[0.01], np.geomspace(1, 64, 31)])
_AT_ONCE = 256  # curves held against every shape: more would fill the memory
_THRESHOLDS = np.linspace(0, 1, 41)
LINE_WIDTH = 0.8
"""From 10% to 90% of a straight line."""
_LEAST_SIZE = 0.5  # of the carry's own change, for a change along the permuted direction to be called a step of it
Curves = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CurveFit:
    """For each curve where it crosses one half, how much of the way it takes from 10% to 90%, and if it is a step.

    `slope` is the steepest, a line's being 1; `gain` the line's squared error on the other shares less the curve's.
    """

    threshold: NDArray[np.float64]
    width: NDArray[np.float64]
    slope: NDArray[np.float64]
    gain: NDArray[np.float64]
    is_step: NDArray[np.bool_]


def fit_curves(curves: Curves) -> CurveFit:
    """Fit every curve, [curve, share], which goes from 0 to 1, on every other share, and score it on the others."""
    slopes, thresholds = (grid.ravel() for grid in np.meshgrid(_SLOPES, _THRESHOLDS))
    shapes = _shape(SHARES[None], slopes[:, None], thresholds[:, None])
    fitted, held = slice(0, None, 2), slice(1, None, 2)
    best = np.zeros(len(curves), dtype=np.int64)
    for at in range(0, len(curves), _AT_ONCE):
        some = curves[at : at + _AT_ONCE, None, fitted]
        best[at : at + _AT_ONCE] = ((some - shapes[None, :, fitted]) ** 2).sum(-1).argmin(1)
    ours = ((curves[:, held] - shapes[best][:, held]) ** 2).sum(-1)
    line = ((curves[:, held] - SHARES[held]) ** 2).sum(-1)
    fine = np.linspace(0, 1, 401)
    drawn = _shape(fine[None], slopes[best][:, None], thresholds[best][:, None])
    low, half, high = (fine[(drawn >= level).argmax(1)] for level in (0.1, 0.5, 0.9))
    width, steepest = high - low, np.diff(drawn, axis=1).max(1) / (fine[1] - fine[0])
    gain = (line - ours) / len(SHARES[held])
    return CurveFit(half, width, steepest, gain, (width < LINE_WIDTH / 2) & (gain > 0))


def _shape(share: NDArray[np.float64], slope: NDArray[np.float64], threshold: NDArray[np.float64]) -> Curves:
    # A logistic curve, made to go through (0, 0) and (1, 1); with no slope it is the straight line.
    def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / (1 + np.exp(-np.clip(x, -500, 500)))

    start, end = logistic(slope * (0 - threshold)), logistic(slope * (1 - threshold))
    return np.asarray((logistic(slope * (share - threshold)) - start) / (end - start))


def stray_steps(curves: Curves) -> NDArray[np.bool_]:
    """Which curves of a null, in units of the effect's change, go at least half of it, and by a step of their own."""
    end = curves[:, -1:]
    large = end[:, 0] >= _LEAST_SIZE
    return np.asarray(large & fit_curves(curves / np.where(large[:, None], end, 1.0)).is_step)
