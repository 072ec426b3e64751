"""Weights: what tensors a config calls for, and whether these are they.

Takes  a state dict (a name and a tensor for each weight) from anywhere.
Gives  a model that holds it, or one clear line about what does not fit.
Never  reads a file, and never loads weights it has not checked.
"""

import hashlib
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer

# Masks that TransformerLens saves beside the weights; the config says all they say.
MASKS = ("attn.mask", "attn.IGNORE")


def weight_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The name and the shape of every weight, as TransformerLens has them."""
    heads, d_model, d_head, d_mlp = config.n_heads, config.d_model, config.d_head, config.d_mlp
    yield "embed.W_E", (config.d_vocab, d_model)
    yield "pos_embed.W_pos", (config.n_ctx, d_model)
    for layer in range(config.n_layers):
        block = f"blocks.{layer}"
        for norm in ("ln1", "ln2") if config.has_mlp else ("ln1",):
            yield from _norm_shapes(f"{block}.{norm}", config)
        for name in "QKV":
            yield f"{block}.attn.W_{name}", (heads, d_model, d_head)
            yield f"{block}.attn.b_{name}", (heads, d_head)
        yield f"{block}.attn.W_O", (heads, d_head, d_model)
        yield f"{block}.attn.b_O", (d_model,)
        if config.has_mlp:
            yield f"{block}.mlp.W_in", (d_model, d_mlp)
            yield f"{block}.mlp.b_in", (d_mlp,)
            yield f"{block}.mlp.W_out", (d_mlp, d_model)
            yield f"{block}.mlp.b_out", (d_model,)
    yield from _norm_shapes("ln_final", config)
    yield "unembed.W_U", (d_model, config.d_vocab_out)
    yield "unembed.b_U", (config.d_vocab_out,)


def _norm_shapes(name: str, config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    if config.normalization == "LN":
        yield f"{name}.w", (config.d_model,)
        yield f"{name}.b", (config.d_model,)


def model_from_weights(config: ModelConfig, state: Mapping[str, Tensor], source: str) -> Transformer:
    """A model with copies of these weights, in their precision; `source` is what an error calls them."""
    state = without_masks(state)
    check_weights(config, state, source)
    model = Transformer(config).to(next(iter(state.values())).dtype)
    model.load_state_dict(state)
    return model


def check_weights(config: ModelConfig, state: Mapping[str, Tensor], source: str) -> None:
    """Refuse weights that are not exactly those the config calls for, all finite and in one precision."""
    expected = set()
    for name, shape in weight_shapes(config):
        if name not in state:
            raise CarryLensError(f"{source} lacks the weight {name}. Give the weights of the model in the config.")
        if (given := tuple(state[name].shape)) != shape:
            raise CarryLensError(
                f"{source} has {name} with shape {list(given)}, where the config expects {list(shape)}. "
                "Give the config these weights were saved with."
            )
        _check_numbers(name, state[name], source)
        expected.add(name)
    if unknown := sorted(state.keys() - expected):
        raise CarryLensError(f"{source} has {unknown[0]}, a weight this model does not have. Give its own config.")
    if len(precisions := {tensor.dtype for tensor in state.values()}) > 1:
        raise CarryLensError(f"{source} mixes {' and '.join(sorted(map(str, precisions)))}. Save it in one precision.")


def infer_config(
    state: Mapping[str, Tensor],
    reads: range | None = None,
    *,
    act_fn: str = "relu",
    normalization: str | None = None,
    eps: float = 1e-5,
    seed: int = 0,
    source: str = "The state dict",
) -> ModelConfig:
    """The config whose shapes these weights have. What they cannot show is an argument; no `reads` are all positions.

    Weights without LayerNorm's are taken to be of a model without: give "LNPre" where they were folded into others.
    """
    d_vocab, _ = _shape_of("embed.W_E", state, 2, source)
    n_ctx, d_model = _shape_of("pos_embed.W_pos", state, 2, source)
    n_heads, _, d_head = _shape_of("blocks.0.attn.W_Q", state, 3, source)
    d_mlp = _shape_of("blocks.0.mlp.W_in", state, 2, source)[1] if any(".mlp." in name for name in state) else 0
    _, d_vocab_out = _shape_of("unembed.W_U", state, 2, source)
    has_gain = any(name.endswith(".w") for name in state)
    if normalization not in (None, *(("LN",) if has_gain else ("LNPre", "none"))):
        raise CarryLensError(
            f"{source} has {'' if has_gain else 'no '}weights of LayerNorm, so its normalization is not "
            f"{normalization!r}. Give {'LN' if has_gain else 'LNPre or none'}."
        )
    return ModelConfig(
        n_layers=len({name.split(".")[1] for name in state if name.startswith("blocks.")}),
        n_heads=n_heads,
        d_model=d_model,
        d_head=d_head,
        d_mlp=d_mlp,
        n_ctx=n_ctx,
        d_vocab=d_vocab,
        d_vocab_out=d_vocab_out,
        reads=range(n_ctx) if reads is None else reads,
        act_fn=act_fn,
        normalization=normalization or ("LN" if has_gain else "none"),
        eps=eps,
        seed=seed,
    )


def hash_of(model: Transformer) -> str:
    """A hash of the model's weights, whatever file they came from."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode() + str(tensor.dtype).encode() + tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def without_masks(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights alone."""
    return {name: tensor for name, tensor in state.items() if not name.endswith(MASKS)}


def _shape_of(name: str, state: Mapping[str, Tensor], n_axes: int, source: str) -> tuple[int, ...]:
    if name not in state:
        raise CarryLensError(f"{source} lacks the weight {name}. Give the state dict of a HookedTransformer.")
    if (shape := tuple(state[name].shape)) and len(shape) == n_axes:
        return shape
    raise CarryLensError(
        f"{source} has {name} with shape {list(shape)}, where {n_axes} axes are expected. "
        "Give the weights of a transformer."
    )


def _check_numbers(name: str, tensor: Tensor, source: str) -> None:
    if tensor.dtype not in (torch.float32, torch.float64):
        raise CarryLensError(f"{source} has {name} as {tensor.dtype}. Save it as torch.float32 or torch.float64.")
    if not bool(tensor.isfinite().all()):
        raise CarryLensError(f"{source} has a number in {name} that is not finite. Use an earlier checkpoint.")
