"""The task: everything the instrument knows about what a model is for.

Takes  a causal model, a layout, populations of questions.
Gives  `Task`: token ids with the right outputs, where outputs are read, question classes, conditions.
Never  knows a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, Column, Columns
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.fingerprint import fingerprint
from carrylens.tasks.layout import Layout, TokenIds
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class Strata:
    """Question classes: their `names`, and for every question the place of its class among them."""

    names: tuple[str, ...]
    code: Column


@dataclass(frozen=True)
class Condition:
    """Questions of one sort, over which a model is watched by themselves: where some inputs have `given` values.

    `clustered` names the families whose values what nodes write may fall apart by, in such questions.
    """

    name: str
    population: Sampler
    given: tuple[tuple[Variable, int], ...] = ()
    clustered: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What a model is for. `samplers` are populations with names; stimuli come from the causal model's own.

    `conditions` are sorts of questions that attention is averaged over apart. `rivals` are other algorithms that a
    model may run instead. `spec` is what a file says of the task, so that it can be found again: see `TaskFinder`.
    """

    name: str
    causal: CausalModel
    layout: Layout
    samplers: Mapping[str, Sampler] = field(default_factory=dict, hash=False)
    strata: Callable[[Batch], Strata] | None = None
    conditions: tuple[Condition, ...] = ()
    rivals: tuple[CausalModel, ...] = ()
    spec: Mapping[str, object] = field(default_factory=dict, hash=False, compare=False)

    def __post_init__(self) -> None:
        for model in (self.causal, *self.rivals):
            if model.outputs != self.layout.outputs:
                raise CarryLensError(
                    f"{model.name!r} puts out {_listed(model.outputs)}, but the layout has "
                    f"{_listed(self.layout.outputs)}. Name the same outputs, in the order in which they are predicted."
                )
        if len({model.name for model in (self.causal, *self.rivals)}) <= len(self.rivals):
            raise CarryLensError(f"Two algorithms of the task {self.name!r} have one name. Give each its own.")
        standing = {slot.input for slot in self.layout.slots if slot.input is not None}
        fixed = dict(self.causal.fixed)
        for variable in self.causal.inputs:
            if variable not in standing and variable not in fixed:
                raise CarryLensError(f"The input {variable} stands nowhere in the layout. Give it a place.")
        if self.causal.fed_back != self.layout.is_fed_back:
            said = "feeds outputs back" if self.layout.is_fed_back else "reads outputs at queries"
            raise CarryLensError(f"The layout {said}. Say so in the causal model: fed_back={self.layout.is_fed_back}.")
        if not self.samplers:
            raise CarryLensError(f"The task {self.name!r} has no sampler. Give one, such as Uniform.")

    @property
    def outputs(self) -> tuple[Variable, ...]:
        """The outputs, in the order in which they are predicted."""
        return self.causal.outputs

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the causal model."""
        return fingerprint(self.causal)

    def right_outputs(self, batch: Batch) -> Columns:
        """The right outputs: [batch, output]."""
        return self.causal.output_values(batch)

    def token_ids(self, batch: Batch, outputs: Columns | None = None) -> TokenIds:
        """Whole sequences: each question with its right outputs, or those given, where outputs are fed back."""
        return self.layout.encode(batch, self.right_outputs(batch) if outputs is None else outputs)

    def output_ids(self, batch: Batch, outputs: Columns | None = None) -> NDArray[np.int8]:
        """The token ids of the right outputs, or of those given: [batch, output]."""
        return self.layout.output_ids(self.right_outputs(batch) if outputs is None else outputs)

    def classes(self, batch: Batch) -> Strata:
        """The class of every question; all of one, where the task has no classes."""
        if self.strata is None:
            return Strata(("all",), np.zeros(len(batch), dtype=np.int8))
        return self.strata(batch)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The names of the question classes."""
        return self.classes(next(iter(self.samplers.values())).draw(0, 0, 0)).names

    def parse(self, texts: Sequence[str]) -> Batch:
        """The questions that people wrote down, as `question_text` writes them."""
        fixed, rows = dict(self.causal.fixed), [self.layout.parse(text) for text in texts]
        values = [[row.get(each, fixed.get(each, 0)) for each in self.causal.inputs] for row in rows]
        batch = Batch(self.causal.inputs, np.array(values, dtype=np.int8).reshape(len(rows), len(self.causal.inputs)))
        like = next(iter(self.samplers.values())).draw(0, 0, 0)
        return like.with_values(batch.values)

    def question_text(self, batch: Batch) -> list[str]:
        """Each question as people read it."""
        return self.layout.question_text(batch)

    @cached_property
    def watched(self) -> tuple[Condition, ...]:
        """The conditions; one for all questions, where none were named."""
        if self.conditions:
            return self.conditions
        population = self.causal.population or next(iter(self.samplers.values()))
        return (Condition("all", population),)


TaskFinder = Callable[[Mapping[str, object]], Task]
"""From what a file says of its task to the task; raises a clear error for one that it does not know."""


def _listed(variables: Sequence[Variable]) -> str:
    return ", ".join(map(str, variables)) or "nothing"
