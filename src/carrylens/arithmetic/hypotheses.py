"""The known hypotheses: the left-to-right algorithms and their rivals, each declared once.

Takes  an operation and a number of digits.
Gives  a `Hypothesis` each.
Never  says where a paper found a variable: places follow from the causal model.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask, causal_in
from carrylens.arithmetic.variables import OPR
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError
from carrylens.tasks.task import Task

_ADDITION, _SUBTRACTION = ("SA", "ST", "SV"), ("MD", "MB", "MV", "ND", "NB", "NV", "SGN")
_INPUTS = ("OPR", "D", "D'")  # any component that needs these tokens may read them
_SEEN_TOO = ("SC", "MC", "NC", *_INPUTS)


@cache
def left_to_right(operation: Operation, digits: int) -> Hypothesis:
    """The paper's algorithm: column values first, then TriAdd, then each answer digit from its column and one carry."""
    return _state(
        algorithm(operation, digits),
        required=(*_ADDITION, *_SUBTRACTION, "A"),
        optional=_SEEN_TOO,
        folded=("SV", "MV", "NV"),
    )


@cache
def one_layer(digits: int) -> Hypothesis:
    """The one-layer rival: the column's own digit, and the binary carry of the column below it alone."""
    return _state(rivals.one_layer(digits), required=("SA", "SC", "A"), optional=_INPUTS)


@cache
def one_layer_through_nine(digits: int) -> Hypothesis:
    """The one-layer rival that looks through one column that sums to 9."""
    return _state(rivals.one_layer(digits, sum_nine=True), required=("SA", "SC", "SU", "A"), optional=_INPUTS)


@cache
def ripple(operation: Operation, digits: int) -> Hypothesis:
    """The schoolbook rival: every carry from the one below it, so all of them stand somewhere, one after another."""
    model = rivals.ripple(operation, digits)
    return _state(model, required=("C", "B", "R", "Z", "SGN", "A"), optional=_INPUTS)


def rivals_of(operation: Operation, digits: int) -> tuple[Hypothesis, ...]:
    """Every known rival of the left-to-right algorithm."""
    adding = (one_layer(digits), one_layer_through_nine(digits)) if operation is Operation.ADD else ()
    return (*adding, ripple(operation, digits))


def rival_algorithms(operation: Operation, digits: int) -> tuple[Algorithm, ...]:
    """What the known rivals state, as algorithms."""
    return tuple(each.model for each in rivals_of(operation, digits) if isinstance(each.model, Algorithm))


def usual_for(task: Task) -> Hypothesis:
    """The left-to-right hypothesis about a model for this task, in its layout."""
    arithmetic = _arithmetic(task)
    return _in_layout(left_to_right(arithmetic.operation, arithmetic.digits), arithmetic)


def rivals_for(task: Task) -> tuple[Hypothesis, ...]:
    """Every known rival of it."""
    arithmetic = _arithmetic(task)
    return tuple(_in_layout(each, arithmetic) for each in rivals_of(arithmetic.operation, arithmetic.digits))


def _arithmetic(task: Task) -> ArithmeticTask:
    if not isinstance(task, ArithmeticTask):
        raise CarryLensError(
            f"No hypothesis about {task.name!r} comes with carrylens. State one in a file of your own."
        )
    return task


def _in_layout(stated: Hypothesis, task: ArithmeticTask) -> Hypothesis:
    # Another layout may have other outputs, and no sign.
    if task.question_layout.is_standard:
        return stated
    assert isinstance(stated.model, Algorithm)
    model = causal_in(stated.model, task.question_layout)
    known = {variable.name for variable in model.by_variable if variable.name != "SGN" or task.question_layout.sign}
    known |= {variable.name for variable in model.inputs}
    required, optional, folded = (
        tuple(each for each in names if each in known) for names in (stated.required, stated.optional, stated.folded)
    )
    return replace(stated, model=model, required=required, optional=optional, folded=folded)


def _state(
    model: Algorithm, required: tuple[str, ...], optional: tuple[str, ...], folded: tuple[str, ...] = ()
) -> Hypothesis:
    # The families that this operation has; OPR is the operator, which says nothing where there is only one.
    known = {variable.name for variable in model.by_variable} | {"D", "D'"}
    if model.operation is Operation.MIX:
        known.add("OPR")
    mine = [tuple(name for name in names if name in known) for names in (required, optional, folded)]
    gates = (OPR,) if model.operation is Operation.MIX else ()
    return Hypothesis(model.name, model, required=mine[0], optional=mine[1], folded=mine[2], gates=gates)
