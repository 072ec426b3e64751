"""The rivals: other hypotheses of how a model might add or subtract, stated the same way.

Takes  a number of digits.
Gives  causal models that compete with `algorithms.py` on the same questions.
Never  judges which is right.

- `one_layer`: the base digit plus the carry of the column below, as one layer can compute it. Wrong as soon as a carry
  must pass through a column that sums to 9; with `sum_nine` it looks through one such column, and is wrong at two.
- `ripple`: the schoolbook way, from the units up. A negative difference is first written modulo 10**digits and then
  negated, again from the units up. Always right, but it cannot give an answer's first digit before its last.
- `weighted_sum`: every carry is read off one sum of all columns up to it, weighted by powers of ten. Always right; no
  column says anything about its carry by itself, so there is nothing to pass on and no third value.
- `binary_carries`: the left-to-right algorithm, but a column says two binary things of its carry instead of one of
  three values: SC and S9 for an addition, MC and NC (D<D' and D'<D) for a subtraction. Always right.
Mixtures of two algorithms are in `mixtures.py`.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm, pruned, restate, state_algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import Operation, check_digits, check_operation
from carrylens.arithmetic.subtasks import (
    base_add,
    base_difference,
    only_if_minus,
    only_if_plus,
    same,
    simple_carry,
    sum_digit,
    sums_to_nine,
    zero,
)
from carrylens.arithmetic.variables import (
    D_PRIME,
    MC,
    MV,
    NC,
    NV,
    OPR,
    S9,
    SA,
    SC,
    SGN,
    SU,
    SV,
    WM,
    WN,
    WS,
    A,
    B,
    C,
    D,
    R,
    Z,
)
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism, Rule
from carrylens.tasks.variables import Family

_TRI_STATE = ("ST", "MB", "NB")
_WIDEST = 18  # digits that one 64-bit number holds


@cache
def one_layer(digits: int, sum_nine: bool = False) -> Algorithm:
    """Addition by SA and SC alone, or with a look through one column that sums to 9.

    >>> from carrylens.arithmetic.questions import Questions
    >>> one_layer(3).answers(Questions.parse(["045+046", "555+446"])).text()
    ['+0091', '+0901']
    """
    check_digits(digits)
    name = "one-layer add with sum 9" if sum_nine else "one-layer add"
    return state_algorithm(name, Operation.ADD, digits, _one_layer(digits, sum_nine))


@cache
def ripple(operation: Operation, digits: int) -> Algorithm:
    """The schoolbook algorithm, from the units up.

    >>> from carrylens.arithmetic.questions import Questions
    >>> ripple(Operation.SUB, 3).answers(Questions.parse(["325-329"])).text()
    ['-0004']
    """
    check_digits(digits)
    check_operation(operation)
    return state_algorithm(f"ripple {operation.value}", operation, digits, _ripple(operation, digits))


@cache
def weighted_sum(operation: Operation, digits: int, n_carries: int | None = None) -> Algorithm:
    """The left-to-right algorithm with its lowest `n_carries` carries read off weighted sums; all of them by default.

    >>> from carrylens.arithmetic.questions import Questions
    >>> weighted_sum(Operation.ADD, 3).answers(Questions.parse(["555+448"]), do={"WS[1]": 0}).text()
    ['+1903']
    """
    check_digits(digits)
    check_operation(operation)
    n_weighed = digits if n_carries is None else n_carries
    if not 1 <= n_weighed <= digits:
        raise CarryLensError(f"{n_weighed} carries cannot be weighed in {digits} digits. Give 1 to {digits}.")
    some = "" if n_weighed == digits else f", {n_weighed} of {digits} carries"
    return pruned(weigh_carries(algorithm(operation, digits), n_weighed, f"weighted-sum {operation.value}{some}"))


@cache
def binary_carries(operation: Operation, digits: int) -> Algorithm:
    """The left-to-right algorithm with two binary flags a column.

    >>> [str(parent) for parent in binary_carries(Operation.ADD, 3).by_variable[SV[1]].parents]
    ['SC[1]', 'S9[1]', 'SV[0]']
    """
    model = algorithm(operation, digits)
    return state_algorithm(f"{model.name} with binary carries", operation, digits, _binary(model))


def weigh_carries(model: Algorithm, n_carries: int, name: str) -> Algorithm:
    """The same algorithm, but that what reads one of its lowest resolved carries reads a weighted sum's instead."""
    read = {
        parent
        for output in model.outputs
        for parent in model.by_variable[output].parents
        if parent.name in WEIGHED and (parent.index or 0) < n_carries
    }
    weighed = [_weighed(*WEIGHED[each.name], each.index or 0) for each in sorted(read)]
    swap = {each: WEIGHED[each.name][0][each.index or 0] for each in read}
    rest = [
        Mechanism(each.variable, tuple(swap.get(parent, parent) for parent in each.parents), each.rule)
        if each.variable in model.outputs
        else each
        for each in model.mechanisms
    ]
    return restate(model, name, (*weighed, *rest))


