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
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.layout import TokenIds

VOCABULARY = "0123456789+-=*/"
"""Every token; a token's id is its place here. `*` and `/` are in the published models' vocabulary and never used."""

PLUS, MINUS, EQUALS = (VOCABULARY.index(token) for token in "+-=")


def encode(questions: Questions, answers: Answers | None = None) -> TokenIds:
    """The ids of each question up to `=`, and of its answer where one is given.

    >>> encode(Questions.parse(["45+7"]))
    array([[ 4,  5, 10,  0,  7, 12]])
    """
    return QuestionLayout(questions.digits).layout().encode(questions, None if answers is None else answers.outputs)


def decode(ids: TokenIds) -> list[str]:
    """The text of each row of ids.

    >>> decode(np.array([[4, 5, 10, 0, 7, 12]]))
    ['45+07=']
    """
    return QuestionLayout(1).layout().text(ids)


@cache
def place_names(digits: int) -> tuple[str, ...]:
    """The name of every position. The operator's place is `+`, whichever operator stands there.

    >>> " ".join(place_names(2))
    "D1 D0 + D'1 D'0 = A3 A2 A1 A0"
    """
    return QuestionLayout(digits).layout().place_names


def place_position(name: str, digits: int) -> int:
    """The position of the place called `name`.

    >>> place_position("D'0", 6), place_position("A7", 6)
    (12, 14)
    """
    names = place_names(digits)
    if name not in names:
        raise CarryLensError(
            f"{quote(name)} is not a place of a question with {digits} digits. Write one of {' '.join(names)}."
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
