"""Node outputs: what every node writes for given questions.

Takes  what a method is given, and questions.
Gives  heads' outputs and MLPs' outputs by node, as tensors.
Never  changes a pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from carrylens.benchmark.method_interface import Given
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch


def model_ids(given: Given, questions: Batch) -> Tensor:
    """The questions with their right outputs as token ids, on the model's device."""
    return given.token_ids(questions).to(given.model.unembed.W_U.device)


def hook_point_of(node: Node) -> str:
    """The hook point at which a node's output passes."""
    return f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"


def output_of(node: Node, activation: Tensor) -> Tensor:
    """The node's part of what passes there: [batch, d_model], or [batch, d_head] for a head."""
    here = activation[:, node.position]
    return here if node.head is None else here[:, node.head]


@torch.inference_mode()
def node_outputs(given: Given, questions: Batch, nodes: Sequence[Node]) -> dict[Node, Tensor]:
    """What each node writes."""
    points = sorted({hook_point_of(node) for node in nodes})
    _, cache = given.model.run_with_cache(model_ids(given, questions), points)
    return {node: output_of(node, cache[hook_point_of(node)]).double() for node in nodes}
