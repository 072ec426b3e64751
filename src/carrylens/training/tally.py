"""The tally: losses added up between two notes of a run.

Takes  the losses of one batch after another.
Gives  their mean, and the mean of each output under each of the task's conditions.
Never  keeps a gradient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import torch
from jaxtyping import Float, Int
from torch import Tensor

from carrylens.training.batches import NO_CONDITION


class LossTally:
    """Losses since the last note, by the name of the condition that the questions meet."""

    def __init__(self, conditions: Sequence[str]) -> None:
        self._places: dict[str | None, int] = {name: place for place, name in enumerate(conditions)}
        self._places[None] = NO_CONDITION
        self._batches: dict[str | None, list[Tensor]] = {name: [] for name in self._places}
        self._also: dict[str, list[Tensor]] = {}

    def add(
        self,
        losses: Float[Tensor, "batch output"],
        condition: Int[Tensor, " batch"],
        also: Mapping[str, Tensor] = MappingProxyType({}),
    ) -> None:
        """Count one batch; `also` are other losses, by name."""
        for what, some in also.items():
            self._also.setdefault(what, []).append(some.mean())
        for name, place in self._places.items():
            rows = condition == place
            if bool(rows.any()):
                self._batches[name].append(losses[rows])

    def line(self) -> dict[str, object]:
        """Mean loss, and the mean loss of each output by condition."""
        every = torch.cat([losses for batches in self._batches.values() for losses in batches])
        by_condition = {
            name: [float(f"{value:.3g}") for value in torch.cat(batches).mean(0).tolist()]
            for name, batches in self._batches.items()
            if batches and name is not None
        }
        also = {name: _rounded(torch.stack(some).mean()) for name, some in self._also.items()}
        return {"loss": _rounded(every.mean()), "token_losses": by_condition, **also}


def _rounded(loss: Tensor) -> float:
    return float(f"{float(loss):.4g}")
