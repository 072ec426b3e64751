"""The answer pass: the same function as the transformer, computed only where an answer is read, and as fast as we can.

Takes  a `Transformer` and whole sequences, question and answer.
Gives  the logits at the n+2 positions where the answer's tokens are predicted; gradients flow through it.
Never  differs from `Transformer.forward` but in rounding: a test holds it to that.

What is saved, step by step:
1. The last position predicts nothing, so it is not run.
2. Before layer 0 a position's state depends on its token alone: 15 vectors a position, normalised and projected once
   for the whole batch, then looked up.
3. The last layer's queries, attention and MLP are computed at the n+2 answer positions only.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float, Int
from torch import Tensor

from carrylens.model.layers import Attention, LayerNorm
from carrylens.model.transformer import Block, Transformer


def answer_logits(model: Transformer, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos vocab"]:
    """The logits of the sign and of every answer digit, in the order they are written."""
    config = model.config
    first, end = 2 * config.digits + 1, config.n_ctx - 1
    table = (model.pos_embed.W_pos[:end, None] + model.embed.W_E[None]).flatten(0, 1)  # step 2: [pos * vocab, d_model]
    rows = tokens[:, :end] + torch.arange(0, end * config.d_vocab, config.d_vocab, device=tokens.device)
    mask = torch.full((end, end), -torch.inf, dtype=table.dtype, device=table.device).triu(1)
    resid = F.embedding(rows, table)
    for layer, block in enumerate(model.blocks):
        assert isinstance(block, Block)
        start = first if layer == config.n_layers - 1 else 0  # step 3
        if layer == 0:
            projected = [F.embedding(rows, part) for part in _project(block.attn, _norm(block.ln1, table))]
            projected[0] = projected[0][:, start:]
        else:
            normalized = _norm(block.ln1, resid)
            projected = _project(block.attn, normalized, start)
        resid = resid[:, start:] + _attend(block.attn, projected, mask[start:])
        resid = resid + _think(block, _norm(block.ln2, resid))
    return F.linear(_norm(model.ln_final, resid), model.unembed.W_U.T, model.unembed.b_U)


def _norm(norm: LayerNorm, x: Tensor) -> Tensor:
    return F.layer_norm(x, norm.w.shape, norm.w, norm.b, norm.eps)


def _project(attention: Attention, x: Tensor, start: int = 0) -> list[Tensor]:
    # Queries (from position `start` on), keys and values, heads side by side in the last axis.
    weights = [weight.transpose(1, 2).flatten(0, 1) for weight in (attention.W_Q, attention.W_K, attention.W_V)]
    biases = [bias.flatten() for bias in (attention.b_Q, attention.b_K, attention.b_V)]
    if not start:
        return list(F.linear(x, torch.cat(weights), torch.cat(biases)).chunk(3, dim=-1))
    queries = F.linear(x[:, start:], weights[0], biases[0])
    return [queries, *F.linear(x, torch.cat(weights[1:]), torch.cat(biases[1:])).chunk(2, dim=-1)]


def _attend(attention: Attention, projected: list[Tensor], mask: Tensor) -> Tensor:
    heads, d_head = attention.b_Q.shape
    q, k, v = (part.view(*part.shape[:2], heads, d_head).transpose(1, 2) for part in projected)
    z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(z.transpose(1, 2).flatten(2), attention.W_O.flatten(0, 1).T, attention.b_O)


def _think(block: Block, x: Tensor) -> Tensor:
    mlp = block.mlp
    return F.linear(F.relu(F.linear(x, mlp.W_in.T, mlp.b_in), inplace=True), mlp.W_out.T, mlp.b_out)
