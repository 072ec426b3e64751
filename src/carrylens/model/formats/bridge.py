"""Bridge: what `state_dict` of a `TransformerBridge` (TransformerLens 3.x and 4.x) has.

Takes  weights under names such as `blocks.0.attn.q.weight`, heads side by side, of a bridge that TransformerLens made
       itself (`boot_native`) or put around a GPT-2 of Hugging Face, and the number of heads.
Gives  the same weights under our names.
Never  guesses which way a matrix is to be applied: a GPT-2's output matrices lie the other way round than a native
       bridge's, which the MLP shows.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.formats.tensor_pile import TensorPile, split_heads

ACT_FN = "relu"
"""The library's default; a bridge around GPT-2 has gelu_new."""


def fits(state: Mapping[str, Tensor]) -> bool:
    """Whether the names are a bridge's."""
    return "blocks.0.attn.q.weight" in state


def to_canonical(state: Mapping[str, Tensor], n_heads: int | None, source: str) -> dict[str, Tensor]:
    """The weights under our names."""
    pile = TensorPile(state, source)
    n_layers = len({name.split(".")[1] for name in state if name.startswith("blocks.")})
    width, d_model = pile.shape("blocks.0.attn.q.weight", 2)
    d_head = split_heads(width, n_heads, source)
    is_gpt2 = _is_around_gpt2(pile, d_model)

    def turned(matrix: Tensor) -> Tensor:
        return matrix if is_gpt2 else matrix.T

    found = {"embed.W_E": pile.take("embed.weight", 2), "pos_embed.W_pos": pile.take("pos_embed.weight", 2)}
    for layer in range(n_layers):
        block, attn = f"blocks.{layer}", f"blocks.{layer}.attn"
        for part in "qkv":
            rows = pile.take(f"{attn}.{part}.weight", 2).reshape(-1, d_head, d_model)
            found[f"{attn}.W_{part.upper()}"] = rows.transpose(1, 2)
            found[f"{attn}.b_{part.upper()}"] = pile.take(f"{attn}.{part}.bias", 1).reshape(-1, d_head)
        found[f"{attn}.W_O"] = turned(pile.take(f"{attn}.o.weight", 2)).reshape(-1, d_head, d_model)
        found[f"{attn}.b_O"] = pile.take(f"{attn}.o.bias", 1)
        for part in ("in", "out"):
            if f"{block}.mlp.{part}.weight" in pile:
                found[f"{block}.mlp.W_{part}"] = turned(pile.take(f"{block}.mlp.{part}.weight", 2))
                found[f"{block}.mlp.b_{part}"] = pile.take(f"{block}.mlp.{part}.bias", 1)
    for norm in [name.removesuffix(".weight") for name in pile if ".ln" in name or name.startswith("ln_final")]:
        if f"{norm}.weight" in pile:
            found[f"{norm}.w"], found[f"{norm}.b"] = pile.take(f"{norm}.weight", 1), pile.take(f"{norm}.bias", 1)
    found["unembed.W_U"] = pile.take("unembed.weight", 2).T
    n_out = found["unembed.W_U"].shape[1]
    found["unembed.b_U"] = pile.take("unembed.bias", 1) if "unembed.bias" in pile else torch.zeros(n_out)
    pile.finish("a bridge around GPT-2 or of TransformerLens's own")
    return {name: tensor.contiguous() for name, tensor in found.items()}


def _is_around_gpt2(pile: TensorPile, d_model: int) -> bool:
    if "blocks.0.mlp.in.weight" not in pile:
        return False  # GPT-2 always has MLPs
    rows, columns = pile.shape("blocks.0.mlp.in.weight", 2)
    if rows == columns:
        raise CarryLensError(
            f"{pile.source} has MLPs as wide as the model, which do not show which way its matrices lie. "
            "Save dict(bridge.tl_named_parameters()) instead."
        )
    return rows == d_model
