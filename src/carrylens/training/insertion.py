"""Insertion: putting a trained model inside a larger one before it is trained.

Takes  the two models, whether the inserted layers and heads come first or last, and what is put back later.
Gives  the larger model with every weight of the smaller one copied to its place.
Never  forgets one: embeddings, positions, attention in and out, MLPs, all norms and the unembedding are copied.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer
from carrylens.model.weights import hash_of

RESET_STEPS = 100
"""After how many steps what is put back is put back again."""
_HEAD_WEIGHTS = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K", "b_V")
_MAY_DIFFER = ("n_layers", "n_heads", "seed")


class Placement(Enum):
    """Which layers and heads of the larger model the smaller one takes."""

    EARLY = "early"
    LATE = "late"


class Restored(Enum):
    """What of the inserted model is put back every RESET_STEPS steps."""

    NOTHING = "nothing"
    HEADS = "heads"
    HEADS_AND_MLPS = "heads and MLPs"


@dataclass(frozen=True)
class Insertion:
    """A trained model to start from; `source` is what it is called."""

    model: Transformer
    source: str | None = None
    placement: Placement = Placement.EARLY
    restored: Restored = Restored.NOTHING

    @cached_property
    def identity(self) -> dict[str, object]:
        """What tells this insertion from others. Names are not enough: two models may have the same."""
        where = {"inserted_from": self.source, "placement": self.placement.value}
        return {**where, "inserted_sha256": hash_of(self.model)}


@torch.no_grad()
def insert(larger: Transformer, smaller: Transformer, placement: Placement = Placement.EARLY) -> None:
    """Copy every weight of `smaller` into `larger`."""
    check_fits(larger, smaller)
    state, source = larger.state_dict(), smaller.state_dict()
    for name, tensor in source.items():
        target = _target(name, larger, smaller, placement)
        _slot(state[target], tensor, placement).copy_(tensor)


@torch.no_grad()
def put_back(
    larger: Transformer, smaller: Transformer, restored: Restored, placement: Placement = Placement.EARLY
) -> None:
    """Put the inserted heads, or heads and MLPs, back to what they were in `smaller`."""
    if restored is Restored.NOTHING:
        return
    state, source = larger.state_dict(), smaller.state_dict()
    for name, tensor in source.items():
        is_head = ".attn." in name and name.rsplit(".", 1)[1] in _HEAD_WEIGHTS
        if is_head or (restored is Restored.HEADS_AND_MLPS and ".mlp." in name):
            _slot(state[_target(name, larger, smaller, placement)], tensor, placement).copy_(tensor)


def check_fits(larger: Transformer, smaller: Transformer) -> None:
    """Raise a clear error unless the smaller model has a place inside the larger one."""
    big, small = larger.config, smaller.config
    alike = [field.name for field in fields(big) if field.name not in _MAY_DIFFER]
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
