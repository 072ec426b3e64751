"""The split pass: a pass in which every reader of the residual stream has an input of its own.

Takes  a model, what enters its first layer, and what each reader is to read besides the stream.
Gives  what every head and MLP writes, and the logits; differentiable.
Never  differs from the model's own pass in more than rounding where nothing is added.

Readers of layer `l` are its heads' queries, keys and values, its MLP; then the logits. Senders are the embedding
(number 0), then for each layer its heads and its MLP. What a reader reads besides the stream has axes
[batch, pos, d_model], for heads [3, batch, pos, head, d_model].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from carrylens.model.hooks import UNWATCHED
from carrylens.model.transformer import Block, Transformer

Extra = Callable[[str, list[Tensor]], Tensor | None]
"""From a reader (`L0heads`, `L0MLP`, `logits`) and all writes so far to what it reads besides; None for nothing."""


@dataclass(frozen=True, eq=False)
class SplitPass:
    """What was written, sender by sender, each with axes [batch, pos, d_model], and the logits that came of it."""

    writes: list[Tensor]
    logits: Tensor


@dataclass(frozen=True)
class Reader:
    """One reader: its name, the layer's key for `Extra`, which of q, k, v and which head; and who can send to it."""

    name: str
    key: str
    part: tuple[int, int] | None
    n_senders: int


@dataclass(frozen=True, eq=False)
class SplitModel:
    """A model whose readers are told apart."""

    model: Transformer
    blocks: list[Block] = field(init=False)

    def __post_init__(self) -> None:
        blocks = [block for block in self.model.blocks if isinstance(block, Block)]
        object.__setattr__(self, "blocks", blocks)

    @property
    def senders(self) -> list[tuple[int, int | None] | None]:
        """For each sender its layer and head (None for an MLP); the embedding, which comes first, is None."""
        config = self.model.config
        heads: list[int | None] = [*range(config.n_heads), *([None] if config.has_mlp else [])]
        return [None, *((layer, head) for layer in range(config.n_layers) for head in heads)]

    def readers(self) -> Iterator[Reader]:
        """Every reader, in the order of a pass."""
        config, sent = self.model.config, 1
        for layer in range(config.n_layers):
            for head in range(config.n_heads):
                for at, letter in enumerate("qkv"):
                    yield Reader(f"L{layer}H{head}.{letter}", f"L{layer}heads", (at, head), sent)
            sent += config.n_heads
            if config.has_mlp:
                yield Reader(f"L{layer}MLP", f"L{layer}MLP", None, sent)
                sent += 1
        yield Reader("logits", "logits", None, sent)

    def embed(self, ids: Tensor) -> Tensor:
        """What enters the first layer."""
        entered: Tensor = self.model.embed(ids) + self.model.pos_embed(ids)
        return entered

    def run(self, entered: Tensor, extra: Extra | None = None) -> SplitPass:
        """The pass from what enters the first layer."""
        writes, stream = [entered], entered
        for layer, block in enumerate(self.blocks):
            added = extra(f"L{layer}heads", writes) if extra else None
            heads = _heads(block, stream, added)
            writes += list(heads.unbind(2))
            stream = stream + heads.sum(2) + block.attn.b_O
            if block.mlp is not None and block.ln2 is not None:
                added = extra(f"L{layer}MLP", writes) if extra else None
                read = stream if added is None else stream + added
                writes.append(block.mlp(block.ln2(read, UNWATCHED), UNWATCHED))
                stream = stream + writes[-1]
        added = extra("logits", writes) if extra else None
        last = stream if added is None else stream + added
        return SplitPass(writes, self.model.unembed(self.model.ln_final(last, UNWATCHED)))


def _heads(block: Block, stream: Tensor, added: Tensor | None) -> Tensor:
    # What each head writes, axes [batch, pos, head, d_model]; `added` has axes [3, batch, pos, head, d_model].
    attention, n_pos = block.attn, stream.shape[1]
    weights = (attention.W_Q, attention.b_Q), (attention.W_K, attention.b_K), (attention.W_V, attention.b_V)
    if added is None:
        read = block.ln1(stream, UNWATCHED)
        q, k, v = (torch.einsum("bpd,hde->bphe", read, w) + b for w, b in weights)
    else:
        apart = block.ln1((stream[None, :, :, None] + added).flatten(0, 1), UNWATCHED).view(added.shape)
        q, k, v = (torch.einsum("bphd,hde->bphe", own, w) + b for own, (w, b) in zip(apart, weights, strict=True))
    scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / q.shape[-1] ** 0.5
    pattern = scores.masked_fill(attention.ahead[:n_pos, :n_pos], -torch.inf).softmax(-1)
    z = torch.einsum("bhqk,bkhe->bqhe", pattern, v)
    return torch.einsum("bphe,hed->bphd", z, attention.W_O)
