"""Losses: how far a model is from the right outputs, for each of them.

Takes  logits at the positions that are read, and the ids of the right outputs.
Gives  negative log likelihoods in float64, on MPS, which has none, in float32; and which outputs are right.
Never  decodes: with the true outputs fed back, every argmax is right exactly when greedy decoding would be.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float, Int
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.tasks.layout import Layout


def precision_on(device: torch.device) -> torch.dtype:
    """The finest precision a device has."""
    return torch.float32 if device.type == "mps" else torch.float64


def output_logits(logits: Float[Tensor, "batch pos vocab"], layout: Layout) -> Float[Tensor, "batch output vocab"]:
    """Of the logits at the positions that are read, those at which an output is predicted, in their order."""
    reads, positions = layout.reads, layout.read_positions
    if logits.shape[1] != len(reads):
        raise CarryLensError(
            f"The model is read at {logits.shape[1]} positions, but the task's outputs stand at {len(reads)}. "
            "Give the model a config for this task."
        )
    return logits if len(positions) == len(reads) else logits[:, [at - reads.start for at in positions]]


def token_losses(
    logits: Float[Tensor, "batch output vocab"], wanted: Int[Tensor, "batch output"]
) -> Float[Tensor, "batch output"]:
    """The loss of each output, in the order in which they are predicted."""
    precise = logits.to(precision_on(logits.device))
    return F.cross_entropy(precise.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)


def answered_right(
    logits: Float[Tensor, "batch output vocab"], wanted: Int[Tensor, "batch output"]
) -> Bool[Tensor, "batch output"]:
    """Which outputs the model would put out."""
    right: Tensor = logits.argmax(-1) == wanted
    return right
