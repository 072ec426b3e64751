"""The algorithms: how addition, subtraction and both together are done from left to right.

Takes  an operation and a number of digits.
Gives  the causal model that states it, and through it the exact answers and every sub-task's value.
Never  states a rule twice: rules are in `subtasks.py`, the wiring is here.

As the tokens arrive, left to right:
1. At D'[k] column k is complete: its base digit (SA, MD, ND) and its tri-state carry or borrow (ST, MB, NB).
2. TriAdd folds the tri-state values into the resolved ones (SV, MV, NV). After D'[0] none is uncertain.
3. At `=` the sign is known: the borrow out of the top column of D-D' (SGN).
4. Each answer digit is the base digit of its column and the resolved carry or borrow of the column below it. A
   subtraction takes MD and MV where the answer is positive, ND and NV where it is negative; the operator chooses.
SC, MC and NC, the binary carry and borrow, are stated because models compute them; no answer needs them.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm, state_algorithm
from carrylens.arithmetic.questions import Answers, Operation, Questions, check_digits, check_operation
from carrylens.arithmetic.subtasks import (
    base_add,
    base_difference,
    difference_digit,
    only_if_minus,
    only_if_plus,
    same,
    simple_borrow,
    simple_carry,
    sum_digit,
    tri_add,
    tri_borrow,
    tri_carry,
    zero,
)
from carrylens.arithmetic.variables import D_PRIME, MB, MC, MD, MV, NB, NC, ND, NV, OPR, SA, SC, SGN, ST, SV, A, D
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism, Rule, Values
from carrylens.tasks.variables import Family


@cache
def algorithm(operation: Operation, digits: int) -> Algorithm:
    """The left-to-right algorithm for `operation` on operands of `digits` digits.

    >>> addition = algorithm(Operation.ADD, 3)
    >>> questions = Questions.parse(["555+448"])
    >>> addition.answers(questions).text()
    ['+1003']
    >>> addition.answers(questions, do={ST[1]: 0}).text()  # the cascade is cut at column 1
    ['+0903']
    """
    check_digits(digits)
    check_operation(operation)
    state = {Operation.ADD: _addition, Operation.SUB: _subtraction, Operation.MIX: _mixed}[operation]
    return state_algorithm(f"left-to-right {operation.value}", operation, digits, state(digits))


def subtasks(questions: Questions) -> Values:
    """Every sub-task's value for every digit of every question, whichever operation the question asks for."""
    return algorithm(Operation.MIX, questions.digits).run(questions)


def answers(questions: Questions) -> Answers:
    """The exact answers.

    >>> answers(Questions.parse(["555+448", "325-329"])).text()
    ['+1003', '-0004']
    """
    return algorithm(Operation.MIX, questions.digits).answers(questions)


def _addition(digits: int) -> Iterator[Mechanism]:
    yield from _addition_columns(digits)
    yield Mechanism(SGN, (), zero)
    yield Mechanism(A[digits], (SV[digits - 1],), same)
    for k in range(digits - 1, -1, -1):
        yield Mechanism(A[k], (SA[k], *SV.below(k)), sum_digit)


def _subtraction(digits: int) -> Iterator[Mechanism]:
    yield from _subtraction_columns(digits)
    yield Mechanism(SGN, (MV[digits - 1],), same)
    yield Mechanism(A[digits], (), zero)
    for k in range(digits - 1, -1, -1):
        yield Mechanism(A[k], (SGN, MD[k], ND[k], *MV.below(k), *NV.below(k)), difference_digit)


def _mixed(digits: int) -> Iterator[Mechanism]:
    yield from _addition_columns(digits)
    yield from _subtraction_columns(digits)
    yield Mechanism(SGN, (OPR, MV[digits - 1]), only_if_minus)
    yield Mechanism(A[digits], (OPR, SV[digits - 1]), only_if_plus)
    for k in range(digits - 1, -1, -1):
        parents = (OPR, SGN, SA[k], MD[k], ND[k], *SV.below(k), *MV.below(k), *NV.below(k))
        yield Mechanism(A[k], parents, chosen_digit)


def chosen_digit(
    operator: Column, sign: Column, added: Column, positive: Column, negative: Column, *below: Column
) -> Column:
    """A of a mixed model: the sum's digit or the difference's, as the operator says."""
    return np.where(
        operator == 0,
        sum_digit(added, *below[:1]),
        difference_digit(sign, positive, negative, *below[1:]),
    )


def _addition_columns(digits: int) -> Iterator[Mechanism]:
    yield from _columns(digits, (D, D_PRIME), base=(SA, base_add), binary=(SC, simple_carry), tri=(ST, tri_carry))
    yield from _resolved(digits, ST, SV)


def _subtraction_columns(digits: int) -> Iterator[Mechanism]:
    for pair, base, binary, tri, resolved in (((D, D_PRIME), MD, MC, MB, MV), ((D_PRIME, D), ND, NC, NB, NV)):
        rules = {"base": (base, base_difference), "binary": (binary, simple_borrow), "tri": (tri, tri_borrow)}
        yield from _columns(digits, pair, **rules)
        yield from _resolved(digits, tri, resolved)


def _columns(
    digits: int,
    pair: tuple[Family, Family],
    *,
    base: tuple[Family, Rule],
    binary: tuple[Family, Rule],
    tri: tuple[Family, Rule],
) -> Iterator[Mechanism]:
    # Step 1: what each column says by itself. Nothing comes up to the units: their tri-state rule is the binary one.
    for k in range(digits - 1, -1, -1):
        parents = (pair[0][k], pair[1][k])
        for family, rule in (base, binary, (tri[0], tri[1] if k else binary[1])):
            yield Mechanism(family[k], parents, rule)


def _resolved(digits: int, tri: Family, resolved: Family) -> Iterator[Mechanism]:
    # Step 2: TriAdd is associative, so folding upwards gives what folding as the tokens arrive gives.
    yield Mechanism(resolved[0], (tri[0],), same)
    for k in range(1, digits):
        yield Mechanism(resolved[k], (tri[k], resolved[k - 1]), tri_add)
