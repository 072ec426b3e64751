"""The task of arithmetic: an operation on numbers of so many digits, written in some layout.

Takes  an operation and a number of digits, or a layout.
Gives  `ArithmeticTask`, and from what a file says of it the same one again.
Never  knows a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm, state_algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.classes import CLASSES, classify
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.structures import Structure
from carrylens.arithmetic.variables import OPR
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.task import Condition, Strata, Task
from carrylens.tasks.task_file import check_is_named
from carrylens.tasks.variables import Family

KIND = "arithmetic"
CLASS_NAMES = tuple(each.value for each in CLASSES)


@dataclass(frozen=True)
class ArithmeticTask(Task):
    """Adding, subtracting or both, in one layout."""

    operation: Operation = Operation.ADD
    digits: int = 1
    question_layout: QuestionLayout = field(default_factory=lambda: QuestionLayout(1))

    def parse(self, texts: Sequence[str]) -> Questions:
        """The questions that people wrote down, such as `45+7`."""
        return Questions.parse(texts, self.digits)

    @property
    def algorithm(self) -> Algorithm:
        """The left-to-right algorithm, with the outputs that the layout has."""
        assert isinstance(self.causal, Algorithm)
        return self.causal


@cache
def arithmetic_task(operation: Operation, digits: int, layout: QuestionLayout | None = None) -> ArithmeticTask:
    """The task of `operation` on numbers of `digits` digits, in the paper's layout or another."""
    chosen = layout or QuestionLayout(digits)
    if chosen.digits != digits:
        raise CarryLensError(f"A layout of {chosen.digits} digits does not fit {digits}. Give one of as many.")
    if not chosen.operator and operation is Operation.MIX:
        raise CarryLensError("A model that adds and subtracts must read the operator. Give the layout one.")
    if not chosen.sign and operation is not Operation.ADD:
        raise CarryLensError("A difference has a sign. Give the layout one, or an addition.")
    causal = causal_in(algorithm(operation, digits), chosen)
    samplers = {kind.value: population(kind, operation, chosen) for kind in PopulationKind}
    samplers |= structure_populations(operation, chosen)
    spec = {"kind": KIND, "operation": operation.value, "layout": chosen.record()}
    return ArithmeticTask(
        name=f"{operation.value} {digits} digits",
        causal=causal,
        layout=chosen.layout(),
        samplers=samplers,
        strata=question_strata,
        conditions=tuple(_conditions(operation, chosen)),
        spec=spec,
        operation=operation,
        digits=digits,
        question_layout=chosen,
    )


def causal_in(model: Algorithm, chosen: QuestionLayout) -> Algorithm:
    """The algorithm with the outputs, and the questions, that a layout has."""
    if chosen.is_standard:
        return model
    layout = chosen.layout()
    limited = chosen.n_answer_digits == chosen.digits
    return replace(
        model,
        outputs=layout.outputs,
        fed_back=layout.is_fed_back,
        population=population(PopulationKind.ENRICHED, model.operation, chosen),
        domain=_fits if limited and model.operation is Operation.ADD else None,
    )


def algorithm_for(
    task: ArithmeticTask, name: str, mechanisms: Iterable[Mechanism], families: Iterable[Family] = ()
) -> Algorithm:
    """The algorithm that the mechanisms state, for the questions and the outputs of a task, whatever its layout.

    `families` are those of variables that carrylens does not have. An output that the layout lacks, such as the sign,
    may be stated; nothing reads it there.
    """
    stated = state_algorithm(name, task.operation, task.digits, mechanisms, families)
    return causal_in(stated, task.question_layout)


def population(kind: PopulationKind, operation: Operation, chosen: QuestionLayout) -> Population:
    """Questions of this kind whose answers fit the layout."""
    small = operation is Operation.ADD and chosen.n_answer_digits == chosen.digits
    return Population(kind, operation, chosen.digits, small=small)


def structure_populations(operation: Operation, chosen: QuestionLayout) -> dict[str, Population]:
    """Structured questions of one structure each, by its name."""
    mixed = population(PopulationKind.STRUCTURED, operation, chosen)
    return {each.value: replace(mixed, structure=each) for each in Structure}


def _fits(batch: Batch) -> NDArray[np.bool_]:
    # The sum has no more digits than the operands.
    questions = Questions.of_batch(batch)
    return (questions.first[:, -1] < 5) & (questions.second[:, -1] < 5)


def question_strata(batch: Batch) -> Strata:
    """The paper's question classes."""
    return Strata(CLASS_NAMES, classify(Questions.of_batch(batch)).code)


def _conditions(operation: Operation, chosen: QuestionLayout) -> list[Condition]:
    families = {Operation.ADD: ("ST",), Operation.SUB: ("MB",)}  # NB has the classes of MB, 0 and 1 changed round
    wanted = families if operation is Operation.MIX else {operation: families[operation]}
    return [
        Condition(
            each.value,
            population(PopulationKind.ENRICHED, each, chosen),
            ((OPR, int(each is Operation.SUB)),),
            clustered,
        )
        for each, clustered in wanted.items()
    ]


def find_task(spec: Mapping[str, object]) -> ArithmeticTask:
    """The task that a file speaks of; files of the first version have just an operation and a number of digits."""
    if not isinstance(spec, Mapping):
        raise CarryLensError(f"{spec!r} is not an arithmetic task. Give a record with an operation and a layout.")
    check_is_named(spec)
    try:
        operation = Operation(spec["operation"])
        if "layout" not in spec:
            digits = spec["digits"]
            if type(digits) is not int or digits < 1:
                raise CarryLensError(f"digits is {digits!r}, not a whole number from 1 on")
            return arithmetic_task(operation, digits)
        given = spec["layout"]
        if not isinstance(given, Mapping):
            raise CarryLensError(f"its layout is {given!r}, which is not a record")
        chosen = QuestionLayout.from_record(given)
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, CarryLensError):
            raise
        raise CarryLensError(f"{dict(spec)!r} is not an arithmetic task: {error}") from error
    return arithmetic_task(operation, chosen.digits, chosen)
