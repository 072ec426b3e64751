"""Layers: the parts a transformer is built from.

Takes  activations with axes [batch, pos, d_model] and the `Tap` of the pass.
Gives  each part's output, with every value on the way shown to the tap.
Never  decides what a pass computes: `transformer.py` puts the parts in order.

Weights have TransformerLens's names and axes: heads come first, and a matrix is applied from the right: x @ W + b,
which is `F.linear(x, W.T, b)`, one kernel where the other form takes two.
In the formulas b is batch, p, q and k are positions, h is a head, d is d_model and e is d_head.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float, Int
from torch import Tensor, nn

from carrylens.model.config import ModelConfig
from carrylens.model.hooks import Tap

EVERYWHERE = slice(None)

Elementwise = Callable[[Tensor], Tensor]


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


_ACTIVATIONS: dict[str, tuple[Elementwise, Elementwise]] = {
    "relu": (F.relu, F.relu_),
    "gelu": (F.gelu, F.gelu),
    "gelu_new": (_gelu_tanh, _gelu_tanh),
    "gelu_fast": (_gelu_tanh, _gelu_tanh),
}
"""Each activation function, and the same where its input may be overwritten."""


def _parameter(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.zeros(shape))


class Embed(nn.Module):
    """A vector for each token."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_E = _parameter(config.d_vocab, config.d_model)

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_model"]:
        """The vector of every token."""
        return F.embedding(tokens, self.W_E)


class PosEmbed(nn.Module):
    """A vector for each position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_pos = _parameter(config.n_ctx, config.d_model)

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos d_model"]:
        """The vector of every position, the same for all questions."""
        return self.W_pos[: tokens.shape[1]].expand(*tokens.shape, -1)


class LayerNorm(nn.Module):
    """Centre each vector, divide it by its standard deviation, then stretch and shift it, if it has weights to."""

    w: Tensor | None
    b: Tensor | None

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.eps, self._shape = config.eps, (config.d_model,)
        has_weights = config.normalization == "LN"
        self.w = nn.Parameter(torch.ones(config.d_model)) if has_weights else None
        self.b = _parameter(config.d_model) if has_weights else None

    def forward(self, x: Float[Tensor, "batch pos d_model"], tap: Tap) -> Float[Tensor, "batch pos d_model"]:
        """The normalised vectors."""
        if not tap.watched:
            return self.fused(x)
        x = x - x.mean(-1, keepdim=True)
        scale = tap("hook_scale", (x.pow(2).mean(-1, keepdim=True) + self.eps).sqrt())
        return tap("hook_normalized", self._stretched(x / scale))

    def fused(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """The same values from one kernel, four times as fast to train."""
        return F.layer_norm(x, self._shape, self.w, self.b, self.eps)

    def scaled_as(
        self, x: Float[Tensor, "*batch d_model"], other: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """The vectors divided by the standard deviation of others instead of their own."""
        scale = (other.var(-1, correction=0, keepdim=True) + self.eps).sqrt()
        return self._stretched((x - x.mean(-1, keepdim=True)) / scale)

    def _stretched(self, x: Tensor) -> Tensor:
        return x if self.w is None or self.b is None else x * self.w + self.b


class Unnormalized(nn.Module):
    """What stands in a LayerNorm's place in a model without: vectors go through as they are."""

    def forward(self, x: Float[Tensor, "batch pos d_model"], tap: Tap) -> Float[Tensor, "batch pos d_model"]:  # noqa: ARG002
        """The vectors."""
        return x

    def fused(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """The vectors."""
        return x

    def scaled_as(
        self,
        x: Float[Tensor, "*batch d_model"],
        other: Float[Tensor, "*batch d_model"],  # noqa: ARG002
    ) -> Float[Tensor, "*batch d_model"]:
        """The vectors: there is no scale."""
        return x


Normalization = LayerNorm | Unnormalized


def make_norm(config: ModelConfig) -> Normalization:
    """The norm that the config calls for."""
    return Unnormalized() if config.normalization == "none" else LayerNorm(config)


class Attention(nn.Module):
    """Each head looks back from every position, and brings home what it finds there."""

    ahead: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        heads, d_model, d_head = config.n_heads, config.d_model, config.d_head
        self.W_Q, self.W_K, self.W_V = (_parameter(heads, d_model, d_head) for _ in range(3))
        self.b_Q, self.b_K, self.b_V = (_parameter(heads, d_head) for _ in range(3))
        self.W_O = _parameter(heads, d_head, d_model)
        self.b_O = _parameter(d_model)
        ahead = torch.ones(config.n_ctx, config.n_ctx, dtype=torch.bool).triu(1)
        self.register_buffer("ahead", ahead, persistent=False)

    def forward(
        self, x: Float[Tensor, "batch pos d_model"], tap: Tap, at: slice | Tensor = EVERYWHERE
    ) -> Float[Tensor, "batch pos d_model"]:
        """What all heads together write at the positions `at`, having looked at every position before them."""
        q = tap("hook_q", _project(x[:, at], self.W_Q, self.b_Q))
        k = tap("hook_k", _project(x, self.W_K, self.b_K))
        v = tap("hook_v", _project(x, self.W_V, self.b_V))
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / q.shape[-1] ** 0.5
        n_pos = x.shape[1]
        scores = tap("hook_attn_scores", scores.masked_fill(self.ahead[:n_pos, :n_pos][at], -torch.inf))
        pattern = tap("hook_pattern", _softmax(scores, tap))
        z = tap("hook_z", torch.einsum("bhqk,bkhe->bqhe", pattern, v))
        if tap.wants("hook_result"):
            return tap("hook_result", torch.einsum("bphe,hed->bphd", z, self.W_O)).sum(2) + self.b_O
        return F.linear(z.flatten(2), self.W_O.flatten(0, 1).T, self.b_O)


class MLP(nn.Module):
    """One hidden layer of neurons, the same at every position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.act, self.act_in_place = _ACTIVATIONS[config.act_fn]
        self.W_in = _parameter(config.d_model, config.d_mlp)
        self.b_in = _parameter(config.d_mlp)
        self.W_out = _parameter(config.d_mlp, config.d_model)
        self.b_out = _parameter(config.d_model)

    def forward(self, x: Float[Tensor, "batch pos d_model"], tap: Tap) -> Float[Tensor, "batch pos d_model"]:
        """What the neurons write."""
        pre = tap("hook_pre", F.linear(x, self.W_in.T, self.b_in))
        post = tap("hook_post", self.act(pre))
        return F.linear(post, self.W_out.T, self.b_out)


class Unembed(nn.Module):
    """A score for each token that could come next."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.W_U = _parameter(config.d_model, config.d_vocab_out)
        self.b_U = _parameter(config.d_vocab_out)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos vocab"]:
        """The logits."""
        return F.linear(x, self.W_U.T, self.b_U)


def _project(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    # einsum("bpd,hde->bphe", x, weight) + bias, with all heads side by side in one matrix
    all_heads = weight.transpose(1, 2).flatten(0, 1)
    return F.linear(x, all_heads, bias.flatten()).view(*x.shape[:2], *bias.shape)


def _softmax(scores: Tensor, tap: Tap) -> Tensor:
    pattern = scores.softmax(-1)
    if not tap.watched:
        return pattern
    # A hook may have closed every position to a query, which then attends to nothing.
    return pattern.masked_fill(scores.isneginf().all(-1, keepdim=True), 0.0)
