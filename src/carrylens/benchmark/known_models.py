"""Known models: models of known truth, built when they are needed.

Takes  a model, its task, the algorithm that it runs, and the truth about it.
Gives  `KnownModel` and `EmptyModel`, what a benchmark is made of, and a twin of any model in which no circuit is left.
Never  shows the truth to a method: see `MethodInput`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch

from carrylens.benchmark.known_truth import KnownTruth
from carrylens.model.transformer import Transformer
from carrylens.model.weights import model_from_weights
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task


@dataclass(frozen=True, eq=False)
class KnownModel:
    """A model, the algorithm it runs, and what is true of it."""

    model: Transformer
    task: Task
    causal: CausalModel
    truth: KnownTruth


class BenchmarkCircuit(Protocol):
    """Where a known model comes from. `seed` is that of the questions a method draws.

    `name` is one that a file can have; `labels` are the columns by which results are grouped.
    """

    @property
    def name(self) -> str:
        """A name for people and files."""
        ...

    @property
    def seed(self) -> int:
        """The seed of the questions that a method draws."""
        ...

    @property
    def labels(self) -> Mapping[str, object]:
        """What a result says of the circuit besides its name."""
        ...

    def build(self) -> KnownModel:
        """The model and its truth; the same each time."""
        ...


@dataclass(frozen=True, eq=False)
class ReadyCircuit:
    """A known model that is there already, as a circuit of a benchmark."""

    name: str
    known: KnownModel
    seed: int = 0
    labels: Mapping[str, object] = field(default_factory=dict)

    def build(self) -> KnownModel:
        """The model and its truth."""
        return self.known


@dataclass(frozen=True, eq=False)
class EmptyModel:
    """A model in which no node carries anything, and its task; `kind` says why: untrained, or shuffled weights."""

    kind: str
    name: str
    seed: int
    build: Callable[[], tuple[Transformer, Task]]


def permuted_twin(model: Transformer, seed: int) -> Transformer:
    """A model whose every weight matrix has the same entries, shuffled: the same numbers and no circuit."""
    generator = torch.Generator().manual_seed(seed)
    shuffled = {
        name: weight.flatten()[torch.randperm(weight.numel(), generator=generator)].view(weight.shape)
        for name, weight in model.state_dict().items()
    }
    twin = model_from_weights(model.config, shuffled, "The twin").eval()
    twin.task = model.task
    return twin
