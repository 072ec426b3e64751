"""Distributed alignment search (DAS): in which subspace of what a node writes a variable is held, found by training.

Takes  what a method is given; it uses the algorithm.
Gives  for every node and variable how often an interchange within the best subspace does what changing the variable
       would, on pairs that the subspace was not trained on.
Never  trains the model, or looks at sets of nodes.

Geiger et al. 2024:
1. For each variable draw matched pairs of base and source, for training and for testing.
2. For each node, an orthonormal basis of as many directions as the variable has values. The node's write moves within
   their span to what it is for the source question, and stays as it is elsewhere.
3. Train the basis so that the outputs become the counterfactual ones (cross entropy, Adam, QR for orthonormality). It
   starts from the directions in which the mean write differs most between the variable's values.
4. The score is the share of the test pairs' outputs that should change which become the counterfactual ones.
For each variable those nodes are trained whose whole write, interchanged, changes most of the outputs that should
change, as many as `_MOST`; the others, and those that change none, get 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from carrylens.benchmark.candidates import can_know, candidate_variables
from carrylens.benchmark.known_truth import HeldVariable
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.node_outputs import hook_point_of, model_ids, output_of
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.model.hooks import HookPoint
from carrylens.nodes import Node
from carrylens.tasks.pairs import Pairs, interchange_pairs
from carrylens.tasks.variables import Variable

_PAIRS = 64
_STEPS, _QUICK_STEPS, _RATE = 40, 12, 0.03
_MOST, _QUICK_MOST = 24, 6
_AT_ONCE = 16  # nodes trained side by side


@dataclass(frozen=True, eq=False)
class AlignmentStimuli:
    """Pairs as token ids, the counterfactual outputs, which of them should change, and the source's values."""

    base: Tensor
    source: Tensor
    wanted: Tensor
    due: Tensor
    values: Tensor
    positions: list[int]


def find_by_alignment_search(given: Given) -> Found:
    """The interchange accuracy of every node in the subspace that was trained for each variable."""
    scores: dict[HeldVariable, float] = {}
    variables = candidate_variables(given.causal)
    for at, variable in enumerate(variables):
        given.progress("training subspaces", at, len(variables))
        nodes = [node for node in given.nodes if can_know(given, node, variable)]
        try:
            n_pairs = _PAIRS // (1 + given.quick)
            train, test = (interchange_pairs(given.causal, variable, n_pairs, given.seed + at) for at in (0, 1))
        except CarryLensError:  # a variable whose value no question can show
            continue
        scores |= {(node, variable): 0.0 for node in nodes}
        scores |= _searched(given, variable, _moving(given, nodes, test), (train, test))
    return Found(role_scores=scores)


def alignment_stimuli(given: Given, pairs: Pairs) -> AlignmentStimuli:
    """The pairs, ready to be run."""
    wanted, own = (given.task.output_ids(pairs.base, to) for to in (pairs.counterfactual(), None))
    base, source = (model_ids(given, side) for side in (pairs.base, pairs.source))
    wide = torch.from_numpy(wanted).long()
    values = torch.from_numpy(np.array(given.causal.run(pairs.source)[pairs.variable], dtype=np.int64))
    due, positions = torch.from_numpy(wanted != own), list(given.task.layout.read_positions)
    return AlignmentStimuli(base, source, wide, due, values, positions)


def train_bases(given: Given, nodes: Sequence[Node], stimuli: AlignmentStimuli, n_directions: int) -> Tensor:
    """For nodes of one hook point an orthonormal basis each: [node, d, direction]."""
    moved, fills = _Interchange(given, nodes, stimuli), _fills(given, nodes, stimuli)
    free = torch.stack([first_basis(fill, stimuli.values, n_directions, given.seed) for fill in fills])
    free.requires_grad_()
    optimiser = torch.optim.Adam([free], lr=_RATE)
    wanted = stimuli.wanted.repeat(len(nodes), 1)
    for _ in range(_QUICK_STEPS if given.quick else _STEPS):
        with torch.enable_grad():
            logits = moved.logits(torch.linalg.qr(free).Q, fills)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
            (slope,) = torch.autograd.grad(loss * len(nodes), [free])
        free.grad = slope
        optimiser.step()
    return torch.linalg.qr(free.detach()).Q


