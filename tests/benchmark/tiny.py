"""A tiny network with random weights, two layers, two heads and MLPs, for the task of `relay.py`: nothing is special
about any of its edges, so that a fast route and a slow one can agree only by computing the same thing."""

from __future__ import annotations

import torch

from benchmark.relay import relay_task
from carrylens.benchmark.method_interface import Given
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer


def tiny_input(seed: int = 2, n_heads: int = 2) -> Given:
    config = ModelConfig(2, n_heads, 12, 6, 16, n_ctx=7, d_vocab=5, d_vocab_out=5, reads=range(3, 6))
    model = Transformer(config)
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=random))
    task = relay_task()
    return Given(model.double().eval(), task, task.causal, seed=3, quick=True)
