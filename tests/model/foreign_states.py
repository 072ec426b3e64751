"""The same weights under the names that others give them, and passes written from others' definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from carrylens.model import Transformer

State = dict[str, Tensor]


def as_bridge(model: Transformer, around_gpt2: bool = False) -> State:
    """What the state dict of a `TransformerBridge` has: made by TransformerLens itself, or put around a GPT-2."""
    found: State = {}
    for name, tensor in model.state_dict().items():
        part, kind = name.rsplit(".", 1)
        if kind in ("w", "b"):
            found[f"{part}.{'weight' if kind == 'w' else 'bias'}"] = tensor
        elif kind in ("W_E", "W_pos"):
            found[f"{part}.weight"] = tensor
        elif part == "unembed":
            found["unembed.weight" if kind == "W_U" else "unembed.bias"] = tensor.T if kind == "W_U" else tensor
        else:
            letter, which = kind.split("_")
            inner = f"{part}.{which.lower()}.{'weight' if letter == 'W' else 'bias'}"
            if letter == "b":
                found[inner] = tensor.flatten()
            elif which in "QKV":
                found[inner] = tensor.transpose(1, 2).flatten(0, 1)
            else:
                flat = tensor.flatten(0, 1) if which == "O" else tensor
                found[inner] = flat if around_gpt2 else flat.T
    return {name: tensor.clone() for name, tensor in found.items()}


def random_gpt2(n_layers: int = 2, width: int = 12, n_ctx: int = 9, n_tokens: int = 7, tied: bool = False) -> State:
    """A GPT-2 as Hugging Face saves it, every weight random."""
    shapes: dict[str, tuple[int, ...]] = {"wte.weight": (n_tokens, width), "wpe.weight": (n_ctx, width)}
    for layer in range(n_layers):
        matrices = {"attn.c_attn": 3 * width, "attn.c_proj": width, "mlp.c_fc": 4 * width}
        for name, size in matrices.items():
            shapes |= {f"h.{layer}.{name}.weight": (width, size), f"h.{layer}.{name}.bias": (size,)}
        shapes |= {f"h.{layer}.mlp.c_proj.weight": (4 * width, width), f"h.{layer}.mlp.c_proj.bias": (width,)}
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"h.{layer}.{norm}.weight": (width,), f"h.{layer}.{norm}.bias": (width,)}
    shapes |= {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    generator = torch.Generator().manual_seed(2)
    state = {
        f"transformer.{name}": 0.5 * torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in shapes.items()
    }
    head = torch.randn(n_tokens, width, generator=generator, dtype=torch.float64)
    return state if tied else state | {"lm_head.weight": head}


def gpt2_logits(state: Mapping[str, Tensor], tokens: Tensor, n_heads: int) -> Tensor:
    """GPT-2 from its definition, one sequence [pos] at a time: x @ weight + bias, tanh GELU, causal attention."""
    w = {name.removeprefix("transformer."): tensor for name, tensor in state.items()}

    def norm(x: Tensor, name: str) -> Tensor:
        x = x - x.mean(-1, keepdim=True)
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][tokens] + w["wpe.weight"][: len(tokens)]
    for layer in range(sum(name.endswith("ln_1.weight") for name in w)):
        q, k, v = linear(norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn").chunk(3, -1)
        size, heads = q.shape[-1] // n_heads, []
        for head in range(n_heads):
            own = slice(head * size, (head + 1) * size)
            scores = q[:, own] @ k[:, own].T / math.sqrt(size)
            seen = torch.ones_like(scores).tril().bool()
            heads.append(scores.where(seen, torch.tensor(-torch.inf)).softmax(-1) @ v[:, own])
        x = x + linear(torch.cat(heads, -1), f"h.{layer}.attn.c_proj")
        inner = linear(norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        inner = 0.5 * inner * (1 + torch.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))
        x = x + linear(inner, f"h.{layer}.mlp.c_proj")
    return norm(x, "ln_f") @ w.get("lm_head.weight", w["wte.weight"]).T
