"""The causal model: an algorithm as variables with parents, which runs, and runs under `do`.

Takes  a batch of inputs, and optionally values to force on some variables.
Gives  the value of every variable for every row, and the outputs that follow.
Never  knows what the variables mean.

Running it, step by step:
1. The inputs come from the batch.
2. Mechanisms are taken in order; each has its parents' values by then.
3. A variable that `do` names gets the given values instead of its rule's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, Column, Columns
from carrylens.tasks.causal_graph import CausalGraph, Mechanism, Rule
from carrylens.tasks.variables import Variable

if TYPE_CHECKING:
    from carrylens.tasks.samplers import Sampler

__all__ = ["CausalModel", "Do", "Mechanism", "Rule", "Values"]

_Step = tuple[int, Rule, tuple[int, ...]]  # the place of a variable among all, its rule, its parents' places

Do = Mapping[Variable, ArrayLike] | Mapping[str, ArrayLike]
"""Values to force: one number for all rows or one per row."""


@dataclass(frozen=True, eq=False)
class CausalModel(CausalGraph):
    """An algorithm: a causal graph that runs.

    `fixed` inputs have one value in every question that the algorithm is for. `population` is how inputs are drawn
    where questions are sought that show something: uniformly, if nothing is said. `domain` says which questions the
    algorithm is for, where that is not all of them.
    """

    population: Sampler | None = None
    domain: Callable[[Batch], NDArray[np.bool_]] | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return tuple(getattr(self, each.name) for each in fields(self))

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def run(self, batch: Batch, do: Do | None = None, read: Collection[Variable] | None = None) -> Values:
        """Every variable's value, or only those in `read`, with the variables in `do` forced to the values given there.

        A value in `do` is one number for all rows or one per row. Variables may be given as text.
        """
        self.check_batch(batch)
        given = {Variable.of(variable): value for variable, value in (do or {}).items()}
        columns: list[Column | None] = [*batch.values.T, *[None] * len(self.mechanisms)]
        for variable, value in given.items():
            columns[self.place_of[variable]] = self._forced(variable, value, len(batch))
        for at, rule, parents in self._plan(None if read is None else frozenset(read), frozenset(given)):
            columns[at] = _column(rule(*[columns[parent] for parent in parents]), len(batch))
        return Values(self, columns)

    def run_again(self, before: Values, do: Do, read: Collection[Variable]) -> Values:
        """What `run` gives for `read` under `do`, from a run of the same batch without any: only what must change runs.

        >>> from carrylens.arithmetic import Operation, algorithm
        >>> from carrylens.arithmetic.questions import Questions
        >>> model, batch = algorithm(Operation.ADD, 2), Questions.parse(["15+27"])
        >>> model.run_again(model.run(batch), {"ST[0]": 0}, model.outputs).outputs().tolist()
        [[0, 0, 3, 2]]
        """
        count = len(before[self.inputs[0]])
        given = {Variable.of(variable): value for variable, value in do.items()}
        columns = before.columns()
        for variable, value in given.items():
            columns[self.place_of[variable]] = self._forced(variable, value, count)
        forced = frozenset(given)
        after = self._places_after(forced)
        for at, rule, parents in self._plan(frozenset(read), forced):
            if at in after or columns[at] is None:
                columns[at] = _column(rule(*[columns[parent] for parent in parents]), count)
        return Values(self, columns)

    def output_values(self, batch: Batch, do: Do | None = None) -> Columns:
        """The outputs, under `do` if given: the exact counterfactual ones. Axes [batch, output]."""
        return self.run(batch, do, read=self.outputs).outputs()

    def check_batch(self, batch: Batch) -> None:
        """Raise a clear error unless the batch has this algorithm's inputs, and questions that it is for."""
        if batch.inputs != self.inputs:
            raise CarryLensError(
                f"{self.name!r} reads {len(self.inputs)} inputs from {self.inputs[0]} on, but the batch has "
                f"{len(batch.inputs)}. Build the algorithm for these questions."
            )
        for variable, value in self.fixed:
            if (batch.column(variable) != value).any():
                raise CarryLensError(
                    f"{self.name!r} is for questions whose {variable} is {self.family(variable).label(value)}, and was "
                    "given others. Use an algorithm for both."
                )

    def admits(self, batch: Batch) -> NDArray[np.bool_]:
        """The questions that the algorithm is for."""
        return np.ones(len(batch), dtype=np.bool_) if self.domain is None else self.domain(batch)

    def _forced(self, variable: Variable, value: ArrayLike, count: int) -> Column:
        self.check(variable)
        given, allowed = np.asarray(value), self.values_of(variable)
        if given.shape not in ((), (count,)):
            raise CarryLensError(
                f"do({variable}) was given values of shape {given.shape}. Give one value, or one for each of {count}."
            )
        if not self._is_allowed(variable, given):
            raise CarryLensError(
                f"do({variable}) was given a value that {variable} never takes. Give values from "
                f"{', '.join(map(str, allowed))}."
            )
        return _column(given.astype(np.int8), count)

    def _is_allowed(self, variable: Variable, given: NDArray[np.generic]) -> bool:
        if given.dtype != np.int8:
            return bool(np.isin(given, self.values_of(variable)).all())
        if variable not in self._allowed:
            self._allowed[variable] = np.isin(np.arange(256), self.values_of(variable))
        return bool(self._allowed[variable].take(given.view(np.uint8)).all())

    @cached_property
    def _allowed(self) -> dict[Variable, NDArray[np.bool_]]:
        return {}  # of every number, read as one without a sign, whether the variable takes it

    @cached_property
    def place_of(self) -> Mapping[Variable, int]:
        """Where each variable stands among all."""
        return {variable: at for at, variable in enumerate(self.variables)}

    def _plan(self, read: frozenset[Variable] | None, forced: frozenset[Variable]) -> tuple[_Step, ...]:
        # What must run to read `read`, or all: a forced variable needs nothing above it.
        if (read, forced) not in self._plans:
            waiting, needed = list(self.variables if read is None else read), set[Variable]()
            while waiting:
                variable = waiting.pop()
                self.check(variable)
                if variable in self.by_variable and variable not in forced and variable not in needed:
                    needed.add(variable)
                    waiting.extend(self.by_variable[variable].parents)
            place = self.place_of
            self._plans[read, forced] = tuple(
                (place[each.variable], each.rule, tuple(place[parent] for parent in each.parents))
                for each in self.mechanisms
                if each.variable in needed
            )
        return self._plans[read, forced]

    def _places_after(self, forced: frozenset[Variable]) -> frozenset[int]:
        # The places of all that depends on a forced variable.
        if forced not in self._after:
            found = {each for each in self.by_variable if not forced.isdisjoint(self.ancestors(each))}
            self._after[forced] = frozenset(self.place_of[each] for each in found)
        return self._after[forced]

    @cached_property
    def _after(self) -> dict[frozenset[Variable], frozenset[int]]:
        return {}

    @cached_property
    def _plans(self) -> dict[tuple[frozenset[Variable] | None, frozenset[Variable]], tuple[_Step, ...]]:
        return {}


