"""Insertion: putting a trained addition model inside a larger mixed one.

Takes  the two models, and whether the inserted layers and heads come first or last.
Gives  the mixed model with every weight of the addition model copied to its place.
Never  forgets one: embeddings, positions, attention in and out, MLPs, all norms and the unembedding are copied.

Afterwards, by kind: ins1 trains on from there; ins2 puts the inserted heads back every 100 steps, ins3 the heads
and MLPs.
"""

from __future__ import annotations

from enum import Enum

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer

RESET_STEPS = 100
_HEAD_WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V")


class Placement(Enum):
    """Which layers and heads of the larger model the smaller one takes."""

    EARLY = "early"
    LATE = "late"


@torch.no_grad()
def insert(larger: Transformer, smaller: Transformer, placement: Placement = Placement.EARLY) -> None:
    """Copy every weight of `smaller` into `larger`."""
    check_fits(larger, smaller)
    state, source = larger.state_dict(), smaller.state_dict()
    for name, tensor in source.items():
        target = _target(name, larger, smaller, placement)
        _slot(state[target], tensor, placement).copy_(tensor)


@torch.no_grad()
def put_back(larger: Transformer, smaller: Transformer, insertion: int, placement: Placement = Placement.EARLY) -> None:
    """Put the inserted heads (ins2), or heads and MLPs (ins3), back to what they were in `smaller`."""
    state, source = larger.state_dict(), smaller.state_dict()
    for name, tensor in source.items():
        is_head = ".attn." in name and name.rsplit(".", 1)[1] in _HEAD_WEIGHTS
        if is_head or (insertion == 3 and ".mlp." in name):
            _slot(state[_target(name, larger, smaller, placement)], tensor, placement).copy_(tensor)


def check_fits(larger: Transformer, smaller: Transformer) -> None:
    """Raise a clear error unless the smaller model has a place inside the larger one."""
    big, small = larger.config, smaller.config
    alike = ("n_ctx", "reads", "d_vocab", "d_vocab_out", "d_model", "d_head", "d_mlp", "act_fn", "normalization", "eps")
    wrong = [name for name in alike if getattr(big, name) != getattr(small, name)]
    wrong += [name for name in ("n_layers", "n_heads") if getattr(big, name) < getattr(small, name)]
    if wrong:
        pairs = ", ".join(f"{name} {getattr(small, name)} into {getattr(big, name)}" for name in wrong)
        raise CarryLensError(
            f"The model to insert does not fit: {pairs}. "
            "Give one with the same layout and width, and no more layers or heads."
        )


def _target(name: str, larger: Transformer, smaller: Transformer, placement: Placement) -> str:
    if not name.startswith("blocks."):
        return name
    _, layer, rest = name.split(".", 2)
    shift = larger.config.n_layers - smaller.config.n_layers if placement is Placement.LATE else 0
    return f"blocks.{int(layer) + shift}.{rest}"


def _slot(target: Tensor, tensor: Tensor, placement: Placement) -> Tensor:
    # Only weights that have heads as their first axis may be smaller than their place.
    if target.shape == tensor.shape:
        return target
    return target[-len(tensor) :] if placement is Placement.LATE else target[: len(tensor)]
