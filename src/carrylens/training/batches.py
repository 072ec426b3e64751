"""Batches: a task's questions as tokens, with what is to be predicted, step by step.

Takes  a task, a population, a seed and a batch size.
Gives  the examples of any step's batch.
Never  depends on where it started: step i has the same batch in every run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from carrylens.tasks.batches import Batch
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task

NO_CONDITION = -1
_QUESTIONS_AHEAD = 1 << 14


@dataclass(frozen=True, eq=False)
class Examples:
    """Questions with their right outputs.

    `tokens` are whole sequences, `wanted` the ids of the outputs, `condition` the place of the first of the task's
    watched conditions that each question meets, or NO_CONDITION.
    """

    tokens: Int[Tensor, "batch pos"]
    wanted: Int[Tensor, "batch output"]
    condition: Int[Tensor, " batch"]

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, rows: slice | Tensor) -> Examples:
        """The examples of the rows asked for."""
        return Examples(self.tokens[rows], self.wanted[rows], self.condition[rows])

    def to(self, device: torch.device) -> Examples:
        """The same examples on a device."""
        return Examples(self.tokens.to(device), self.wanted.to(device), self.condition.to(device))


def encode_examples(task: Task, questions: Batch) -> Examples:
    """Questions of the task with their right outputs, as a model reads and predicts them."""
    outputs = task.right_outputs(questions)
    return Examples(
        torch.from_numpy(task.token_ids(questions, outputs)),
        torch.from_numpy(task.output_ids(questions, outputs).astype(np.int64)),
        torch.from_numpy(_conditions(task, questions)),
    )


def draw_examples(task: Task, population: Sampler, seed: int, start: int, count: int) -> Examples:
    """Questions `start` to `start + count - 1` of a population, with their right outputs."""
    return encode_examples(task, population.draw(seed, start, count))


def _conditions(task: Task, questions: Batch) -> NDArray[np.int64]:
    found = np.full(len(questions), NO_CONDITION, dtype=np.int64)
    for place, condition in reversed(list(enumerate(task.watched))):
        met = np.ones(len(questions), dtype=np.bool_)
        for variable, value in condition.given:
            met &= questions.column(variable) == value
        found[met] = place
    return found


class TrainingBatches:
    """Examples by step; many steps are made at once because that is cheaper."""

    def __init__(self, task: Task, population: Sampler, seed: int, batch: int, device: torch.device) -> None:
        self._task, self._population, self._seed, self._batch = task, population, seed, batch
        self._device = device
        self._n_steps = max(1, _QUESTIONS_AHEAD // batch)
        self._first, self._made = -1, list[Examples]()

    def at(self, step: int) -> Examples:
        """The batch of `step`."""
        first = step - step % self._n_steps
        if first != self._first:
            start, count = first * self._batch, self._n_steps * self._batch
            made = draw_examples(self._task, self._population, self._seed, start, count)
            self._first, self._made = first, [made.to(self._device)]
        start = (step - first) * self._batch
        return self._made[0][start : start + self._batch]
