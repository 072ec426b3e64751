"""Known models: models of known truth, built when they are needed.

Takes  a model, its task, the algorithm that a method is told, and the truth about it.
Gives  `KnownModel`; `BenchmarkModel`, one model of a suite; a twin of any model in which no circuit is left.
Never  shows the truth to a method: see `Given`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import torch

from carrylens.benchmark.known_truth import KnownTruth
from carrylens.claims.hypothesis import Hypothesis
from carrylens.model.transformer import Transformer
from carrylens.model.weights import model_from_weights
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task

DEV, TEST = "dev", "test"
SPLITS = (DEV, TEST)
"""On `dev` thresholds are chosen and methods are tried out; `test` is what counts."""


@dataclass(frozen=True, eq=False)
class KnownModel:
    """A model, its task, the algorithm that a method is told, what is true of the model, and what it is judged under.

    A method may name the variables of `causal` and no others, so truth about other variables is not asked of it.
    """

    model: Transformer
    task: Task
    causal: CausalModel
    truth: KnownTruth
    hypotheses: tuple[Hypothesis, ...] = ()


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
class BenchmarkModel:
    """One model of a suite. Models of one `circuit`, such as its rotations, count as one; so a split never parts them.

    `make` builds the model and its truth, the same each time.
    """

    name: str
    make: Callable[[], KnownModel]
    suite: str = "own"
    split: str = TEST
    circuit: str = ""
    seed: int = 0
    labels: Mapping[str, object] = field(default_factory=dict)

    @property
    def counted_as(self) -> str:
        """The circuit that the model is one of; itself, if it names none."""
        return self.circuit or self.name

    def build(self) -> KnownModel:
        """The model and its truth."""
        return self.make()


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
