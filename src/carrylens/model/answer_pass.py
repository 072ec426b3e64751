"""The answer pass: the same function as the transformer, computed only where outputs are read, and as fast as we can.

Takes  a `Transformer` and sequences that reach to the last position whose logits are read.
Gives  the logits at the positions that `config.reads` names; gradients flow through it.
Never  differs from `Transformer.forward` but in rounding: a test holds it to that.

What is saved, step by step:
1. No later component reads a position after the last one whose logits are read, so none is run.
2. Before layer 0 a position's state depends on its token alone: with few tokens these are few vectors a position,
   normalised and projected once for the whole batch, then looked up.
3. The last layer's queries, attention and MLP are computed only at the positions whose logits are read.
4. Many sequences begin alike: among 16,384 questions the first three digits are one of a thousand. Keys and values of
   such beginnings are computed once (`many_answer_logits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float, Int
from torch import Tensor

from carrylens.model.pieces import in_pieces
from carrylens.model.transformer import Block, Transformer

_FEW = 8  # rows that have a beginning in common, on average, for it to be worth keeping
_MOST_STATES = 8192  # tokens times positions; a table of more would cost more than it saves


def answer_logits(model: Transformer, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos vocab"]:
    """The logits at the positions that are read, in their order."""
    return _AnswerPass(model).logits(tokens)


@torch.inference_mode()
def many_answer_logits(model: Transformer, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos vocab"]:
    """The same for as many sequences as there are, without gradients."""
    run = _AnswerPass(model)
    if not shared_places(model, tokens):
        return in_pieces(run.logits, tokens)
    rows, which, places = _beginnings(tokens, run.first)
    return in_pieces(partial(run.logits_after, in_pieces(run.past, tokens[rows, :places])), tokens, which)


def shared_places(model: Transformer, tokens: Tensor) -> int:
    """How many first places are computed only once for all sequences that have them in common."""
    return _beginnings(tokens, model.config.reads.start)[2] if model.config.n_layers > 1 else 0


def _beginnings(tokens: Tensor, most: int) -> tuple[Tensor, Tensor, int]:
    # The longest beginnings, up to `most` places, of which there are few: a row that has each of them, which of them
    # each row has, and how many places they have.
    every, key = torch.arange(len(tokens), device=tokens.device), torch.zeros_like(tokens[:, 0])
    best = (every[:1], torch.zeros_like(every), 0)
    for places in range(1, most + 1):
        key = key * (1 + int(tokens.max())) + tokens[:, places - 1]
        distinct, which = torch.unique(key, return_inverse=True)
        if len(distinct) * _FEW > len(tokens):
            break
        best = (torch.zeros_like(distinct).scatter(0, which, every), which, places)
        key = which  # as good as the key, and small
    return best


class _AnswerPass:
    """A model's weights, laid out for the pass, and the pass itself."""

    def __init__(self, model: Transformer) -> None:
        config = model.config
        self.first, self._end = config.reads.start, config.reads.stop
        self._layers = [_Layer(block) for block in model.blocks if isinstance(block, Block)]
        is_small = self._end * config.d_vocab <= _MOST_STATES
        self._entry = (_Table if is_small else _Embedding)(model, self._end, self._layers[0])
        self._mask = model.embed.W_E.new_full((self._end, self._end), -torch.inf).triu(1)
        self._norm, self._w_u, self._b_u = model.ln_final, model.unembed.W_U.T, model.unembed.b_U

    def logits(self, tokens: Tensor) -> Tensor:
        """The logits at the positions that are read."""
        return self._logits(tokens, [None] * len(self._layers), 0)

    def past(self, beginnings: Tensor) -> Tensor:
        """Keys and values of all layers but the first: [sequence, layer, keys or values, head, pos, d_head]."""
        rows = self._entry.rows(beginnings)
        stream, kept = self._entry.stream(rows, 0), []
        for number, layer in enumerate(self._layers):
            q, kv = self._project(number, rows, stream, 0)
            kept.append(kv.movedim(0, 1))
            if number < len(self._layers) - 1:
                stream = layer.leave(stream, q, kv, self._mask[: rows.shape[1], : rows.shape[1]])
        return torch.stack(kept[1:], 1)

    def logits_after(self, past: Tensor, tokens: Tensor, which: Tensor) -> Tensor:
        """The logits of sequences of which each begins as row `which` of `past` does."""
        return self._logits(tokens, [None, *past[which].movedim(0, 2).unbind(0)], past.shape[-2])

    def _logits(self, tokens: Tensor, past: Sequence[Tensor | None], start: int) -> Tensor:
        rows = self._entry.rows(tokens[:, : self._end])
        stream = self._entry.stream(rows, start)
        for number, layer in enumerate(self._layers):
            first = self.first if number == len(self._layers) - 1 else start  # step 3
            q, kv = self._project(number, rows, stream, first - start)
            known = past[number]
            kv = kv if known is None else torch.cat([known, kv], 3)
            stream = layer.leave(stream[:, first - start :], q, kv, self._mask[first:])
        return F.linear(self._norm.fused(stream), self._w_u, self._b_u)

    def _project(self, number: int, rows: Tensor, stream: Tensor, skipped: int) -> tuple[Tensor, Tensor]:
        # Queries [sequence, pos, head * d_head], and keys and values [keys or values, sequence, head, pos, d_head].
        if number:
            q, kv = self._layers[number].project(stream, skipped)
        else:
            q, kv = self._entry.project(rows, rows.shape[1] - stream.shape[1] + skipped)
        return q, self._layers[number].by_head(kv)


