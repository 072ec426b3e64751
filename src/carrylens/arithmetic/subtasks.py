"""Sub-tasks: the rule behind each variable, stated once, on whole columns of a batch.

Takes  arrays of digits or of other sub-tasks' values, one entry per question.
Gives  the sub-task's value for every question.
Never  knows which variable feeds which: `algorithms.py` wires the rules together.

Definitions are those of the paper's mathematical framework, with the units column corrected: there is no column
below the units, so their sum of 9 (or pair of equal digits) is a plain 0, never U.
"""

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.variables import U
from carrylens.tasks.batches import Column


def same(value: Column) -> Column:
    """The value itself: for a variable that passes another one on."""
    return value


def zero() -> int:
    """0 for every question: for a variable that never changes."""
    return 0


def tri_add(upper: Column, lower: Column) -> Column:
    """TriAdd: the upper value where it is certain, else the lower. Associative, and U is its identity.

    >>> tri_add(np.array([0, 1, U, U]), np.array([1, 0, 1, U]))
    array([0, 1, 1, 2])
    """
    return upper + (lower - np.int8(U)) * _as_number(upper == U)


def base_add(d: Column, e: Column) -> Column:
    """SA: the column's digit before any carry."""
    return _less_ten(d + e)


def simple_carry(d: Column, e: Column) -> NDArray[np.bool_]:
    """SC: does the column carry by itself?"""
    return d + e >= 10


def sums_to_nine(d: Column, e: Column) -> NDArray[np.bool_]:
    """S9: would the column pass a carry on?"""
    return d + e == 9


def tri_carry(d: Column, e: Column) -> Column:
    """ST above the units: carry, no carry, or U where the column passes on what comes from below."""
    total = d + e
    return _as_number(total >= 10) + np.int8(U) * _as_number(total == 9)


def base_difference(d: Column, e: Column | int) -> Column:
    """MD of (D, D'), ND of (D', D): the column's digit before any borrow."""
    return _plus_ten(d - e)


def simple_borrow(d: Column, e: Column) -> NDArray[np.bool_]:
    """MC of (D, D'), NC of (D', D): does the column borrow by itself?"""
    return d < e


def tri_borrow(d: Column, e: Column) -> Column:
    """MB of (D, D'), NB of (D', D) above the units: borrow, no borrow, or U where the digits are equal."""
    return _as_number(d < e) + np.int8(U) * _as_number(d == e)


def sum_digit(base: Column, carry: Column | int = 0) -> Column:
    """A of an addition: the base digit plus the carry from below."""
    return _less_ten(base + carry)


def difference_digit(
    sign: Column,
    positive: Column,
    negative: Column,
    positive_borrow: Column | int = 0,
    negative_borrow: Column | int = 0,
) -> Column:
    """A of a subtraction: MD less its borrow where the answer is positive, ND less its borrow where it is negative."""
    return _plus_ten(np.where(sign == 0, positive - positive_borrow, negative - negative_borrow))


def only_if_minus(operator: Column, value: Column) -> NDArray[np.bool_]:
    """`value` where the question subtracts, else 0."""
    return (operator == 1) & (value == 1)


def only_if_plus(operator: Column, value: Column) -> NDArray[np.bool_]:
    """`value` where the question adds, else 0."""
    return (operator == 0) & (value == 1)


def _less_ten(total: Column) -> Column:
    # Modulo 10 for 0 .. 19, all that two digits and a carry can make; several times faster than %.
    return total - np.int8(10) * _as_number(total > 9)


def _plus_ten(difference: Column) -> Column:
    # Modulo 10 for -10 .. 9, all that two digits less a borrow can make.
    return difference + np.int8(10) * _as_number(difference < 0)


def _as_number(holds: NDArray[np.bool_]) -> Column:
    # 1 where it holds, else 0, without a copy: half the time of a rule.
    return holds.view(np.int8)
