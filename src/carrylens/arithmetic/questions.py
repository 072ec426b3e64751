"""Questions: batches of additions and subtractions, held as digits so that no width can overflow.

Takes  text such as `45+7`, or arrays of digits.
Gives  `Questions` and `Answers`, both with digit k in column k (column 0 holds the units).
Never  turns a number into a machine integer: 40 digits are as exact as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carrylens.errors import CarryLensError, quote

MAX_DIGITS = 40
"""The widest operand carrylens takes."""

Column = NDArray[np.int8]
"""One small integer per question: axes [batch]."""

Digits = NDArray[np.int8]
"""One digit per question and place value: axes [batch, digit], units first."""

_QUESTION = re.compile(r"([0-9]+)[ \t]*([+-])[ \t]*([0-9]+)[ \t]*=?", re.ASCII)
_LETTERS = frozenset("0123456789+-= \t")
_ADVICE = "Write two whole numbers with + or - between them, such as 45+7."


class Operation(Enum):
    """What a model, an algorithm or a stream of questions does: add, subtract, or both."""

    ADD = "add"
    SUB = "sub"
    MIX = "mix"


@dataclass(frozen=True, eq=False)
class Questions:
    """A batch of questions; `minus` says which rows subtract.

    >>> questions = Questions.parse(["45+7", "325-329"])
    >>> questions.text()
    ['045+007=', '325-329=']
    >>> questions.first[1]  # units first
    array([5, 2, 3], dtype=int8)
    """

    first: Digits
    second: Digits
    minus: NDArray[np.bool_]

    def __post_init__(self) -> None:
        first, second = _frozen_digits(self.first, "first"), _frozen_digits(self.second, "second")
        minus = np.array(self.minus, dtype=np.bool_, ndmin=1)
        if not first.shape == second.shape == (len(minus), first.shape[1]):
            raise CarryLensError(
                f"Operands of shape {first.shape} and {second.shape} with {len(minus)} operators make no batch. "
                "Give two [batch, digit] arrays of one shape and one operator per row."
            )
        check_digits(first.shape[1])
        minus.flags.writeable = False
        for name, value in (("first", first), ("second", second), ("minus", minus)):
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, texts: Iterable[str], digits: int | None = None) -> Questions:
        """The batch that `texts` write down, padded to `digits`, or to the widest operand among them.

        >>> Questions.parse(["45+7"], digits=6).text()
        ['000045+000007=']
        """
        if isinstance(texts, str):
            raise CarryLensError(f"{quote(texts)} is one text, not a batch of them. Write [{quote(texts)}].")
        split = [split_question(text, digits) for text in texts]
        width = max((max(len(first), len(second)) for first, _, second in split), default=1)
        width = width if digits is None else check_digits(digits)
        return cls(
            first=_digits_of([first for first, _, _ in split], width),
            second=_digits_of([second for _, _, second in split], width),
            minus=np.array([sign == "-" for _, sign, _ in split], dtype=np.bool_),
        )

    @property
    def digits(self) -> int:
        """How many digits each operand has."""
        return int(self.first.shape[1])

    def text(self) -> list[str]:
        """Each question as a model reads it: zero-padded and closed by `=`."""
        return [
            f"{first}{'-' if minus else '+'}{second}="
            for first, minus, second in zip(_numerals(self.first), self.minus, _numerals(self.second), strict=True)
        ]

    def __len__(self) -> int:
        return len(self.minus)

    def __getitem__(self, rows: int | slice | NDArray[np.intp] | NDArray[np.bool_]) -> Questions:
        """A batch of the rows asked for; of one row, if its number is given."""
        if isinstance(rows, int):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"question {rows} of {len(self)}")
            rows = np.array([rows])
        rows = np.flatnonzero(rows) if isinstance(rows, np.ndarray) and rows.dtype == np.bool_ else rows
        picked = object.__new__(Questions)  # rows of checked questions need no second check
        for name, value in (("first", self.first), ("second", self.second), ("minus", self.minus)):
            some = value[rows] if isinstance(rows, slice) else value.take(rows, axis=0)
            some.flags.writeable = False
            object.__setattr__(picked, name, some)
        return picked

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Questions) and all(
            np.array_equal(mine, theirs)
            for mine, theirs in (
                (self.first, other.first),
                (self.second, other.second),
                (self.minus, other.minus),
            )
        )

    __hash__ = None  # type: ignore[assignment]


def joined(some: Sequence[Questions]) -> Questions:
    """All the questions, one after another."""
    first, second, minus = (np.concatenate([getattr(s, name) for s in some]) for name in ("first", "second", "minus"))
    return Questions(first, second, minus)


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a batch: a sign, and one digit more than the operands have. Zero is positive.

    >>> Answers(negative=np.array([True]), digits=np.array([[4, 0, 0, 0]], dtype=np.int8)).text()
    ['-0004']
    """

    negative: NDArray[np.bool_]
    digits: Digits

    def text(self) -> list[str]:
        """Each answer as a model writes it: sign, then every digit, leading zeros included."""
        signs = np.where(self.negative, "-", "+")
        return [f"{sign}{digits}" for sign, digits in zip(signs, _numerals(self.digits), strict=True)]

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Answers:
        """The answers of the rows asked for."""
        return Answers(self.negative[rows], self.digits[rows])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Answers)
            and np.array_equal(self.negative, other.negative)
            and np.array_equal(self.digits, other.digits)
        )

    __hash__ = None  # type: ignore[assignment]


