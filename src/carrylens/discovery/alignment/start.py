"""First guesses of a placement, from when a value is computable, when it is read, and what writes vary with.

Takes  what is aligned, and targets.
Gives  some placements to start a search from; for each node the targets that its write varies with.
Never  interchanges anything.

- An output is written by the last MLP where it is read, or by the last heads where there is no MLP.
- What is made from inputs directly stands in layer 0 where its last input arrives; what one output alone reads may
  also stand where that output is read.
- Anything else stands in the heads after layer 0, where its output is read.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.discovery.alignment.trial import IDLE, AlignmentTask, NodePlacement
from carrylens.model.interchange_pass import PassWrites, clean_pass
from carrylens.nodes import Node
from carrylens.tasks.timeline import first_computable

_QUESTIONS, _SEED = 1024, 31
ExplainedShares = dict[Node, NDArray[np.float64]]


def first_placements(about: AlignmentTask, targets: tuple[AlignmentTarget, ...]) -> Iterator[NodePlacement]:
    """What one output alone reads, where that is read; the same where its last input arrives."""
    for at_output in (True, False):
        held = dict.fromkeys(about.nodes, IDLE)
        for place, target in enumerate(targets):
            for node in about.nodes:
                if _is_at(about, target, node, at_output=at_output):
                    held[node] = place
        yield NodePlacement(targets, held, tuple(range(len(targets))))


def may_hold(about: AlignmentTask, target: AlignmentTarget, node: Node) -> bool:
    """Whether a node stands where the target is known, and is still read."""
    first = max(first_computable(about.causal, about.task.layout, each) for each in target.variables)
    last = max(about.task.layout.read_position(output) for output in target.outputs)
    return first <= node.position <= last


def varying_with(about: AlignmentTask, targets: tuple[AlignmentTarget, ...]) -> ExplainedShares:
    """For every node the share of its write's variance that each target accounts for, 0 where it cannot hold it."""
    questions = about.population.draw(_SEED, 0, _QUESTIONS)
    tokens = torch.from_numpy(about.task.token_ids(questions, about.task.right_outputs(questions)))
    with torch.inference_mode():
        _, writes = clean_pass(about.model, tokens)
    values = about.causal.run(questions)
    groups = []
    for target in targets:
        key = np.zeros(len(questions), dtype=np.int64)
        for variable in target.variables:
            key = key * 16 + values[variable]
        groups.append(np.unique(key, return_inverse=True)[1])
    found = {}
    for node in about.nodes:
        write = _write(about, writes, node)
        able = [may_hold(about, target, node) for target in targets]
        found[node] = np.array(
            [_explained(write, group) if can else 0.0 for group, can in zip(groups, able, strict=True)]
        )
    return found


def _is_at(about: AlignmentTask, target: AlignmentTarget, node: Node, *, at_output: bool) -> bool:
    causal, layout, last = about.causal, about.task.layout, about.model.config.n_layers - 1
    read = layout.read_position(target.outputs[0])
    if target.variables[0] in causal.outputs:
        return node.position == read and node.layer == last and node.is_mlp is about.model.config.has_mlp
    from_inputs = all(
        parent in causal.inputs for each in target.variables for parent in causal.by_variable[each].parents
    )
    alone = len(target.outputs) == 1
    if not from_inputs:
        return alone and node.position == read and node.layer == last and not node.is_mlp
    own = alone and target.outputs[0] in _direct_readers(about, target)
    arrives = max(first_computable(causal, layout, each) for each in target.variables)
    return node.layer == 0 and node.position == (read if own and at_output else arrives)


def _direct_readers(about: AlignmentTask, target: AlignmentTarget) -> set[object]:
    mechanisms = about.causal.by_variable
    return {o for o in about.causal.outputs if set(target.variables) & set(mechanisms[o].parents)}


def _write(about: AlignmentTask, writes: PassWrites, node: Node) -> NDArray[np.float64]:
    config = about.model.config
    position = node.position - (config.reads.start if node.layer == config.n_layers - 1 else 0)
    if node.head is not None:
        return writes.heads[node.layer][:, position, node.head].numpy().astype(np.float64)
    mlp = writes.mlps[node.layer]
    assert mlp is not None
    return mlp[:, position].numpy().astype(np.float64)


def _explained(write: NDArray[np.float64], group: NDArray[np.intp]) -> float:
    centred = write - write.mean(0)
    total = float((centred**2).sum())
    if total < 1e-9:
        return 0.0
    counts = np.bincount(group)
    sums = np.zeros((len(counts), write.shape[1]))
    np.add.at(sums, group, centred)
    between = float(((sums**2).sum(1) / counts).sum())
    return max(0.0, between / total - (len(counts) - 1) / len(write))  # as much as chance gives is none