def _column(result: ArrayLike, count: int) -> Column:
    # One number for each row, which is read-only.
    if not isinstance(result, np.ndarray) or result.shape != (count,):
        result = np.full(count, result)
    column = result.astype(np.int8, copy=False)
    column.flags.writeable = False
    return column


class Values(Mapping[Variable, Column]):
    """What every variable was in one run: `values[ST[3]]` is its value in each row."""

    def __init__(self, model: CausalModel, columns: Sequence[Column | None]) -> None:
        self.model = model
        self._columns = columns  # in the order of the model's variables; None where one was not read

    def __getitem__(self, variable: Variable | str) -> Column:
        variable = Variable.of(variable)
        if variable not in self.model.place_of:
            self.model.check(variable)
        column = self._columns[self.model.place_of[variable]]
        if column is None:
            raise CarryLensError(f"{variable} was not read in this run. Name it in `read`, or leave `read` out.")
        return column

    def columns(self) -> list[Column | None]:
        """The values in the order of the model's variables, None where one was not read; a list of one's own."""
        return list(self._columns)

    def __iter__(self) -> Iterator[Variable]:
        columns = zip(self.model.variables, self._columns, strict=True)
        return (variable for variable, column in columns if column is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def pick(self, *variables: Variable | str) -> dict[Variable, Column]:
        """The values of `variables`, ready to be another run's `do`."""
        return {Variable.of(variable): self[variable] for variable in variables}

    def outputs(self) -> Columns:
        """The outputs this run came to: [batch, output]."""
        return np.stack([self[output] for output in self.model.outputs], axis=1)
