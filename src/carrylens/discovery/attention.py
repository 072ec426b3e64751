"""Attention: where each head looks, on average over questions of one condition.

Takes  a model and questions.
Gives  average patterns, the top places of a head by name, and how much two heads look at the same places.
Never  grants a role: what a head looks at is not yet what it does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.discovery.behaviours import AttentionSummary, Look
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Task

Pattern = NDArray[np.float64]
"""Axes [layer, head, query, key]."""

_ROWS = 64  # questions a pass
LEAST_SHARE = 0.05
"""A place with less of the attention is not among the top ones."""


@torch.inference_mode()
def average_pattern(model: Transformer, task: Task, questions: Batch) -> Pattern:
    """The attention pattern of every head, averaged over the questions and their right outputs."""
    ids = torch.from_numpy(task.token_ids(questions)).to(next(model.parameters()).device)
    total = torch.zeros((), dtype=torch.float64)
    for piece in torch.split(ids, _ROWS):
        _, cache = model.run_with_cache(piece, lambda name: name.endswith("hook_pattern"))
        total = total + torch.stack([pattern.double().sum(0) for pattern in cache.values()]).cpu()
    return np.asarray((total / len(questions)).numpy())


def top_places(
    pattern: Pattern, node: Node, condition: str, names: Sequence[str], n: int, most: int = 4
) -> AttentionSummary:
    """The places that a head looks at most, down to the least share worth a name; `names` are those of all places."""
    assert node.head is not None
    row = pattern[node.layer, node.head, node.position]
    best = [at for at in np.argsort(-row, kind="stable")[:most] if row[at] >= LEAST_SHARE]
    return AttentionSummary(condition, tuple(Look(names[at], round(float(row[at]), 4)) for at in best), n)


def overlap(pattern: Pattern, one: Node, other: Node) -> float:
    """The share of their attention that two heads give to the same places: 1 if they look alike, 0 if apart."""
    assert one.head is not None
    assert other.head is not None
    rows = pattern[one.layer, one.head, one.position], pattern[other.layer, other.head, other.position]
    return float(np.minimum(*rows).sum())
