"""Question classes: how hard a question is, by how far a carry or a borrow has to travel.

Takes  questions.
Gives  S0-S5 for additions, M0-M4 and N1-N4 for subtractions, and the depths behind them.
Never  runs the algorithms: a class is read off the columns alone.

A depth is the longest run of columns that pass a carry or borrow on, directly above a column that makes one:
- cascade depth (additions): sum-9 columns above a column with a sum of 10 or more;
- sign depth (subtractions): equal columns above a column with D<D', the chain of D-D' that ends in the sign. Leading
  0-0 columns do not count;
- borrow depth (subtractions): the same in the chain whose digits are written: D-D' for a positive answer, D'-D for a
  negative one.
S0, M0: nothing is carried or borrowed. S1, M1, N1: depth 0. S2..S5, M2..M4, N2..N4: one more per step, the last for
every greater depth. M goes by the borrow depth, N by the sign depth.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Digits, Questions
from carrylens.tasks.batches import Column
from carrylens.tasks.variables import UNKNOWN


class QuestionClass(Enum):
    """A class of the paper; the value is its name."""

    S0 = "S0"
    S1 = "S1"
    S2 = "S2"
    S3 = "S3"
    S4 = "S4"
    S5 = "S5"
    M0 = "M0"
    M1 = "M1"
    M2 = "M2"
    M3 = "M3"
    M4 = "M4"
    N1 = "N1"
    N2 = "N2"
    N3 = "N3"
    N4 = "N4"


CLASSES = tuple(QuestionClass)
"""The classes in the order their codes count them."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Per question: the place of its class in CLASSES, and its depths, UNKNOWN where a depth does not apply."""

    code: Column
    cascade_depth: Column
    sign_depth: Column
    borrow_depth: Column

    def classes(self) -> list[QuestionClass]:
        """Each question's class."""
        return [CLASSES[code] for code in self.code]

    def depths(self, row: int) -> dict[str, int | None]:
        """One question's depths by name, None where a depth does not apply."""
        columns = {
            "cascade_depth": self.cascade_depth,
            "sign_depth": self.sign_depth,
            "borrow_depth": self.borrow_depth,
        }
        return {name: None if column[row] == UNKNOWN else int(column[row]) for name, column in columns.items()}


def classify(questions: Questions) -> Labels:
    """Class and depths of every question.

    >>> labels = classify(Questions.parse(["555+448", "325-329"]))
    >>> [found.name for found in labels.classes()], labels.cascade_depth, labels.sign_depth, labels.borrow_depth
    (['S3', 'N3'], array([ 2, -1], dtype=int8), array([-1,  2], dtype=int8), array([-1,  0], dtype=int8))
    """
    first, second, minus = questions.first, questions.second, questions.minus
    less, equal, negative = first < second, first == second, is_negative(questions)
    total = first + second
    cascade = longest_run(total >= 10, total == 9)
    sign = longest_run(less, equal & ~_leading_zeros(first, second))
    borrow = np.where(negative, longest_run(first > second, equal), longest_run(less, equal))
    code = np.where(
        minus,
        np.where(negative, _code("N1", sign, 3), np.where(borrow < 0, _code("M0"), _code("M1", borrow, 3))),
        np.where(cascade < 0, _code("S0"), _code("S1", cascade, 4)),
    )
    return Labels(
        code=code.astype(np.int8),
        cascade_depth=np.where(minus, np.int8(UNKNOWN), np.maximum(cascade, 0)),
        sign_depth=np.where(minus, np.maximum(sign, 0), np.int8(UNKNOWN)),
        borrow_depth=np.where(minus, np.maximum(borrow, 0), np.int8(UNKNOWN)),
    )


def is_negative(questions: Questions) -> NDArray[np.bool_]:
    """Which questions have a negative answer: subtractions whose highest unequal column has D<D'."""
    difference = np.sign(questions.first - questions.second)
    decided = np.zeros(len(questions), dtype=np.int8)
    for column in difference.T:  # the last column that differs is the highest
        decided = np.where(column == 0, decided, column)
    return questions.minus & (decided < 0)


def longest_run(makes: NDArray[np.bool_], passes: NDArray[np.bool_]) -> Column:
    """The longest run of `passes` columns directly above a `makes` column, or -1 where no column makes anything.

    >>> longest_run(np.array([[True, False, False]]), np.array([[False, True, False]]))
    array([1], dtype=int8)
    """
    run = np.zeros(len(makes), dtype=np.int8)  # one more than its length, 0 where there is none
    longest = run.copy()
    for make, carry_on in zip(makes.T, passes.T, strict=True):  # from the units up
        run += run > 0
        run *= carry_on & ~make
        run += make
        np.maximum(longest, run, out=longest)
    return longest - np.int8(1)


def _leading_zeros(first: Digits, second: Digits) -> NDArray[np.bool_]:
    zeros = (first == 0) & (second == 0)
    for column in reversed(range(zeros.shape[1] - 1)):  # from the highest down, all questions at once
        zeros[:, column] &= zeros[:, column + 1]
    return zeros


def _code(name: str, depth: Column | int = 0, deepest: int = 0) -> Column:
    return CLASSES.index(QuestionClass(name)) + np.minimum(depth, deepest)
