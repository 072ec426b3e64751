"""Samplers: populations of questions, the i-th one the same however they are drawn.

Takes  a seed and a range of indices.
Gives  any range of a population's questions.
Never  depends on the size of a batch, or on what was drawn before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.draws import below, draw
from carrylens.tasks.variables import Variable


@runtime_checkable
class Sampler(Protocol):
    """A population: any object that draws questions by seed and index."""

    def draw(self, seed: int, start: int, count: int) -> Batch:
        """Questions `start` to `start + count - 1` of the population drawn with this seed."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Every input uniform and by itself; `inputs` are variables with the values each can take.

    >>> coins = Uniform(((Variable("X", 0), (0, 1)), (Variable("X", 1), (0, 1))))
    >>> coins.draw(1, 1000, 3) == coins.draw(1, 0, 1010)[1000:1003]
    True
    """

    inputs: tuple[tuple[Variable, tuple[int, ...]], ...]

    def draw(self, seed: int, start: int, count: int) -> Batch:
        """Questions `start` to `start + count - 1`."""
        draws = draw((seed, len(self.inputs)), start, count, len(self.inputs))
        columns = [
            np.array(values, dtype=np.int8)[below(draws[:, at], len(values))]
            for at, (_, values) in enumerate(self.inputs)
        ]
        return Batch([variable for variable, _ in self.inputs], np.stack(columns, axis=1))


@dataclass(frozen=True)
class Interleaved:
    """Questions of several populations of one task, taking turns: question i is of population i modulo their number."""

    parts: tuple[Sampler, ...]

    def draw(self, seed: int, start: int, count: int) -> Batch:
        """Questions `start` to `start + count - 1`."""
        n_parts = len(self.parts)
        first, last = start // n_parts, -(-(start + count) // n_parts)
        drawn: Sequence[Batch] = [part.draw(seed, first, last - first) for part in self.parts]
        together = np.stack([each.values for each in drawn], axis=1).reshape(-1, drawn[0].values.shape[1])
        begin = start - first * n_parts
        return drawn[0].with_values(np.asfortranarray(together[begin : begin + count]))


def population_of(model: CausalModel) -> Sampler:
    """How a causal model's inputs are drawn: its own population, or every input uniformly."""
    if model.population is not None:
        return model.population
    fixed = {variable: (value,) for variable, value in model.fixed}
    return Uniform(tuple((each, fixed.get(each, model.values_of(each))) for each in model.inputs))
