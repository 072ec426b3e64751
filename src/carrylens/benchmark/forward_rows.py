"""Forward rows: how many rows a model was run on, whoever ran it.

Takes  a model.
Gives  a copy of it that counts the rows of which logits are computed, by plain passes and by edited ones.
Never  changes what is computed, or says where the model was read from: its truth may lie there.

An edited pass may compute a part of the layers only; it counts as a row all the same. Gradients are not counted.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from threading import Lock

from torch import Tensor, nn

from carrylens.model.transformer import Transformer


@dataclass
class RowMeter:
    """How many rows were run so far."""

    rows: int = 0
    lock: Lock = field(default_factory=Lock, repr=False)

    def note(self, _module: nn.Module, inputs: tuple[Tensor, ...], _logits: Tensor) -> None:
        """Count what goes through the unembedding."""
        with self.lock:
            self.rows += len(inputs[0])


def metered_copy(model: Transformer) -> tuple[Transformer, RowMeter]:
    """A copy of the model, and how many rows it was run on."""
    meter, twin = RowMeter(), copy.deepcopy(model)
    twin.task, twin.given = model.task, None
    twin.unembed.register_forward_hook(meter.note)
    return twin, meter