class _Table:
    """What enters layer 0, and what it projects that to, looked up by token and position: step 2."""

    def __init__(self, model: Transformer, end: int, layer: _Layer) -> None:
        states = model.pos_embed.W_pos[:end, None] + model.embed.W_E[None]
        self._states = states.flatten(0, 1)  # [pos * vocab, d_model]
        n_tokens = model.config.d_vocab
        self._offsets = torch.arange(0, end * n_tokens, n_tokens, device=self._states.device)
        self._looked_up = layer.project(self._states, 0)

    def rows(self, tokens: Tensor) -> Tensor:
        """Where each token of each position stands in the table."""
        return tokens + self._offsets[: tokens.shape[1]]

    def stream(self, rows: Tensor, start: int) -> Tensor:
        """The stream before layer 0 from position `start` on."""
        return F.embedding(rows[:, start:], self._states)

    def project(self, rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Layer 0's queries from position `first` on; its keys and values, side by side, of all."""
        return F.embedding(rows[:, first:], self._looked_up[0]), F.embedding(rows, self._looked_up[1])


class _Embedding:
    """The same without a table, for a large vocabulary; the rows are the tokens themselves."""

    def __init__(self, model: Transformer, end: int, layer: _Layer) -> None:
        self._tokens, self._places, self._layer = model.embed.W_E, model.pos_embed.W_pos[:end], layer

    def rows(self, tokens: Tensor) -> Tensor:
        """The tokens."""
        return tokens

    def stream(self, rows: Tensor, start: int) -> Tensor:
        """The stream before layer 0 from position `start` on."""
        return F.embedding(rows[:, start:], self._tokens) + self._places[start : rows.shape[1]]

    def project(self, rows: Tensor, first: int) -> tuple[Tensor, Tensor]:
        """Layer 0's queries from position `first` on; its keys and values, side by side, of all."""
        return self._layer.project(self.stream(rows, 0), first)


class _Layer:
    """One layer's weights, heads side by side, and what it does."""

    def __init__(self, block: Block) -> None:
        attention = block.attn
        self._block, (self._heads, self._d_head) = block, attention.b_Q.shape
        q, k, v = (w.transpose(1, 2).flatten(0, 1) for w in (attention.W_Q, attention.W_K, attention.W_V))
        self._w_q, self._w_kv = q, torch.cat([k, v])
        self._b_q, self._b_kv = attention.b_Q.flatten(), torch.cat([attention.b_K.flatten(), attention.b_V.flatten()])
        self._w_o = attention.W_O.flatten(0, 1).T

    def project(self, stream: Tensor, skipped: int) -> tuple[Tensor, Tensor]:
        """Queries of all but the first `skipped` positions; keys and values, side by side, of all."""
        read = self._block.ln1.fused(stream)
        return F.linear(read[..., skipped:, :], self._w_q, self._b_q), F.linear(read, self._w_kv, self._b_kv)

    def by_head(self, kv: Tensor) -> Tensor:
        """Keys and values with axes [keys or values, sequence, head, pos, d_head], each head's together."""
        return kv.view(*kv.shape[:2], 2, self._heads, self._d_head).permute(2, 0, 3, 1, 4).contiguous()

    def leave(self, stream: Tensor, q: Tensor, kv: Tensor, mask: Tensor) -> Tensor:
        """The stream after this layer."""
        norm, mlp = self._block.ln2, self._block.mlp
        stream = stream + F.linear(self._attend(q, kv, mask), self._w_o, self._block.attn.b_O)
        if norm is None or mlp is None:
            return stream
        act = mlp.act if torch.is_grad_enabled() else mlp.act_in_place
        hidden = act(F.linear(norm.fused(stream), mlp.W_in.T, mlp.b_in))
        return stream + F.linear(hidden, mlp.W_out.T, mlp.b_out)

    def _attend(self, q: Tensor, kv: Tensor, mask: Tensor) -> Tensor:
        # At these sizes plain products are as fast as the fused kernel, and their gradients twice as fast.
        q = q.view(*q.shape[:2], self._heads, self._d_head).transpose(1, 2)
        k, v = kv.flatten(1, 2)
        wide = mask.expand(len(k), *mask.shape)
        scores = torch.baddbmm(wide, q.flatten(0, 1), k.transpose(1, 2), alpha=self._d_head**-0.5)
        z = torch.bmm(scores.softmax(-1), v).view(q.shape)
        return z.transpose(1, 2).flatten(2)
