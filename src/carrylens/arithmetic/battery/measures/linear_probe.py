"""Linear probe: the ridge regression of a carry on states.

Takes  states with labels -1 and 1.
Gives  `LinearProbe`: a direction and an offset; which states it reads rightly.
Never  scores by itself: who fits it says on what.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.measures.hit_rates import Hits

_RIDGE = 1e-3
CarryLabels = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """A linear map from a state to a number that is positive where the carry is 1."""

    weights: NDArray[np.float64]
    offset: float

    def scores(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probe's number for each state."""
        return np.asarray(states @ self.weights + self.offset)

    def right(self, states: NDArray[np.float64], labels: CarryLabels) -> Hits:
        """Which states it reads rightly."""
        return np.asarray((self.scores(states) > 0) == (labels > 0))


def fit_probe(states: NDArray[np.float64], labels: CarryLabels) -> LinearProbe:
    """The ridge regression of labels -1 and 1 on states."""
    mean = states.mean(0)
    centred = states - mean
    gram = centred.T @ centred
    gram += np.eye(len(gram)) * max(_RIDGE * np.trace(gram) / len(gram), 1e-9)
    weights = np.linalg.solve(gram, centred.T @ (labels - labels.mean()))
    return LinearProbe(weights, float(labels.mean() - mean @ weights))
