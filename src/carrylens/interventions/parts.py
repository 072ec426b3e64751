"""Parts: a model's functions, to be called on whichever rows and positions are needed.

Takes  a model.
Gives  for each layer its norms, projections, attention and, if it has one, its MLP, as functions of [batch, pos, ...]
       tensors.
Never  differs from the model but in rounding: a test holds it to that.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from carrylens.model.layers import Normalization
from carrylens.model.transformer import Block, Transformer


class LayerParts:
    """One layer's functions. Heads have axes [batch, pos, head, d_head]."""

    def __init__(self, block: Block) -> None:
        self._block, attention = block, block.attn
        self._heads = attention.b_Q.shape
        self._w_q, self._w_k, self._w_v = (_side_by_side(w) for w in (attention.W_Q, attention.W_K, attention.W_V))
        self._b_q, self._b_k, self._b_v = (b.detach().flatten() for b in (attention.b_Q, attention.b_K, attention.b_V))
        self.w_o = attention.W_O.detach()
        self._w_write, self._b_write = self.w_o.flatten(0, 1).T.contiguous(), attention.b_O.detach()

    def norm_in(self, stream: Tensor, frozen: Tensor | None = None) -> Tensor:
        """What attention reads of the stream; `frozen` is the stream whose scale is used instead of its own."""
        return _norm(self._block.ln1, stream, frozen)

    def norm_mid(self, stream: Tensor, frozen: Tensor | None = None) -> Tensor:
        """What the MLP, which this layer must have, reads of the stream."""
        assert self._block.ln2 is not None
        return _norm(self._block.ln2, stream, frozen)

    def queries(self, read: Tensor) -> Tensor:
        """Every head's query."""
        return F.linear(read, self._w_q, self._b_q).view(*read.shape[:-1], *self._heads)

    def keys(self, read: Tensor) -> Tensor:
        """Every head's key."""
        return F.linear(read, self._w_k, self._b_k).view(*read.shape[:-1], *self._heads)

    def values(self, read: Tensor) -> Tensor:
        """Every head's value."""
        return F.linear(read, self._w_v, self._b_v).view(*read.shape[:-1], *self._heads)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """What each head brings home: its values, weighted by how well their keys fit its query.

        Keys and values have axes [batch, head, pos, d_head]: so every head's are together and none is copied. At these
        sizes plain products are faster than the fused kernel.
        """
        n_rows, n_queries, heads, d_head = q.shape
        flat = q.transpose(1, 2).reshape(-1, n_queries, d_head)
        wide = mask.expand(len(flat), *mask.shape)
        scores = torch.baddbmm(wide, flat, k.flatten(0, 1).transpose(1, 2), alpha=d_head**-0.5)
        z = torch.bmm(scores.softmax(-1), v.flatten(0, 1))
        return z.view(n_rows, heads, n_queries, d_head).transpose(1, 2)

    def write(self, z: Tensor) -> Tensor:
        """What all heads together add to the stream."""
        return F.linear(z.flatten(2), self._w_write, self._b_write)

    def think(self, read: Tensor) -> Tensor:
        """What the MLP, which this layer must have, adds to the stream."""
        mlp = self._block.mlp
        assert mlp is not None
        return F.linear(mlp.act_in_place(F.linear(read, mlp.W_in.T, mlp.b_in)), mlp.W_out.T, mlp.b_out)


class Parts:
    """A model's functions."""

    def __init__(self, model: Transformer) -> None:
        self.config, self._model = model.config, model
        self.layers = [LayerParts(block) for block in model.blocks if isinstance(block, Block)]
        self.dtype, self.device = model.unembed.W_U.dtype, model.unembed.W_U.device
        end = self.config.reads.stop
        self.mask = torch.full((end, end), -torch.inf, dtype=self.dtype, device=self.device).triu(1)

    def enter(self, tokens: Tensor) -> Tensor:
        """The stream before the first layer."""
        return F.embedding(tokens, self._model.embed.W_E) + self._model.pos_embed.W_pos[: tokens.shape[1]]

    def logits(self, stream: Tensor, frozen: Tensor | None = None) -> Tensor:
        """The score of each token, read from the stream; `frozen` is the stream whose scale is used."""
        out: Tensor = self._model.unembed(_norm(self._model.ln_final, stream, frozen))
        return out


def take(tensor: Tensor, rows: Tensor, positions: Tensor) -> Tensor:
    """`tensor[rows][:, positions]` in one copy."""
    flat = (rows[:, None] * tensor.shape[1] + positions).flatten()
    return tensor.flatten(0, 1).index_select(0, flat).view(len(rows), len(positions), *tensor.shape[2:])


def by_head(heads: Tensor) -> Tensor:
    """Keys or values with the head's axis before the position's."""
    return heads.transpose(1, 2).contiguous()


def _side_by_side(weight: Tensor) -> Tensor:
    return weight.detach().transpose(1, 2).flatten(0, 1).contiguous()


def _norm(norm: Normalization, stream: Tensor, frozen: Tensor | None) -> Tensor:
    return norm.fused(stream) if frozen is None else norm.scaled_as(stream, frozen)
