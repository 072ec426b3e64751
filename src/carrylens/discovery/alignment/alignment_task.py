"""What is aligned with what: a model, its task, an algorithm and its targets.

Takes  a model, its task, a causal model, targets, a population.
Gives  `AlignmentTask`: the nodes that matter, which targets are made from the same inputs, what nodes write.
Never  moves anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.discovery.alignment.subspaces import SubspaceFinder
from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.model.interchange_pass import PassWrites, clean_pass
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_LOOKED_AT, _LOOK_SEED = 2048, 31


@dataclass(frozen=True, eq=False)
class AlignmentTask:
    """What is aligned with what: a model, the algorithm, its targets, and the population that questions come from."""

    model: Transformer
    task: Task
    causal: CausalModel
    targets: tuple[AlignmentTarget, ...]
    population: Sampler

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every node whose write some output can depend on."""
        config = self.model.config
        last, reads = config.n_layers - 1, config.reads
        every = all_nodes(reads.stop, config.n_layers, config.n_heads, config.has_mlp)
        return tuple(node for node in every if node.layer < last or node.position >= reads.start)

    @cached_property
    def siblings(self) -> Mapping[int, tuple[int, ...]]:
        """For a target those others that are made from the same inputs as it is, or as something that it is made of.

        Outputs have none, but for those that stand for a variable; nor has a target siblings that it is made of.
        """
        causal, found = self.causal, dict[int, tuple[int, ...]]()
        for at, target in enumerate(self.targets):
            own = target.stands_for or target.variables
            if target.optional or set(own) & set(causal.outputs):
                continue
            parts = {*own, *(p for each in own for p in causal.by_variable[each].parents)}
            inputs = {_direct(causal, part) for part in parts} - {frozenset()}
            found[at] = tuple(
                other
                for other, beside in enumerate(self.targets)
                if other != at
                and not beside.optional
                and not parts & set(beside.variables)
                and inputs & _inputs(causal, beside)
            )
        return {at: others for at, others in found.items() if others}

    def is_steered(self, target: AlignmentTarget) -> bool:
        """Whether an output that was put out before, such as a sign, decides the values of the target."""
        steering = set(self.causal.steering)
        return any(steering & self.causal.ancestors(variable) for variable in target.variables)

    @cached_property
    def finder(self) -> SubspaceFinder:
        """Directions of targets in nodes, from questions that no trial draws."""
        questions = self.population.draw(_LOOK_SEED, 0, _LOOKED_AT)
        values = self.causal.run(questions)
        writes = self.clean_writes(questions, values)
        rows = {node: self._write(writes, node) for node in self.nodes}
        return SubspaceFinder(rows, [_codes(target, values) for target in self.targets])

    def clean_writes(self, questions: Batch, values: Values, needed: NDArray[np.bool_] | None = None) -> PassWrites:
        """What all nodes write for these questions, with the outputs that the algorithm gives.

        Rows that are not `needed` are zero.
        """
        tokens = torch.from_numpy(self.task.token_ids(questions, values.outputs()))
        with torch.inference_mode():
            if needed is None or needed.all():
                return clean_pass(self.model, tokens)[1]
            some = torch.from_numpy(needed)
            found = clean_pass(self.model, tokens[some])[1]
            heads, mlps = ([_among(each, some) for each in kept] for kept in (found.heads, found.mlps))
            return PassWrites(tuple(each for each in heads if each is not None), tuple(mlps))

    def _write(self, writes: PassWrites, node: Node) -> NDArray[np.float64]:
        config = self.model.config
        at = node.position - (config.reads.start if node.layer == config.n_layers - 1 else 0)
        if node.head is not None:
            return writes.heads[node.layer][:, at, node.head].numpy().astype(np.float64)
        mlp = writes.mlps[node.layer]
        assert mlp is not None
        return mlp[:, at].numpy().astype(np.float64)


def _among(write: torch.Tensor | None, some: torch.Tensor) -> torch.Tensor | None:
    if write is None:
        return None
    found = write.new_zeros((len(some), *write.shape[1:]))
    found[some] = write
    return found


def inner_targets(about: AlignmentTask) -> tuple[int, ...]:
    """The targets that need a site and are no outputs."""
    return tuple(
        at for at, target in enumerate(about.targets) if not target.optional and target.variables != target.outputs
    )


def _codes(target: AlignmentTarget, values: Values) -> NDArray[np.intp]:
    key = np.zeros(len(values[target.variables[0]]), dtype=np.int64)
    for variable in target.variables:
        key = key * 16 + values[variable]
    return np.unique(key, return_inverse=True)[1]


def _direct(causal: CausalModel, variable: Variable) -> frozenset[Variable]:
    # The inputs that a variable is made from directly; none, if it is made from anything else.
    mechanism = causal.by_variable.get(variable)
    parents = frozenset(() if mechanism is None else mechanism.parents)
    return parents if parents <= set(causal.inputs) else frozenset()


def _inputs(causal: CausalModel, target: AlignmentTarget) -> set[frozenset[Variable]]:
    return {_direct(causal, each) for each in target.variables} - {frozenset[Variable]()}