def split_question(text: str, digits: int | None = None, *, of_model: bool = False) -> tuple[str, str, str]:
    """First operand, operator and second operand of one question, or an error that says what to write.

    With `of_model`, `digits` is what a model takes, so there is no other width to ask for.

    >>> split_question(" 45 + 7 = ")
    ('45', '+', '7')
    """
    match = _QUESTION.fullmatch(text.strip())
    if match is None:
        stranger = next((letter for letter in text.strip() if letter not in _LETTERS), None)
        because = "" if stranger is None else f": {stranger!r} (U+{ord(stranger):04X}) does not belong in one"
        raise CarryLensError(f"{quote(text)} is no question{because}. {_ADVICE}")
    first, sign, second = match.groups()
    width, limit = max(len(first), len(second)), MAX_DIGITS if digits is None else check_digits(digits)
    if width > limit and of_model:
        raise CarryLensError(
            f"{quote(text)} has an operand of {width} digits, but this model takes {limit}. Write shorter numbers."
        )
    if width > limit:
        advice = f"Ask for a width of {width} or more." if width <= MAX_DIGITS else f"Write at most {MAX_DIGITS}."
        raise CarryLensError(f"{quote(text)} has an operand of {width} digits, but the width is {limit}. {advice}")
    return first, sign, second


def check_digits(digits: int) -> int:
    """`digits`, if it is a width carrylens can work with."""
    if not 1 <= digits <= MAX_DIGITS:
        raise CarryLensError(f"{digits} is no width. Write a number of digits from 1 to {MAX_DIGITS}.")
    return digits


def check_operation(operation: Operation) -> Operation:
    """`operation`, if it is one."""
    if not isinstance(operation, Operation):
        choices = ", ".join(f"Operation.{choice.name}" for choice in Operation)
        raise CarryLensError(f"{operation!r} is no operation. Give {choices}.")
    return operation


def _frozen_digits(given: ArrayLike, name: str) -> Digits:
    # Digit-major in memory: every rule works on whole columns.
    wide = np.asarray(given)
    if wide.ndim != 2 or wide.dtype.kind not in "iub" or (wide.size and not 0 <= wide.min() <= wide.max() <= 9):
        raise CarryLensError(f"The {name} operands are no [batch, digit] array of digits. Give integers from 0 to 9.")
    digits = np.array(wide, dtype=np.int8, order="F")
    digits.flags.writeable = False
    return digits


def _digits_of(numerals: list[str], width: int) -> Digits:
    joined = "".join(numeral.zfill(width) for numeral in numerals).encode()
    return (np.frombuffer(joined, dtype=np.int8) - ord("0")).reshape(len(numerals), width)[:, ::-1]


def _numerals(digits: Digits) -> list[str]:
    width = digits.shape[1]
    joined = np.ascontiguousarray(digits[:, ::-1] + np.int8(ord("0"))).tobytes().decode("ascii")
    return [joined[start : start + width] for start in range(0, len(joined), width)]
