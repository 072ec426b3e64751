"""Questions: batches of additions and subtractions, held as digits so that no width can overflow.

Takes  text such as `45+7`, or arrays of digits.
Gives  `Questions` and `Answers`, both with digit k in column k (column 0 holds the units).
Never  turns a number into a machine integer: 40 digits are as exact as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carrylens.arithmetic.variables import D_PRIME, OPR, D
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.variables import Variable

MAX_DIGITS = 40
"""The widest operand carrylens takes."""

Digits = NDArray[np.int8]
"""One digit per question and place value: axes [batch, digit], units first."""

_QUESTION = re.compile(r"([0-9]+)[ \t]*([+-])[ \t]*([0-9]+)[ \t]*=?", re.ASCII)
_LETTERS = frozenset("0123456789+-= \t")
_ADVICE = "Write two whole numbers with + or - between them, such as 45+7."


class Operation(Enum):
    """What a model, an algorithm or a population of questions does: add, subtract, or both."""

    ADD = "add"
    SUB = "sub"
    MIX = "mix"


class Questions(Batch):
    """A batch of questions; `minus` says which rows subtract.

    >>> questions = Questions.parse(["45+7", "325-329"])
    >>> questions.text()
    ['045+007=', '325-329=']
    >>> questions.first[1]  # units first
    array([5, 2, 3], dtype=int8)
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, minus: ArrayLike) -> None:
        left, right = _checked_digits(first, "first"), _checked_digits(second, "second")
        operators = np.array(minus, dtype=np.bool_, ndmin=1)
        if not left.shape == right.shape == (len(operators), left.shape[1]):
            raise CarryLensError(
                f"Operands of shape {left.shape} and {right.shape} with {len(operators)} operators do not form a "
                "batch. "
                "Give two [batch, digit] arrays of one shape and one operator per row."
            )
        digits = check_digits(left.shape[1])
        values = np.empty((len(operators), 2 * digits + 1), dtype=np.int8, order="F")
        values[:, :digits], values[:, digits], values[:, digits + 1 :] = left[:, ::-1], operators, right[:, ::-1]
        self._fill(question_inputs(digits), values)

    @classmethod
    def of_batch(cls, batch: Batch) -> Questions:
        """The questions that a batch with the same inputs holds."""
        if isinstance(batch, Questions):
            return batch
        digits = len(batch.inputs) // 2
        if batch.inputs != question_inputs(digits):
            raise CarryLensError("These are not questions: their inputs are not two operands and an operator.")
        made: Questions = object.__new__(cls)
        made._fill(batch.inputs, batch.values)
        return made

    @property
    def first(self) -> Digits:
        """The first operand's digits, units first: [batch, digit]."""
        return self.values[:, self.digits - 1 :: -1]

    @property
    def second(self) -> Digits:
        """The second operand's digits, units first: [batch, digit]."""
        return self.values[:, : self.digits : -1]

    @property
    def minus(self) -> NDArray[np.bool_]:
        """Which questions subtract."""
        return self._minus

    @cached_property
    def _minus(self) -> NDArray[np.bool_]:
        found = self.values[:, self.digits] == 1
        found.flags.writeable = False
        return found

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
        return len(self.inputs) // 2

    def text(self) -> list[str]:
        """Each question as a model reads it: zero-padded and closed by `=`."""
        return [
            f"{first}{'-' if minus else '+'}{second}="
            for first, minus, second in zip(_numerals(self.first), self.minus, _numerals(self.second), strict=True)
        ]


@cache
def question_inputs(digits: int) -> tuple[Variable, ...]:
    """What a question gives, in the order it is read: an operand, the operator, the other operand."""
    down = range(digits - 1, -1, -1)
    return (*(D[k] for k in down), OPR, *(D_PRIME[k] for k in down))


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a batch: a sign, and one digit more than the operands have. Zero is positive.

    >>> Answers(negative=np.array([True]), digits=np.array([[4, 0, 0, 0]], dtype=np.int8)).text()
    ['-0004']
    """

    negative: NDArray[np.bool_]
    digits: Digits

    @classmethod
    def of_outputs(cls, outputs: Columns) -> Answers:
        """The answers that a causal model's outputs are: the sign, then the digits from the top."""
        return cls(negative=outputs[:, 0] == 1, digits=outputs[:, :0:-1])

    @property
    def outputs(self) -> Columns:
        """The answers as a causal model puts them out: [batch, output]."""
        return np.column_stack([self.negative.astype(np.int8), self.digits[:, ::-1]])

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
        raise CarryLensError(f"{quote(text)} is not a question{because}. {_ADVICE}")
    first, sign, second = match.groups()
    width, limit = max(len(first), len(second)), MAX_DIGITS if digits is None else check_digits(digits)
    if width > limit and of_model:
        raise CarryLensError(
            f"{quote(text)} has an operand of {width} digits, but this model takes {limit}. Write shorter numbers."
        )
    if width > limit:
        advice = f"Give a width of {width} or more." if width <= MAX_DIGITS else f"Write at most {MAX_DIGITS}."
        raise CarryLensError(f"{quote(text)} has an operand of {width} digits, but the width is {limit}. {advice}")
    return first, sign, second


def check_digits(digits: int) -> int:
    """`digits`, if it is a width carrylens can work with."""
    if not 1 <= digits <= MAX_DIGITS:
        raise CarryLensError(f"{digits} is not a width. Write a number of digits from 1 to {MAX_DIGITS}.")
    return digits


def check_operation(operation: Operation) -> Operation:
    """`operation`, if it is one."""
    if not isinstance(operation, Operation):
        choices = ", ".join(f"Operation.{choice.name}" for choice in Operation)
        raise CarryLensError(f"{operation!r} is not an operation. Give {choices}.")
    return operation


def _checked_digits(given: ArrayLike, name: str) -> Digits:
    wide = np.asarray(given)
    if wide.ndim != 2 or wide.dtype.kind not in "iub" or (wide.size and not 0 <= wide.min() <= wide.max() <= 9):
        raise CarryLensError(
            f"The {name} operands are not a [batch, digit] array of digits. Give integers from 0 to 9."
        )
    return wide.astype(np.int8, copy=False)


def _digits_of(numerals: list[str], width: int) -> Digits:
    joined = "".join(numeral.zfill(width) for numeral in numerals).encode()
    return (np.frombuffer(joined, dtype=np.int8) - ord("0")).reshape(len(numerals), width)[:, ::-1]


def _numerals(digits: Digits) -> list[str]:
    width = digits.shape[1]
    joined = np.ascontiguousarray(digits[:, ::-1] + np.int8(ord("0"))).tobytes().decode("ascii")
    return [joined[start : start + width] for start in range(0, len(joined), width)]
