"""The causal model: an algorithm as variables with parents, which runs, and runs under `do`.

Takes  questions, and optionally values to force on some variables.
Gives  the value of every variable for every question, and the answers that follow.
Never  knows what the variables mean: `algorithms.py` and `rivals.py` state them.

Running it, step by step:
1. The inputs (the operands' digits and the operator) come from the questions.
2. Mechanisms are taken in order; each has its parents' values by then.
3. A variable that `do` names gets the given values instead of its rule's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from carrylens.arithmetic.questions import Answers, Column, Operation, Questions
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, A, D, Variable
from carrylens.errors import CarryLensError

Rule = Callable[..., ArrayLike]
"""Takes one array per parent, all of one shape, and gives an array of that shape or a single number."""


@dataclass(frozen=True)
class Mechanism:
    """How one variable comes by its value: `rule` applied to its parents' values."""

    variable: Variable
    parents: tuple[Variable, ...]
    rule: Rule


@dataclass(frozen=True)
class CausalModel:
    """An algorithm for operands of `digits` digits, each mechanism standing after those it needs."""

    name: str
    operation: Operation
    digits: int
    mechanisms: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        known = set(self.inputs)
        for mechanism in self.mechanisms:
            missing = [str(parent) for parent in mechanism.parents if parent not in known]
            if missing:
                raise CarryLensError(
                    f"{mechanism.variable} of {self.name!r} needs {', '.join(missing)}, which nothing before it gives. "
                    "Put every mechanism after those of its parents."
                )
            if mechanism.variable in known:
                raise CarryLensError(f"{mechanism.variable} of {self.name!r} is stated twice. State it once.")
            known.add(mechanism.variable)

    @cached_property
    def inputs(self) -> tuple[Variable, ...]:
        """What the question itself gives, in the order it is read."""
        down = range(self.digits - 1, -1, -1)
        return (*(D[k] for k in down), OPR, *(D_PRIME[k] for k in down))

    @cached_property
    def by_variable(self) -> Mapping[Variable, Mechanism]:
        """The mechanism of each variable that is not an input."""
        return {mechanism.variable: mechanism for mechanism in self.mechanisms}

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable, inputs first, each after its parents."""
        return (*self.inputs, *self.by_variable)

    def ancestors(self, variable: Variable) -> frozenset[Variable]:
        """All that `variable` depends on, itself left out."""
        self.check(variable)
        return self._ancestors.get(variable, frozenset())

    def inputs_of(self, variable: Variable) -> frozenset[Variable]:
        """The inputs that `variable` depends on; an input depends on itself."""
        self.check(variable)
        return self._inputs_of[variable]

    @cached_property
    def _inputs_of(self) -> Mapping[Variable, frozenset[Variable]]:
        inputs = frozenset(self.inputs)
        return {variable: inputs & {variable, *self.ancestors(variable)} for variable in self.variables}

    @cached_property
    def _ancestors(self) -> Mapping[Variable, frozenset[Variable]]:
        found: dict[Variable, frozenset[Variable]] = {}
        for mechanism in self.mechanisms:
            found[mechanism.variable] = frozenset(mechanism.parents).union(
                *(found.get(parent, frozenset()) for parent in mechanism.parents)
            )
        return found

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.operation, self.digits, self.mechanisms))

    def run(
        self,
        questions: Questions,
        do: Mapping[Variable, ArrayLike] | Mapping[str, ArrayLike] | None = None,
        read: Collection[Variable] | None = None,
    ) -> Values:
        """Every variable's value, or only those in `read`, with the variables in `do` forced to the values given there.

        A value in `do` is one number for all questions or one per question; U is 2. Variables may be given as text.
        """
        self._check_questions(questions)
        given = {Variable.of(variable): value for variable, value in (do or {}).items()}
        forced = {variable: self._forced(variable, value, len(questions)) for variable, value in given.items()}
        values = dict(zip(self.inputs, _input_columns(questions), strict=True)) | forced
        for mechanism in self._plan(None if read is None else frozenset(read), frozenset(forced)):
            result = mechanism.rule(*[values[parent] for parent in mechanism.parents])
            values[mechanism.variable] = _column(result, len(questions))
        return Values(self, values)

    def answers(
        self, questions: Questions, do: Mapping[Variable, ArrayLike] | Mapping[str, ArrayLike] | None = None
    ) -> Answers:
        """The answers, under `do` if given: the exact counterfactual ones."""
        return self.run(questions, do, read=self.answer_variables).answers()

    @cached_property
    def answer_variables(self) -> tuple[Variable, ...]:
        """The sign and the answer's digits, in the order they are written."""
        return (SGN, *(A[k] for k in range(self.digits, -1, -1)))

    def check(self, variable: Variable) -> None:
        """Raise a clear error unless this algorithm has `variable`."""
        if variable not in self.by_variable and variable not in self.inputs:
            names = " ".join(dict.fromkeys(known.name for known in self.variables))
            raise CarryLensError(
                f"{self.name!r} with {self.digits} digits has no variable {variable}. It has {names}, "
                f"each for the digits it needs, such as {self.mechanisms[0].variable}."
            )

    def _check_questions(self, questions: Questions) -> None:
        if questions.digits != self.digits:
            raise CarryLensError(
                f"{self.name!r} works on {self.digits} digits, but the questions have {questions.digits}. "
                "Build the algorithm for that width."
            )
        strangers = {Operation.ADD: questions.minus, Operation.SUB: ~questions.minus}.get(self.operation)
        if strangers is not None and strangers.any():
            raise CarryLensError(
                f"{self.name!r} was given {questions[strangers][:1].text()[0]!r} and {strangers.sum() - 1} more such "
                "questions of the other operation. Use the algorithm for mix."
            )

    def _forced(self, variable: Variable, value: ArrayLike, count: int) -> Column:
        self.check(variable)
        given = np.asarray(value)
        if given.shape not in ((), (count,)):
            raise CarryLensError(
                f"do({variable}) was given values of shape {given.shape}. Give one value, or one for each of {count}."
            )
        if not np.isin(given, variable.values).all():
            raise CarryLensError(
                f"do({variable}) was given a value that {variable} never takes. "
                f"Give values from {', '.join(map(str, variable.values))}; for a tri-state variable 2 is U."
            )
        return _column(given.astype(np.int8), count)

    def _plan(self, read: frozenset[Variable] | None, forced: frozenset[Variable]) -> tuple[Mechanism, ...]:
        # The mechanisms that must run to read `read`, or all: a forced variable needs nothing above it.
        if (read, forced) not in self._plans:
            waiting, needed = list(self.variables if read is None else read), set[Variable]()
            while waiting:
                variable = waiting.pop()
                self.check(variable)
                if variable in self.by_variable and variable not in forced and variable not in needed:
                    needed.add(variable)
                    waiting.extend(self.by_variable[variable].parents)
            self._plans[read, forced] = tuple(each for each in self.mechanisms if each.variable in needed)
        return self._plans[read, forced]

    @cached_property
    def _plans(self) -> dict[tuple[frozenset[Variable] | None, frozenset[Variable]], tuple[Mechanism, ...]]:
        return {}


