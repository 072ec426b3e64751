"""Peak: what these cores can do at best, and what a pass through a model costs.

Takes  nothing, or the shape of a model.
Gives  the fp32 speed of a large matrix product, and the operations of an answer pass and of a training step.
Never  compares machines: a share of peak is measured within one run.
"""

from __future__ import annotations

from time import perf_counter

import torch

from carrylens.model.config import ModelConfig
from carrylens.training.recipe import TrainingRecipe

_SIDE = 1536


def peak_flops(seconds: float = 1.0) -> float:
    """Floating-point operations a second of a large fp32 matrix product on the threads in use; the best of many."""
    left, right = torch.randn(_SIDE, _SIDE), torch.randn(_SIDE, _SIDE)
    best, started = 0.0, perf_counter()
    while perf_counter() - started < seconds:
        before = perf_counter()
        torch.mm(left, right)
        best = max(best, 2.0 * _SIDE**3 / (perf_counter() - before))
    return best


def answer_pass_flops(config: ModelConfig, shared: int = 0) -> float:
    """Multiplications and additions that the answer pass makes for one question, of which `shared` places are done.

    Looking up layer 0's projections costs nothing; norms, softmax and ReLU are left out, as is usual.
    """
    d_model, inner, d_mlp = config.d_model, config.n_heads * config.d_head, config.d_mlp
    every, read = config.reads.stop, len(config.reads)
    total = 2.0 * read * d_model * config.d_vocab_out
    for layer in range(config.n_layers):
        queries = read if layer == config.n_layers - 1 else every - shared
        if layer:
            total += 2.0 * d_model * inner * (queries + 2 * (every - shared))
        total += 4.0 * queries * every * inner  # scores and mixing
        total += 2.0 * queries * d_model * (inner + 2 * d_mlp)
    return total


def training_step_flops(config: ModelConfig, recipe: TrainingRecipe) -> float:
    """Multiplications and additions of a training step: the batch there and back, and Muon's products if any."""
    passes = 3 * recipe.batch * answer_pass_flops(config)  # a backward pass costs two forward ones
    return passes + (0.0 if recipe.muon_rate is None else _muon_flops(config))


def _muon_flops(config: ModelConfig) -> float:
    # Each of five Newton-Schulz steps: a Gram matrix, its square, and the tall matrix times that.
    side, inner, d_mlp = config.d_model, config.n_heads * config.d_head, config.d_mlp
    step = sum(4.0 * rows * side**2 + 2.0 * side**3 for rows in (*[inner] * 4, *[d_mlp] * 2))
    return 5 * config.n_layers * step