@torch.no_grad()
def interchange_accuracy(given: Given, nodes: Sequence[Node], stimuli: AlignmentStimuli, bases: Tensor) -> list[float]:
    """For each node the share of outputs that should change which become the counterfactual ones."""
    logits = _Interchange(given, nodes, stimuli).logits(bases, _fills(given, nodes, stimuli))
    hits = logits.argmax(-1).view(len(nodes), *stimuli.wanted.shape) == stimuli.wanted
    accuracies: list[float] = hits[:, stimuli.due].double().mean(-1).tolist()
    return accuracies


@dataclass(frozen=True, eq=False)
class _Interchange:
    """Every pair for every node at once: rows go by node, then by pair."""

    given: Given
    nodes: Sequence[Node]
    stimuli: AlignmentStimuli

    def logits(self, bases: Tensor, fills: Tensor) -> Tensor:
        """The logits where outputs are read, [row, output, vocab], each node moved within its own basis."""
        n_pairs, point = len(self.stimuli.base), hook_point_of(self.nodes[0])

        def move(activation: Tensor, /, hook: HookPoint) -> Tensor:  # noqa: ARG001
            new = activation.clone()
            for at, node in enumerate(self.nodes):
                rows, basis = slice(at * n_pairs, (at + 1) * n_pairs), bases[at]
                own = output_of(node, activation[rows])
                write = own + (fills[at] - own) @ basis @ basis.T
                if node.head is None:
                    new[rows, node.position] = write
                else:
                    new[rows, node.position, node.head] = write
            return new

        ids = self.stimuli.base.repeat(len(self.nodes), 1)
        return self.given.model.run_with_hooks(ids, [(point, move)])[:, self.stimuli.positions]


@torch.no_grad()
def _fills(given: Given, nodes: Sequence[Node], stimuli: AlignmentStimuli) -> Tensor:
    # What each node writes for the sources: [node, pair, d].
    point = hook_point_of(nodes[0])
    _, cache = given.model.run_with_cache(stimuli.source, [point])
    return torch.stack([output_of(node, cache[point]) for node in nodes])


def first_basis(fill: Tensor, values: Tensor, n_directions: int, seed: int) -> Tensor:
    """Where training starts: the directions between the mean writes of the values, then random ones: [d, direction]."""
    means = torch.stack([fill[values == value].mean(0) for value in torch.unique(values)])
    _, size, axes = torch.linalg.svd(means - fill.mean(0), full_matrices=False)
    found = axes[size > 1e-6 * size.max()].T
    random = torch.Generator().manual_seed(seed)
    more = torch.randn(fill.shape[1], fill.shape[1], generator=random).to(fill)
    return torch.linalg.qr(torch.cat([found, more], 1)).Q[:, : min(n_directions, fill.shape[1])]


def _moving(given: Given, nodes: Sequence[Node], pairs: Pairs) -> list[Node]:
    if not nodes:
        return []
    with Engine(given.model, given.task) as engine:
        changed = engine.run([interchange([node]) for node in nodes], pairs.base, pairs.source).changed
    due = given.task.output_ids(pairs.base, pairs.counterfactual()) != given.task.output_ids(pairs.base)
    moved = {node: int(row[due].sum()) for node, row in zip(nodes, changed, strict=True) if row[due].any()}
    return sorted(moved, key=lambda node: (-moved[node], node))[: _QUICK_MOST if given.quick else _MOST]


def _searched(
    given: Given, variable: Variable, nodes: Sequence[Node], pairs: tuple[Pairs, Pairs]
) -> dict[HeldVariable, float]:
    train, test = (alignment_stimuli(given, each) for each in pairs)
    found: dict[HeldVariable, float] = {}
    n_values = len(given.causal.values_of(variable))
    for _, alike in groupby(sorted(nodes, key=hook_point_of), key=hook_point_of):
        here = list(alike)
        for start in range(0, len(here), _AT_ONCE):
            some = here[start : start + _AT_ONCE]
            bases = train_bases(given, some, train, n_values)
            accuracies = interchange_accuracy(given, some, test, bases)
            found |= {(node, variable): score for node, score in zip(some, accuracies, strict=True)}
    return found
