"""Tail averaging: the mean of the weights over the last steps, which is steadier than the last weights themselves.

Takes  a model after every step of the tail.
Gives  the mean of its weights, and its own state as named tensors.
Never  changes a weight before the end.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer


class TailAverage:
    """The running mean over the last `share` of `n_steps` steps; with a share of 0 there is none."""

    def __init__(self, share: float, n_steps: int) -> None:
        self._first = n_steps - int(share * n_steps)
        self._means: dict[str, Tensor] = {}

    @torch.no_grad()
    def add(self, model: Transformer, step: int) -> None:
        """Count the weights after `step` steps."""
        if step <= self._first:
            return
        for name, weight in model.named_parameters():
            if name not in self._means:
                self._means[name] = weight.detach().clone()
            else:
                self._means[name].lerp_(weight, 1 / (step - self._first))

    def apply(self, model: Transformer) -> None:
        """Give the model the mean of its weights."""
        if self._means:
            model.load_state_dict(self._means)

    def state(self) -> dict[str, Tensor]:
        """All that must be kept to go on later as if nothing had happened."""
        return {f"tail.{name}": mean for name, mean in self._means.items()}

    def load_state(self, kept: Mapping[str, Tensor], model: Transformer, step: int) -> None:
        """Go on from what `state` gave after `step` steps."""
        named = dict(model.named_parameters())
        self._means = {name: kept[key].to(weight) for name, weight in named.items() if (key := f"tail.{name}") in kept}
        if len(self._means) != (len(named) if step > self._first else 0):
            raise CarryLensError("The checkpoint's averages are not those of this recipe. Train anew with --restart.")
