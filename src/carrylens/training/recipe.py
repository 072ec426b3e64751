"""The recipe: how a model is trained, whatever it is trained on.

Takes  rates, sizes and shares.
Gives  `TrainingRecipe`, and the share of the learning rate in force at any step.
Never  names a task, and never trains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingRecipe:
    """Optimiser, rates, batch and schedule.

    `adam_rate` is AdamW's learning rate; where there is a `muon_rate`, Muon trains the blocks' matrices with that, and
    AdamW the rest. AdamW's weight decay leaves norms and biases out, unless it `decays_all`. The rate rises over the
    `warm_up` share of the steps, stays for the `steady` share, then falls to zero. The trained weights are their mean
    over the `tail` share of the steps. With `silent_start`, heads and MLPs write nothing at first: the matrices by
    which they write start at zero.

    >>> [TrainingRecipe(warm_up=0.5).rate_at(step, 8) for step in (0, 3, 6)]
    [0.25, 1.0, 0.5]
    """

    batch: int = 128
    adam_rate: float = 2e-3
    muon_rate: float | None = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.1
    warm_up: float = 0.05
    cosine: bool = False
    clip: float | None = 1.0
    tail: float = 0.0
    silent_start: bool = False
    steady: float = 0.0
    decays_all: bool = False

    def rate_at(self, step: int, n_steps: int) -> float:
        """The share of the learning rate in force at `step`, counted from 0."""
        warm_up = max(1, int(self.warm_up * n_steps))
        if step < warm_up:
            return (step + 1) / warm_up
        falls_at = warm_up + int(self.steady * n_steps)
        passed = max(0, step - falls_at) / max(1, n_steps - falls_at)
        return 0.5 * (1 + math.cos(math.pi * passed)) if self.cosine else 1 - passed
