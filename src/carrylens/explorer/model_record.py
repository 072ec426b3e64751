"""Model record: a model's shape, weights and means as text.

Takes  a model, and the questions that means are taken over.
Gives  its config, its weights in one precision, and the mean write of every node.
Never  puts a model on a page that would be too large to open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from carrylens.errors import CarryLensError
from carrylens.explorer.packed import packed_floats
from carrylens.interventions.clean import reference_means
from carrylens.interventions.parts import Parts
from carrylens.model.transformer import Transformer
from carrylens.model.weights import model_from_weights, weight_shapes
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Task

MOST_WEIGHTS = 2_500_000
"""More numbers than this make a page of more than 13 MB, which few browsers run with pleasure."""


def fits_a_page(model: Transformer) -> bool:
    """Whether the model is small enough for a page."""
    return _count(model) <= MOST_WEIGHTS


def check_size(model: Transformer, name: str) -> None:
    """Refuse a model that is too large for a page."""
    count = _count(model)
    if not fits_a_page(model):
        raise CarryLensError(
            f"{name} has {count:,} weights (width {model.config.d_model}): its page would have "
            f"{count * 16 / 3e6:.0f} MB and answer too slowly to play with. Give a model of at most "
            f"{MOST_WEIGHTS:,}, such as add_d6_l2_h3_w96_t2K_s1; for this one write carrylens explain."
        )


def _count(model: Transformer) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def halved(model: Transformer) -> Transformer:
    """The same model with every weight rounded to half precision."""
    state = {name: tensor.half().to(tensor.dtype) for name, tensor in model.state_dict().items()}
    if not all(bool(tensor.isfinite().all()) for tensor in state.values()):
        raise CarryLensError("Some weights are too large for half precision. Leave out --half.")
    made = model_from_weights(model.config, state, "The model in half precision").eval()
    made.task = model.task
    return made


def in_double(model: Transformer) -> Transformer:
    """The same model in double precision, in which the page computes."""
    made = model_from_weights(model.config, {name: t.double() for name, t in model.state_dict().items()}, "The model")
    made.task = model.task
    return made.eval()


def model_record(model: Transformer, task: Task, reference: Batch, *, half: bool = False) -> dict[str, Any]:
    """Shape, weights and means. With `half` the weights must be such that half precision holds them."""
    state = model.state_dict()
    is_double = model.unembed.W_U.dtype is torch.float64
    kind = "f2" if half else "f8" if is_double else "f4"
    flat = np.concatenate([state[name].detach().cpu().numpy().reshape(-1) for name, _ in weight_shapes(model.config)])
    return {
        "config": _config(model),
        "weights": {"kind": kind, "text": packed_floats(flat, kind)},
        "means": {"kind": "f8", "text": _means(in_double(model), task, reference)},
    }


def _config(model: Transformer) -> dict[str, Any]:
    config = model.config
    return {
        "nLayers": config.n_layers,
        "nHeads": config.n_heads,
        "dModel": config.d_model,
        "dHead": config.d_head,
        "dMlp": config.d_mlp,
        "nCtx": config.n_ctx,
        "dVocab": config.d_vocab,
        "dVocabOut": config.d_vocab_out,
        "readsStart": config.reads.start,
        "readsStop": config.reads.stop,
        "actFn": config.act_fn,
        "normalization": config.normalization,
        "eps": config.eps,
    }


def _means(model: Transformer, task: Task, reference: Batch) -> str:
    # Layer by layer: what heads bring [pos, head, d_head], then what the MLP writes [pos, d_model].
    with torch.inference_mode():
        means = reference_means(Parts(model), torch.from_numpy(task.token_ids(reference)), None, 0)
    parts = [part[0].cpu().numpy().reshape(-1) for layer in means.layers for part in (layer.z, layer.mlp)]
    return packed_floats(np.concatenate(parts), "f8")