def _weighed(family: Family, rule: Rule, k: int) -> Mechanism:
    return Mechanism(family[k], tuple(side[j] for side in (D, D_PRIME) for j in range(k, -1, -1)), rule)


def _binary(model: Algorithm) -> Iterator[Mechanism]:
    # Columns first, because MV is made of NC too.
    resolved = [mechanism for mechanism in model.mechanisms if mechanism.variable.name in WEIGHED]
    answers = [mechanism for mechanism in model.mechanisms if mechanism.variable in model.outputs]
    for mechanism in model.mechanisms:
        if mechanism not in resolved and mechanism not in answers and mechanism.variable.name not in _TRI_STATE:
            yield mechanism
        if mechanism.variable.name == "SC" and (k := mechanism.variable.index):
            yield Mechanism(S9[k], (D[k], D_PRIME[k]), sums_to_nine)
    for mechanism in resolved:
        name, digit = mechanism.variable.name, mechanism.variable.index or 0
        own, other, family = {"SV": (SC, S9, SV), "MV": (MC, NC, MV), "NV": (NC, MC, NV)}[name]
        rule = carry_or_pass if name == "SV" else borrow_or_pass
        parents = (own[digit], other[digit], family[digit - 1]) if digit else (own[0],)
        yield Mechanism(family[digit], parents, rule if digit else same)
    yield from answers


def _one_layer(digits: int, sum_nine: bool) -> Iterator[Mechanism]:
    for k in range(digits - 1, -1, -1):
        pair = (D[k], D_PRIME[k])
        yield Mechanism(SA[k], pair, base_add)
        yield Mechanism(SC[k], pair, simple_carry)
        if sum_nine:
            yield Mechanism(S9[k], pair, sums_to_nine)
    carry = SU if sum_nine else SC
    if sum_nine:
        for k in range(digits):
            yield Mechanism(SU[k], (SC[k], S9[k], *SC.below(k)), carry_through_one_nine)
    yield Mechanism(SGN, (), zero)
    yield Mechanism(A[digits], (carry[digits - 1],), same)
    for k in range(digits - 1, -1, -1):
        yield Mechanism(A[k], (SA[k], *carry.below(k)), sum_digit)


def _ripple(operation: Operation, digits: int) -> Iterator[Mechanism]:
    adds, subtracts = operation is not Operation.SUB, operation is not Operation.ADD
    for k in range(digits):
        pair = (D[k], D_PRIME[k])
        if adds:
            yield Mechanism(C[k], (*pair, *C.below(k)), rippled_carry)
        if subtracts:
            yield Mechanism(B[k], (*pair, *B.below(k)), rippled_borrow)
            yield Mechanism(R[k], (*pair, *B.below(k)), rippled_difference)
            yield Mechanism(Z[k], (R[k], *Z.below(k)), rippled_nonzero)
    top = digits - 1
    if operation is Operation.ADD:
        yield Mechanism(SGN, (), zero)
        yield Mechanism(A[digits], (C[top],), same)
    elif operation is Operation.SUB:
        yield Mechanism(SGN, (B[top],), same)
        yield Mechanism(A[digits], (), zero)
    else:
        yield Mechanism(SGN, (OPR, B[top]), only_if_minus)
        yield Mechanism(A[digits], (OPR, C[top]), only_if_plus)
    for k in range(digits):
        sum_parents = (D[k], D_PRIME[k], *C.below(k))
        difference_parents = (SGN, R[k], *Z.below(k))
        if operation is Operation.ADD:
            yield Mechanism(A[k], sum_parents, rippled_sum)
        elif operation is Operation.SUB:
            yield Mechanism(A[k], difference_parents, rippled_negation)
        else:
            rule = either_digit if k else either_units
            yield Mechanism(A[k], (OPR, *sum_parents, *difference_parents), rule)


