"""The interchange pass: a forward pass in which nodes take what they write from other rows of the batch.

Takes  a model, tokens, and for every row and node the slot that it takes its write from.
Gives  the logits at the positions that are read, and every node's write; gradients flow through both.
Never  differs from a pass under hooks but in rounding: a test holds it to the engine that runs interventions.

A slot is another row of the same batch, so many rows further down. A head writes a linear function of what it mixes
from the values (`z`), so taking over `z` is taking over the write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Int
from torch import Tensor

from carrylens.model.layers import MLP, Attention
from carrylens.model.transformer import Block, Transformer

OWN = -1
"""Stands for: the node writes what it computes."""
MEAN = -2
"""Stands for: the node writes its mean over the batch."""


@dataclass(frozen=True, eq=False)
class PassWrites:
    """What all nodes wrote: for each layer what heads mixed, [batch, pos, head, d_head], and what the MLP wrote."""

    heads: tuple[Tensor, ...]
    mlps: tuple[Tensor | None, ...]


class Replacing(Protocol):
    """Anything that replaces writes on their way."""

    def replaced(self, own: Tensor, layer: int, first: int, *, is_mlp: bool = False) -> Tensor:
        """What a layer's heads, or its MLP, write at the positions from `first` on, in place of `own`."""
        ...


@dataclass(frozen=True, eq=False)
class Sources:
    """Where nodes take their writes from: `slots` names, for every row and node, a slot, OWN or MEAN.

    Slot s of a row is the row that is `offsets[s]` further down, whose nodes wrote `writes`. A component is a head, or
    after all heads the MLP.
    """

    writes: PassWrites
    slots: Int[Tensor, "batch pos layer component"]
    offsets: tuple[int, ...]

    def replaced(self, own: Tensor, layer: int, first: int, *, is_mlp: bool = False) -> Tensor:
        """What a layer's heads, or its MLP, write at the positions from `first` on."""
        kept = self.writes.mlps[layer] if is_mlp else self.writes.heads[layer]
        assert kept is not None
        slots = self.slots[:, first : first + own.shape[1], layer]
        return _taken(own, kept, slots[..., -1] if is_mlp else slots[..., : own.shape[2]], self.offsets)


def clean_pass(model: Transformer, tokens: Int[Tensor, "batch pos"]) -> tuple[Tensor, PassWrites]:
    """The logits where outputs are read, and all writes, in which nothing is replaced."""
    return _pass(model, tokens, None)


def interchange_pass(
    model: Transformer,
    tokens: Int[Tensor, "batch pos"],
    sources: Sources,
) -> Tensor:
    """The logits where outputs are read, once every node took its write from where `sources` says."""
    return _pass(model, tokens, sources)[0]


def replacing_pass(model: Transformer, tokens: Int[Tensor, "batch pos"], replacing: Replacing) -> Tensor:
    """The logits where outputs are read, once every layer's writes were replaced by what `replacing` gives."""
    return _pass(model, tokens, replacing)[0]


def _pass(model: Transformer, tokens: Tensor, sources: Replacing | None) -> tuple[Tensor, PassWrites]:
    reads = model.config.reads
    tokens = tokens[:, : reads.stop]
    stream = model.embed(tokens) + model.pos_embed(tokens)
    ahead = stream.new_full((tokens.shape[1], tokens.shape[1]), -torch.inf).triu(1)
    heads, mlps = list[Tensor](), list[Tensor | None]()
    for layer, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        first = reads.start if layer == model.config.n_layers - 1 else 0
        z = _mixed(block.attn, block.ln1.fused(stream), ahead[first:], first)
        heads.append(z if sources is None else sources.replaced(z, layer, first))
        written = F.linear(heads[-1].flatten(2), block.attn.W_O.flatten(0, 1).T, block.attn.b_O)
        stream = stream[:, first:] + written
        mlps.append(None)
        if block.mlp is not None and block.ln2 is not None:
            write = neurons(block.mlp, block.ln2.fused(stream))
            mlps[-1] = write if sources is None else sources.replaced(write, layer, first, is_mlp=True)
            stream = stream + mlps[-1]
    return model.unembed(model.ln_final.fused(stream)), PassWrites(tuple(heads), tuple(mlps))


def neurons(mlp: MLP, x: Tensor) -> Tensor:
    """What an MLP writes for normalised vectors, of any leading axes."""
    return F.linear(mlp.act(F.linear(x, mlp.W_in.T, mlp.b_in)), mlp.W_out.T, mlp.b_out)


def _mixed(attention: Attention, x: Tensor, mask: Tensor, first: int) -> Tensor:
    # What each head mixes from the values, at positions from `first` on: [batch, pos, head, d_head].
    n_heads, d_head = attention.b_Q.shape
    q = split_heads(x[:, first:], attention.W_Q, attention.b_Q).flatten(0, 1)
    k = split_heads(x, attention.W_K, attention.b_K).flatten(0, 1)
    v = split_heads(x, attention.W_V, attention.b_V).flatten(0, 1)
    wide = mask.expand(len(x) * n_heads, *mask.shape)
    scores = torch.baddbmm(wide, q, k.transpose(1, 2), alpha=d_head**-0.5)
    z = torch.bmm(scores.softmax(-1), v)
    return z.view(len(x), n_heads, -1, d_head).transpose(1, 2)


def split_heads(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Vectors projected for every head: [batch, head, pos, d_head]."""
    projected = F.linear(x, weight.transpose(1, 2).flatten(0, 1), bias.flatten())
    return projected.view(*x.shape[:2], *bias.shape).transpose(1, 2)


def _taken(own: Tensor, kept: Tensor, slots: Tensor, offsets: Sequence[int]) -> Tensor:
    # `slots` has the axes of a write but the last: the slot that each node of each row takes its write from.
    slots = slots.unsqueeze(-1)
    for slot, offset in enumerate(offsets):
        own = torch.where(slots == slot, kept.roll(-offset, 0), own)
    return torch.where(slots == MEAN, kept.mean(0, keepdim=True), own)
