"""Writes: what every node puts out for given questions.

Takes  a model and questions.
Gives  heads' outputs and MLPs' outputs by node, as arrays.
Never  changes a pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.timeline import first_computable
from carrylens.arithmetic.tokens import encode
from carrylens.arithmetic.variables import OPR
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


def tokens_of(model: Transformer, questions: Questions) -> Tensor:
    """The questions with their right answers, on the model's device."""
    return torch.from_numpy(encode(questions, answers(questions))).to(model.unembed.W_U.device)


def point_of(node: Node) -> str:
    """The hook point at which a node's output passes."""
    return f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}"


def output_of(node: Node, activation: Tensor) -> Tensor:
    """The node's part of what passes there: [batch, d_model], or [batch, d_head] for a head."""
    here = activation[:, node.position]
    return here if node.head is None else here[:, node.head]


@torch.inference_mode()
def outputs(model: Transformer, questions: Questions, nodes: Sequence[Node]) -> dict[Node, Tensor]:
    """What each node puts out."""
    _, cache = model.run_with_cache(tokens_of(model, questions), sorted({point_of(node) for node in nodes}))
    return {node: output_of(node, cache[point_of(node)]).double() for node in nodes}


def asked_variables(causal: CausalModel) -> list[Variable]:
    """The variables that a circuit may hold: those the algorithm computes for its answer, and OPR where it is read."""
    needed = frozenset[Variable]().union(*(causal.ancestors(token) | {token} for token in causal.outputs))
    return [variable for variable in (OPR, *causal.by_variable) if variable in needed]


def knows(causal: CausalModel, node: Node, variable: Variable) -> bool:
    """Whether the node stands where the variable's last input has been read."""
    return node.position >= first_computable(causal, variable)
