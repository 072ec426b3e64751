"""Linear probes: a node from whose output a variable can be read is said to carry it.

Takes  what a method is given.
Gives  for every node and variable how much better a logistic probe reads the variable than shuffled labels.
Never  tests whether a later component reads it.

1. Draw questions with as many of each value of the variable, and split them in half.
2. Bring each node's output to its principal components, each of unit spread in the first half.
3. Fit multinomial logistic regressions, with a small penalty, on the first half: one on the labels, one on labels that
   are shuffled in both halves.
4. The score is the accuracy on the second half less that with shuffled labels, over what there is to gain.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from carrylens.benchmark.candidates import can_know, candidate_variables
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.node_outputs import node_outputs
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_PER_SPLIT = 160
_DRAWN = 8192
_COMPONENTS = 48  # an MLP may hold three variables of ten values superposed
_STEPS, _RATE, _PENALTY = 60, 0.3, 1e-3
_STILL = 1e-4


def score_probes(given: Given) -> Found:
    """How well every variable can be read from every node that could know it."""
    scores: dict[tuple[Node, Variable], float] = {}
    for variable in candidate_variables(given.causal):
        drawn = balanced(given.causal, variable, given.seed)
        nodes = [node for node in given.nodes if can_know(given, node, variable)]
        if drawn is None or not nodes:
            continue
        questions, labels = drawn
        found = node_outputs(given, questions, nodes)
        features = torch.stack([components(found[node]) for node in nodes])
        gains = probe_gains(features, labels, given.seed)
        scores |= {(node, variable): float(gain) for node, gain in zip(nodes, gains, strict=True)}
    return Found(role_scores=scores)


def balanced(causal: CausalModel, variable: Variable, seed: int) -> tuple[Batch, Tensor] | None:
    """Questions with each value of the variable equally often in both halves, and the values; None if it has one."""
    drawn = population_of(causal).draw(seed, 0, _DRAWN)
    column = np.asarray(causal.run(drawn)[variable])
    values, counts = np.unique(column, return_counts=True)
    if len(values) < 2:
        return None
    per_value = min(2 * (_PER_SPLIT // len(values)), 2 * (int(counts.min()) // 2))
    rows = [np.flatnonzero(column == value)[:per_value] for value in values]
    # The halves alternate, so that each has as many of every value.
    order = np.concatenate([each[half::2] for half in (0, 1) for each in rows])
    return drawn[order], torch.from_numpy(np.searchsorted(values, column[order]))


def components(output: Tensor) -> Tensor:
    """The principal components of the first half, of unit spread there, for all rows: [row, component]."""
    half = len(output) // 2
    centred = output - output[:half].mean(0)
    _, size, axes = torch.linalg.svd(centred[:half], full_matrices=False)
    spread = size[:_COMPONENTS] / half**0.5
    moving = spread > _STILL * max(float(output.abs().max()), 1e-12)
    kept = torch.where(moving, 1.0 / torch.where(moving, spread, 1.0), 0.0)
    reduced = centred @ axes[:_COMPONENTS].T * kept
    return torch.nn.functional.pad(reduced, (0, _COMPONENTS - reduced.shape[1]))


def probe_gains(features: Tensor, labels: Tensor, seed: int) -> Tensor:
    """For each node's features, held-out accuracy less that on shuffled labels, over what can be gained."""
    half, random = len(labels) // 2, torch.Generator().manual_seed(seed)
    halves = (labels[:half], labels[half:])
    shuffled = [each[torch.randperm(len(each), generator=random)] for each in halves]
    accuracies = []
    for train, test in (halves, shuffled):
        weights = _fit(features[:, :half], train, int(labels.max()) + 1)
        guessed = _with_one(features[:, half:]).matmul(weights).argmax(-1)
        accuracies.append((guessed == test).double().mean(-1))
    real, null = accuracies
    return (real - null) / (1.0 - null).clamp_min(1e-9)


def _fit(features: Tensor, labels: Tensor, n_values: int) -> Tensor:
    # One regression for each node at once, by Adam: the losses are sums of independent ones.
    rows = _with_one(features)
    wanted = torch.nn.functional.one_hot(labels, n_values).to(rows.dtype)
    weights = torch.zeros(rows.shape[0], rows.shape[2], n_values, dtype=rows.dtype)
    first, second = torch.zeros_like(weights), torch.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        error = rows.matmul(weights).softmax(-1) - wanted
        slope = rows.transpose(1, 2).matmul(error) / rows.shape[1] + _PENALTY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = weights - _RATE * (first / (1 - 0.9**step)) / ((second / (1 - 0.99**step)).sqrt() + 1e-8)
    return weights


def _with_one(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones_like(features[..., :1])], dim=-1)
