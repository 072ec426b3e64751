"""The known hypotheses: the left-to-right algorithms and their rivals, each declared once.

Takes  an operation and a number of digits, or a task, or a name.
Gives  a `Hypothesis` each.
Never  says where a paper found a variable: places follow from the causal model.

A node map searches the variables of its own task. So it can refute a rival by answers and by variables that both have,
and says nothing of variables that it never searched: `rivals_of` and `rivals_for` are the rivals that it can judge.
`aligned_rivals` are all of them, for whoever fits an alignment to each: weighted sums, binary carries and mixtures
answer right and must be told apart by what an interchange does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from carrylens.arithmetic import mixtures, rivals
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.predicates import gate_where
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.selection import selected_first
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task, causal_in
from carrylens.arithmetic.variables import OPR
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task

_ADDITION, _SUBTRACTION = ("SA", "ST", "SV"), ("MD", "MB", "MV", "ND", "NB", "NV", "SGN")
_INPUTS = ("OPR", "D", "D'")  # any component that needs these tokens may read them
_SEEN_TOO = ("SC", "MC", "NC", *_INPUTS)
_FOLDED = ("SV", "MV", "NV", "WS", "WM", "WN", "SU", "G")  # each answer digit may have one of its own
_LOOKED_AT = 4096  # questions on which two routes are compared
_BUT, _WHERE = " but ", " where "


@cache
def left_to_right(operation: Operation, digits: int) -> Hypothesis:
    """The paper's algorithm: column values first, then TriAdd, then each answer digit from its column and one carry.

    A subtraction may choose digit and borrow before or after it puts them together: two forms of the same.
    """
    stated = _state(
        algorithm(operation, digits),
        required=(*_ADDITION, *_SUBTRACTION, "A"),
        optional=_SEEN_TOO,
        folded=("SV", "MV", "NV"),
    )
    return replace(stated, forms=selected_first(stated))


@cache
def one_layer(digits: int) -> Hypothesis:
    """The one-layer rival: the column's own digit, and the binary carry of the column below it alone."""
    return _state(rivals.one_layer(digits), required=("SA", "SC", "A"), optional=_INPUTS)


@cache
def one_layer_through_nine(digits: int) -> Hypothesis:
    """The one-layer rival that looks through one column that sums to 9."""
    model = rivals.one_layer(digits, sum_nine=True)
    return _state(model, required=("SA", "SC", "S9", "SU", "A"), optional=_INPUTS, folded=("SU",))


@cache
def ripple(operation: Operation, digits: int) -> Hypothesis:
    """The schoolbook rival: every carry from the one below it, so all of them stand somewhere, one after another."""
    model = rivals.ripple(operation, digits)
    return _state(model, required=("C", "B", "R", "Z", "SGN", "A"), optional=_INPUTS)


@cache
def weighted_sum(operation: Operation, digits: int) -> Hypothesis:
    """The rival that reads every carry off one weighted sum; each answer digit may weigh its own."""
    return stated_by(rivals.weighted_sum(operation, digits))


@cache
def binary_carries(operation: Operation, digits: int) -> Hypothesis:
    """The rival whose columns say two binary things of their carries instead of one of three values."""
    return stated_by(rivals.binary_carries(operation, digits))


@cache
def weighted_on_some(operation: Operation, digits: int, tenths: int) -> Hypothesis:
    """The mixture in which the first operand's top digit decides between the usual carries and weighted sums."""
    return stated_by(mixtures.weighted_on_some(operation, digits, tenths))


def mixture_where(predicate: str, first: Hypothesis, second: Hypothesis) -> Hypothesis:
    """The mixture of two hypotheses by a predicate on the question: the second where it holds, else the first.

    A predicate is written as the search for deviations writes it. The mixture is in the paper's layout;
    `hypothesis_called` gives it in any other.

    >>> one, other = left_to_right(Operation.ADD, 3), weighted_sum(Operation.ADD, 3)
    >>> mixture_where("D[2] <= 2", one, other).name
    'left-to-right add but weighted-sum add where D[2] <= 2'
    """
    one, other = first.model, second.model
    assert isinstance(one, Algorithm)
    assert isinstance(other, Algorithm)
    name = f"{first.name}{_BUT}{second.name}{_WHERE}{predicate}"
    return stated_by(mixtures.gated(gate_where(predicate, one), one, other, name))


