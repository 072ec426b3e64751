"""Tokens: the vocabulary, and a name for every place of a sequence.

Takes  questions with or without their answers, or text.
Gives  token ids as a model reads them, text back, and place names such as `D5`, `D'0`, `=` and `A7`.
Never  knows a model.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.layout import equals_position, sequence_length
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.questions import Answers, Questions, check_digits
from carrylens.errors import CarryLensError, quote

VOCABULARY = "0123456789+-=*/"
"""Every token; a token's id is its place here. `*` and `/` are in the published models' vocabulary and never used."""

PLUS, MINUS, EQUALS = (VOCABULARY.index(token) for token in "+-=")

TokenIds = NDArray[np.int64]
"""Axes [batch, pos]."""


def encode(questions: Questions, answers: Answers | None = None) -> TokenIds:
    """The ids of each question up to `=`, and of its answer where one is given.

    >>> encode(Questions.parse(["45+7"]))
    array([[ 4,  5, 10,  0,  7, 12]])
    """
    n, count = questions.digits, len(questions)
    ids = np.empty((count, equals_position(n) + 1 if answers is None else sequence_length(n)), dtype=np.int64)
    ids[:, :n] = questions.first[:, ::-1]
    ids[:, n] = np.where(questions.minus, MINUS, PLUS)
    ids[:, n + 1 : 2 * n + 1] = questions.second[:, ::-1]
    ids[:, 2 * n + 1] = EQUALS
    if answers is not None:
        if answers.digits.shape != (count, n + 1):
            raise CarryLensError(
                f"{len(answers.digits)} answers of {answers.digits.shape[1]} digits do not belong to {count} questions "
                f"of {n}. Give one answer of {n + 1} digits for each."
            )
        ids[:, 2 * n + 2] = np.where(answers.negative, MINUS, PLUS)
        ids[:, 2 * n + 3 :] = answers.digits[:, ::-1]
    return ids


def decode(ids: TokenIds) -> list[str]:
    """The text of each row of ids.

    >>> decode(np.array([[4, 5, 10, 0, 7, 12]]))
    ['45+07=']
    """
    if ids.size and not 0 <= ids.min() <= ids.max() < len(VOCABULARY):
        raise CarryLensError(
            f"Token ids run from 0 to {len(VOCABULARY) - 1}, but {ids.min()} to {ids.max()} were given."
        )
    letters = np.array(list(VOCABULARY))[ids]
    return ["".join(row) for row in letters]


@cache
def place_names(digits: int) -> tuple[str, ...]:
    """The name of every position. The operator's place is `+`, whichever operator stands there.

    >>> " ".join(place_names(2))
    "D1 D0 + D'1 D'0 = A3 A2 A1 A0"
    """
    check_digits(digits)
    down = range(digits - 1, -1, -1)
    answer = range(digits + 1, -1, -1)
    return (*(f"D{k}" for k in down), "+", *(f"D'{k}" for k in down), "=", *(f"A{k}" for k in answer))


def place_position(name: str, digits: int) -> int:
    """The position of the place called `name`.

    >>> place_position("D'0", 6), place_position("A7", 6)
    (12, 14)
    """
    names = place_names(digits)
    if name not in names:
        raise CarryLensError(
            f"{quote(name)} is no place of a question with {digits} digits. Write one of {' '.join(names)}."
        )
    return names.index(name)


def answer_positions(digits: int) -> range:
    """The positions at which the answer's tokens are predicted, sign first: each one before its token stands.

    >>> answer_positions(6)
    range(13, 21)
    """
    return range(equals_position(digits), sequence_length(digits) - 1)


def answer_tokens(questions: Questions, given: Answers | None = None) -> NDArray[np.int8]:
    """The token ids of these answers, or of the right ones: [question, token]."""
    layout = QuestionLayout(questions.digits).layout()
    return layout.output_ids((answers(questions) if given is None else given).outputs)
