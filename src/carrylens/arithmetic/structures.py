"""Structures: questions that a person would think of first, and random digits almost never make.

Takes  draws, a number of digits, and which structures to mix.
Gives  two operands for each row of draws.
Never  draws itself: `populations.py` does.

A model that looks some answers up, or a backdoor, may be wrong on one question in 100,000: no test on random questions
sees it. But what is looked up has to be recognised, and what is easily recognised is structured. The structures:
- few digits: all digits of both operands are one of two, or of three.
- repeated digits: each operand is one digit again and again, as in 7777+2222; in half of the questions only its top
  columns are, as many as chance says, and the others are uniform.
- alike operands: the operands are equal, differ in one column, or differ by 1 to 9; a third each.
- powers of ten: one operand is a power of ten, or that and 1 more or less; in half of the questions both are.
- runs of 9 and 0: both operands are cut into three stretches, each of nines, of zeros or uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.operands import digit_pairs, nearby, stepped
from carrylens.arithmetic.questions import Digits
from carrylens.tasks.draws import Draws, below, chance

Operands = tuple[Digits, Digits]


class Structure(Enum):
    """What the digits of a question have in common."""

    FEW = "few digits"
    REPEATED = "repeated digits"
    ALIKE = "alike operands"
    POWERS = "powers of ten"
    RUNS = "runs of 9 and 0"


_FREE = 8  # draws that are not for a column


def n_draws(digits: int) -> int:
    """How many draws a question needs."""
    return _FREE + 2 * digits


def structured_operands(draws: Draws, digits: int, structures: Sequence[Structure]) -> Operands:
    """Two operands for each row, in equal parts of the structures, each with as many rows as chance gives it."""
    make = {
        Structure.FEW: _few,
        Structure.REPEATED: _repeated,
        Structure.ALIKE: _alike,
        Structure.POWERS: _powers,
        Structure.RUNS: _runs,
    }
    chosen = below(draws[:, 0], len(structures))
    first, second = (np.empty((len(draws), digits), dtype=np.int8) for _ in range(2))
    for place, structure in enumerate(structures):
        rows = np.flatnonzero(chosen == place)
        first[rows], second[rows] = make[structure](draws[rows], digits)
    exchanged = chance(draws[:, 1], 0.5)[:, None]
    return np.where(exchanged, second, first), np.where(exchanged, first, second)


def without_overflow(operands: Operands) -> Operands:
    """The same, moved down a column where a top digit is 5 or more, so that no sum has a digit more than they do."""
    first, second = operands
    if first.shape[1] == 1:
        return first // np.int8(2), second // np.int8(2)
    is_large = ((first[:, -1] >= 5) | (second[:, -1] >= 5))[:, None]
    lower = [np.concatenate([each[:, 1:], np.zeros_like(each[:, :1])], axis=1) for each in operands]
    return np.where(is_large, lower[0], first), np.where(is_large, lower[1], second)


def _columns(draws: Draws, digits: int, which: int) -> Draws:
    # One of two draws for each column.
    return draws[:, _FREE + which * digits : _FREE + (which + 1) * digits]


def _few(draws: Draws, digits: int) -> Operands:
    one = below(draws[:, 2], 10)
    choices = np.stack([one, (one + 1 + below(draws[:, 3], 9)) % 10, below(draws[:, 4], 10)], axis=1).astype(np.int8)
    n_choices = np.where(chance(draws[:, 5], 0.5), 2, 3)[:, None]
    first, second = (
        np.take_along_axis(choices, below(_columns(draws, digits, which), n_choices), axis=1) for which in (0, 1)
    )
    return first, second


def _repeated(draws: Draws, digits: int) -> Operands:
    n_kept = np.where(chance(draws[:, 3], 0.5), digits, 1 + below(draws[:, 4], digits))[:, None]
    is_kept = np.arange(digits) >= digits - n_kept
    first, second = digit_pairs(draws[:, 2:3])
    one, other = digit_pairs(_columns(draws, digits, 0))
    return np.where(is_kept, first, one), np.where(is_kept, second, other)


def _alike(draws: Draws, digits: int) -> Operands:
    first, _ = digit_pairs(_columns(draws, digits, 0))
    kind, step = below(draws[:, 2], 3)[:, None], 1 + below(draws[:, 3], 9).astype(np.int8)
    odd_one = np.arange(digits) == below(draws[:, 4], digits)[:, None]
    in_one_column = np.where(odd_one, (first + step[:, None]) % np.int8(10), first)
    near = nearby(first, step, chance(draws[:, 5], 0.5))
    return first, np.where(kind == 0, first, np.where(kind == 1, in_one_column, near))


def _powers(draws: Draws, digits: int) -> Operands:
    second = np.where(
        chance(draws[:, 2], 0.5)[:, None], _power(draws[:, 3:5], digits), digit_pairs(_columns(draws, digits, 0))[0]
    )
    return _power(draws[:, 5:7], digits), second


def _power(draws: Draws, digits: int) -> Digits:
    # 10**k, one less or one more; for k = digits always one less, which is all nines.
    k = below(draws[:, 0], digits + 1)
    step = np.where(k == digits, -1, below(draws[:, 1], 3) - 1).astype(np.int8)
    return stepped((np.arange(digits) == k[:, None]).astype(np.int8), step)[0]


def _runs(draws: Draws, digits: int) -> Operands:
    uniform = digit_pairs(_columns(draws, digits, 0))
    first, second = (_cut(draws[:, at : at + 3], each) for at, each in zip((2, 5), uniform, strict=True))
    return first, second


def _cut(draws: Draws, uniform: Digits) -> Digits:
    # The fills of the three stretches are digits in base three, and never uniform thrice.
    digits = uniform.shape[1]
    cuts = np.sort(below(draws[:, :2], digits + 1), axis=1)
    stretch = (np.arange(digits) >= cuts[:, :1]).astype(np.int64) + (np.arange(digits) >= cuts[:, 1:])
    fill: NDArray[np.int64] = (1 + below(draws[:, 2:3], 26)) // 3**stretch % 3
    return np.where(fill == 0, uniform, np.where(fill == 1, np.int8(0), np.int8(9)))
