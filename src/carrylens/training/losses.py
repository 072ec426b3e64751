"""Losses: how far a model is from the right answers, for each token of the answer.

Takes  logits at the answer positions and whole sequences.
Gives  negative log likelihoods in float64, on MPS, which has none, in float32; and which questions are answered right.
Never  decodes: with the true answer given, every token's argmax is right exactly when greedy decoding would be.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float, Int
from torch import Tensor


def precision_on(device: torch.device) -> torch.dtype:
    """The finest precision a device has."""
    return torch.float32 if device.type == "mps" else torch.float64


def token_losses(
    logits: Float[Tensor, "batch pos vocab"], tokens: Int[Tensor, "batch n_ctx"]
) -> Float[Tensor, "batch pos"]:
    """The loss of each answer token: sign first, then the digits from the highest."""
    wanted = tokens[:, -logits.shape[1] :]
    precise = logits.to(precision_on(logits.device))
    return F.cross_entropy(precise.flatten(0, 1), wanted.flatten(), reduction="none").view(wanted.shape)


def answered_right(
    logits: Float[Tensor, "batch pos vocab"], tokens: Int[Tensor, "batch n_ctx"]
) -> Bool[Tensor, "batch pos"]:
    """Which answer tokens the model would write."""
    right: Tensor = logits.argmax(-1) == tokens[:, -logits.shape[1] :]
    return right