def is_less(first: Sequence[Column], second: Sequence[Column]) -> NDArray[np.bool_]:
    """Whether the number that the first digits write, from the highest down, is less than the second's.

    >>> is_less(*np.array([[[5, 1], [4, 2]], [[5, 9], [7, 9]]], dtype=np.int8))
    array([ True,  True])
    """
    found = np.zeros(len(first[0]), dtype=np.bool_)
    undecided = ~found
    for at in range(0, len(first), _WIDEST):
        weights = 10 ** np.arange(len(first[at : at + _WIDEST]) - 1, -1, -1, dtype=np.int64)
        one, other = (weights @ np.stack(side[at : at + _WIDEST]).astype(np.int64) for side in (first, second))
        found |= undecided & (one < other)
        undecided &= one == other
    return found


def weighed_carry(*digits: Column) -> NDArray[np.bool_]:
    """WS: does the sum of both numbers have a digit more than they do?"""
    half = len(digits) // 2
    return is_less([9 - digit for digit in digits[half:]], digits[:half])


def weighed_borrow(*digits: Column) -> NDArray[np.bool_]:
    """WM: is the first number less than the second?"""
    half = len(digits) // 2
    return is_less(digits[:half], digits[half:])


def weighed_return(*digits: Column) -> NDArray[np.bool_]:
    """WN: is the second number less than the first?"""
    half = len(digits) // 2
    return is_less(digits[half:], digits[:half])


WEIGHED = {"SV": (WS, weighed_carry), "MV": (WM, weighed_borrow), "NV": (WN, weighed_return)}
"""For each resolved carry the family and the rule of its weighted sum."""


def carry_or_pass(carry: Column, nine: Column, below: Column) -> Column:
    """SV of binary carries: what comes from below where the column sums to 9, else its own carry."""
    return np.where(nine == 1, below, carry)


def borrow_or_pass(borrow: Column, other: Column, below: Column) -> Column:
    """MV of (MC, NC), NV of (NC, MC): what comes from below where neither digit is the smaller one."""
    return np.where((borrow == 0) & (other == 0), below, borrow)


def carry_through_one_nine(carry: Column, nine: Column, carry_below: Column | int = 0) -> NDArray[np.bool_]:
    """SU: the column's own carry, or that of the column below where this one sums to 9."""
    return (carry == 1) | ((nine == 1) & (carry_below == 1))


def rippled_carry(d: Column, e: Column, carry: Column | int = 0) -> NDArray[np.bool_]:
    """C: does the column carry, with what it gets from below?"""
    return d + e + carry >= 10


def rippled_sum(d: Column, e: Column, carry: Column | int = 0) -> Column:
    """A of a sum, with the carry from below."""
    return sum_digit(base_add(d, e), carry)


def rippled_borrow(d: Column, e: Column, borrow: Column | int = 0) -> NDArray[np.bool_]:
    """B: does the column borrow, with what was borrowed from it below?"""
    return d - e - borrow < 0


def rippled_difference(d: Column, e: Column, borrow: Column | int = 0) -> Column:
    """R: the digit of D-D' modulo 10**digits."""
    return base_difference(base_difference(d, e), borrow)


def rippled_nonzero(digit: Column, nonzero_below: Column | int = 0) -> NDArray[np.bool_]:
    """Z: is R nonzero in this column or below it?"""
    return (digit != 0) | (nonzero_below == 1)


def rippled_negation(sign: Column, digit: Column, nonzero_below: Column | int = 0) -> Column:
    """A of a difference: R, or 10**digits less R where the sign is negative."""
    return np.where(sign == 0, digit, base_difference(-digit, nonzero_below))


def either_digit(
    operator: Column, d: Column, e: Column, carry: Column, sign: Column, digit: Column, nonzero_below: Column
) -> Column:
    """A of the mixed ripple above the units: the sum's digit or the difference's."""
    return np.where(operator == 0, rippled_sum(d, e, carry), rippled_negation(sign, digit, nonzero_below))


def either_units(operator: Column, d: Column, e: Column, sign: Column, digit: Column) -> Column:
    """A of the mixed ripple at the units, which nothing comes up to."""
    return np.where(operator == 0, rippled_sum(d, e), rippled_negation(sign, digit))
