"""Exchange: the same weights in carrylens and in TransformerLens 2.x.

Takes  a model of ours, a `HookedTransformer`, or the state dict of one.
Gives  the other of the two, with equal weights.
Never  needs TransformerLens unless a `HookedTransformer` is to be built, and never takes one that computes otherwise.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.config import ACT_FNS, NORMALIZATIONS
from carrylens.model.transformer import Transformer
from carrylens.model.weights import infer_config, model_from_weights, without_masks

# Settings that change what a HookedTransformer computes and leave no trace in the names and shapes of its weights.
_SILENT = {
    "positional_embedding_type": "standard",
    "attention_dir": "causal",
    "use_attn_scale": True,
    "use_local_attn": False,
    "scale_attn_by_inverse_layer_idx": False,
    "attn_scores_soft_cap": -1.0,
    "output_logits_soft_cap": -1.0,
    "parallel_attn_mlp": False,
}


def to_transformer_lens_state(model: Transformer) -> dict[str, Tensor]:
    """Copies of the weights, with the masks a `HookedTransformer` expects beside them."""
    state = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    weight, n_ctx = model.embed.W_E, model.config.n_ctx
    for layer in range(model.config.n_layers):
        seen = torch.ones(n_ctx, n_ctx, dtype=torch.bool, device=weight.device).tril()
        state[f"blocks.{layer}.attn.mask"] = seen
        state[f"blocks.{layer}.attn.IGNORE"] = torch.tensor(-torch.inf, dtype=weight.dtype, device=weight.device)
    return state


def to_transformer_lens(model: Transformer) -> Any:
    """A `HookedTransformer` that computes what the model computes."""
    try:
        lens = importlib.import_module("transformer_lens")
        hooked_class, config_class = lens.HookedTransformer, lens.HookedTransformerConfig
    except (ImportError, AttributeError) as error:
        raise CarryLensError(
            "A HookedTransformer needs TransformerLens 2.x. Run: pip install 'transformer-lens>=2.16,<3'"
        ) from error
    weight, shape = model.embed.W_E, model.config
    names = ["n_layers", "n_heads", "d_model", "d_head", "d_vocab", "d_vocab_out", "n_ctx", "eps"]
    names += ["d_mlp", "act_fn"] if shape.has_mlp else []
    config = config_class(
        **{name: getattr(shape, name) for name in names},
        attn_only=not shape.has_mlp,
        normalization_type=None if shape.normalization == "none" else shape.normalization,
        init_weights=False,
        default_prepend_bos=False,
        dtype=weight.dtype,
        device=str(weight.device),
    )
    hooked = hooked_class(config)
    hooked.load_state_dict(to_transformer_lens_state(model))
    return hooked


def from_transformer_lens(source: Any, reads: range | None = None, seed: int = 0) -> Transformer:
    """Our model with the weights of a `HookedTransformer` or of its state dict; no `reads` are all positions.

    A state dict does not say which activation function and which eps it was trained with: it is taken to have ReLU and
    1e-5. `read_foreign` and `infer_config` take others.
    """
    state, silent = source, dict[str, Any]()
    if not isinstance(source, Mapping):
        silent = _check_architecture(source)
        state = source.state_dict()
    weights = without_masks({name: tensor.detach().cpu() for name, tensor in state.items()})
    return model_from_weights(infer_config(weights, reads, seed=seed, **silent), weights, "The state dict")


def _check_architecture(hooked: Any) -> dict[str, Any]:
    # What its weights do not show, as `infer_config` takes it.
    if not hasattr(hooked, "cfg") or not hasattr(hooked, "state_dict"):
        raise CarryLensError(f"A {type(hooked).__name__} is not a HookedTransformer. Give one, or its state dict.")
    for name, ours in (_SILENT | {"attn_scale": hooked.cfg.d_head**0.5}).items():
        if (theirs := getattr(hooked.cfg, name)) != ours:
            raise CarryLensError(f"This HookedTransformer has {name} {theirs!r}. Give one with {ours!r}.")
    norm = hooked.cfg.normalization_type or "none"
    act_fn = "relu" if hooked.cfg.attn_only else hooked.cfg.act_fn
    for name, theirs, known in (("normalization_type", norm, NORMALIZATIONS), ("act_fn", act_fn, ACT_FNS)):
        if theirs not in known:
            raise CarryLensError(f"This HookedTransformer has {name} {theirs!r}. Give one with {' or '.join(known)}.")
    return {"act_fn": act_fn, "normalization": norm, "eps": float(hooked.cfg.eps)}