def stated_by(model: Algorithm) -> Hypothesis:
    """The hypothesis that a network runs this algorithm: everything that the answers need must be seen.

    Each answer digit may resolve its own carry, and look by itself at what decides the route. Where both routes of a
    mixture always agree, its gate alone changes nothing, so no interchange could find it: it is optional.

    >>> stated_by(rivals.binary_carries(Operation.ADD, 2)).required
    ('SA', 'SC', 'S9', 'SV', 'A')
    """
    used = {each.name for output in model.outputs for each in model.ancestors(output)} - set(_INPUTS)
    used |= {output.name for output in model.outputs if model.by_variable[output].parents}
    required = tuple(dict.fromkeys(each.name for each in model.by_variable if each.name in used))
    hidden = tuple(each for each in required if each == mixtures.G.name and not _moves_answers(model, each))
    required = tuple(each for each in required if each not in hidden)
    folded = tuple(each for each in required if each.removesuffix("_2") in _FOLDED)
    return _state(model, required=required, optional=(*hidden, *_INPUTS), folded=folded)


def _moves_answers(model: Algorithm, family: str) -> bool:
    # Whether another value of a variable of this family changes an answer to some question.
    questions = population_of(model).draw(0, 0, _LOOKED_AT)
    answers = model.output_values(questions)
    some = [each for each in model.by_variable if each.name == family]
    return any(
        bool((model.output_values(questions, do={each: value}) != answers).any())
        for each in some
        for value in model.values_of(each)
    )


def rivals_of(operation: Operation, digits: int) -> tuple[Hypothesis, ...]:
    """The rivals of the left-to-right algorithm that a node map can judge."""
    adding = (one_layer(digits), one_layer_through_nine(digits)) if operation is Operation.ADD else ()
    return (*adding, ripple(operation, digits))


def rival_algorithms(operation: Operation, digits: int) -> tuple[Algorithm, ...]:
    """What these state, as algorithms."""
    return tuple(each.model for each in rivals_of(operation, digits) if isinstance(each.model, Algorithm))


def usual_for(task: Task) -> Hypothesis:
    """The left-to-right hypothesis about a model for this task, in its layout."""
    arithmetic = _arithmetic(task)
    return _in_layout(left_to_right(arithmetic.operation, arithmetic.digits), arithmetic)


def rivals_for(task: Task) -> tuple[Hypothesis, ...]:
    """The rivals of it that a node map can judge."""
    arithmetic = _arithmetic(task)
    return tuple(_in_layout(each, arithmetic) for each in rivals_of(arithmetic.operation, arithmetic.digits))


def aligned_rivals(task: Task) -> tuple[Hypothesis, ...]:
    """Every known rival of it, to be aligned as hard as it was.

    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> print(*(each.name for each in aligned_rivals(arithmetic_task(Operation.SUB, 3))), sep="; ")
    ripple sub; left-to-right sub with binary carries; weighted-sum sub; left-to-right sub, weighted-sum on 10%; left-to-right sub, weighted-sum on 30%; left-to-right sub, weighted-sum on 50%
    """  # noqa: E501
    arithmetic = _arithmetic(task)
    operation, digits = arithmetic.operation, arithmetic.digits
    more = [binary_carries(operation, digits), weighted_sum(operation, digits)]
    if arithmetic.question_layout.n_answer_digits > digits:  # else no operand starts with 5 or more: other shares
        more += [weighted_on_some(operation, digits, tenths) for tenths in mixtures.GATED_TENTHS]
    return (*rivals_for(arithmetic), *(_in_layout(each, arithmetic) for each in more))


def hypothesis_called(name: str, task: Task) -> Hypothesis:
    """The known hypothesis about a model for this task that has this name, or a mixture of two such.

    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> addition = arithmetic_task(Operation.ADD, 4)
    >>> hypothesis_called("left-to-right add but one-layer add where D[3] > 6", addition).required
    ('G', 'SA', 'SC', 'ST', 'SV', 'A')
    """
    arithmetic = _arithmetic(task)
    known = {each.name: each for each in (usual_for(arithmetic), *aligned_rivals(arithmetic))}
    if name in known:
        return known[name]
    if _BUT in name and _WHERE in name:
        plain = arithmetic_task(arithmetic.operation, arithmetic.digits)
        parts, _, predicate = name.rpartition(_WHERE)
        first, _, second = parts.partition(_BUT)
        if {first, second} <= known.keys():
            mixed = mixture_where(predicate, hypothesis_called(first, plain), hypothesis_called(second, plain))
            return _in_layout(mixed, arithmetic)
    raise CarryLensError(
        f"{quote(name)} is not an algorithm for {arithmetic.operation.value} that carrylens has. Write one of "
        f"{', '.join(known)}; or two of them by a predicate, such as "
        f"'{usual_for(arithmetic).name}{_BUT}weighted-sum {arithmetic.operation.value}{_WHERE}D[0] <= 4'."
    )


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
    forms = tuple(_in_layout(each, task) for each in stated.forms)
    return replace(stated, model=model, required=required, optional=optional, folded=folded, forms=forms)


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