def _column(result: ArrayLike, count: int) -> Column:
    # One number for each question, which nobody can write to.
    if not isinstance(result, np.ndarray) or result.shape != (count,):
        result = np.full(count, result)
    column = result.astype(np.int8, copy=False)
    column.flags.writeable = False
    return column


class Values(Mapping[Variable, Column]):
    """What every variable was in one run: `values[ST[3]]` is its value for each question."""

    def __init__(self, model: CausalModel, columns: Mapping[Variable, Column]) -> None:
        self.model = model
        self._columns = columns

    def __getitem__(self, variable: Variable | str) -> Column:
        variable = Variable.of(variable)
        self.model.check(variable)
        if variable not in self._columns:
            raise CarryLensError(f"{variable} was not read in this run. Name it in `read`, or leave `read` out.")
        return self._columns[variable]

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def pick(self, *variables: Variable | str) -> dict[Variable, Column]:
        """The values of `variables`, ready to be another run's `do`."""
        return {Variable.of(variable): self[variable] for variable in variables}

    def answers(self) -> Answers:
        """The answers this run came to."""
        sign, *digits = (self[variable] for variable in self.model.answer_variables)
        return Answers(negative=sign == 1, digits=np.stack(digits[::-1], axis=1))


def _input_columns(questions: Questions) -> Iterator[Column]:
    yield from questions.first.T[::-1]
    yield _column(questions.minus, len(questions))
    yield from questions.second.T[::-1]
