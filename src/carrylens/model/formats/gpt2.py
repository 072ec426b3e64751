"""GPT-2: state dicts of Hugging Face's `GPT2LMHeadModel` or `GPT2Model`, and of nanoGPT, which has the same names.

Takes  weights under names such as `transformer.h.0.attn.c_attn.weight`, with or without the first word, and the number
       of heads, which they do not show.
Gives  the same weights under our names. Where there is no head of its own, tokens are read out as they are read in.
Never  mistakes one for the other: Hugging Face's matrices (`Conv1D`) are [in, out], nanoGPT's (`Linear`) [out, in],
       which the joint matrix of queries, keys and values shows.
"""

import re
from collections.abc import Mapping

from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.formats.tensor_pile import TensorPile, split_heads

ACT_FN = "gelu_new"
"""Hugging Face's default for GPT-2."""

_PREFIX = re.compile(r"^(_orig_mod\.)?(module\.)?(transformer\.)?")
_MASK = re.compile(r"h\.\d+\.attn\.(bias|masked_bias)")


def fits(state: Mapping[str, Tensor]) -> bool:
    """Whether the names are GPT-2's."""
    return any(_PREFIX.sub("", name) == "h.0.attn.c_attn.weight" for name in state)


def to_canonical(state: Mapping[str, Tensor], n_heads: int | None, source: str) -> dict[str, Tensor]:
    """The weights under our names."""
    short = {_PREFIX.sub("", name): tensor for name, tensor in state.items()}
    pile = TensorPile({name: tensor for name, tensor in short.items() if not _MASK.fullmatch(name)}, source)
    _, d_model = pile.shape("wte.weight", 2)
    d_head = split_heads(d_model, n_heads, source)
    is_conv = _is_conv(pile, d_model)

    def matrix(name: str) -> Tensor:
        found = pile.take(f"{name}.weight", 2)
        return found if is_conv else found.T

    def bias(name: str, size: int) -> Tensor:
        return pile.take(f"{name}.bias", 1) if f"{name}.bias" in pile else embedded.new_zeros(size)

    embedded = pile.take("wte.weight", 2)
    found = {"embed.W_E": embedded, "pos_embed.W_pos": pile.take("wpe.weight", 2)}
    for layer in range(len({name.split(".")[1] for name in short if name.startswith("h.")})):
        theirs, ours = f"h.{layer}", f"blocks.{layer}"
        joint, joint_bias = matrix(f"{theirs}.attn.c_attn"), bias(f"{theirs}.attn.c_attn", 3 * d_model)
        for part, weight, shift in zip("QKV", joint.chunk(3, 1), joint_bias.chunk(3), strict=True):
            found[f"{ours}.attn.W_{part}"] = weight.reshape(d_model, -1, d_head).transpose(0, 1)
            found[f"{ours}.attn.b_{part}"] = shift.reshape(-1, d_head)
        found[f"{ours}.attn.W_O"] = matrix(f"{theirs}.attn.c_proj").reshape(-1, d_head, d_model)
        found[f"{ours}.attn.b_O"] = bias(f"{theirs}.attn.c_proj", d_model)
        for part, name in (("in", "c_fc"), ("out", "c_proj")):
            found[f"{ours}.mlp.W_{part}"] = matrix(f"{theirs}.mlp.{name}")
            found[f"{ours}.mlp.b_{part}"] = bias(f"{theirs}.mlp.{name}", found[f"{ours}.mlp.W_{part}"].shape[1])
        for part, name in (("ln1", "ln_1"), ("ln2", "ln_2")):
            found[f"{ours}.{part}.w"] = pile.take(f"{theirs}.{name}.weight", 1)
            found[f"{ours}.{part}.b"] = bias(f"{theirs}.{name}", d_model)
    found["ln_final.w"], found["ln_final.b"] = pile.take("ln_f.weight", 1), bias("ln_f", d_model)
    found["unembed.W_U"] = (pile.take("lm_head.weight", 2) if "lm_head.weight" in pile else embedded).T
    found["unembed.b_U"] = bias("lm_head", found["unembed.W_U"].shape[1])
    pile.finish("GPT-2")
    return {name: tensor.contiguous() for name, tensor in found.items()}


def _is_conv(pile: TensorPile, d_model: int) -> bool:
    shape = pile.shape("h.0.attn.c_attn.weight", 2)
    if shape not in ((d_model, 3 * d_model), (3 * d_model, d_model)):
        raise CarryLensError(
            f"{pile.source} has h.0.attn.c_attn.weight with shape {list(shape)}, where a model {d_model} wide has "
            f"{[d_model, 3 * d_model]}. Give the weights of one model."
        )
    return shape[0] == d_model
