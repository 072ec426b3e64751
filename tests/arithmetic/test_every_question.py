"""Every question there is, each once."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.every_question import EveryQuestion
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.exam_record import meets_bar
from carrylens.errors import CarryLensError
from carrylens.training.exam_results import PartResult


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.SUB])
def test_every_question_comes_once_in_any_pieces(operation: Operation) -> None:
    every = EveryQuestion(operation, 2)
    texts = [
        text
        for start in range(0, every.count, 1234)
        for text in every.draw(9, start, min(1234, every.count - start)).text()
    ]
    sign = "+" if operation is Operation.ADD else "-"
    assert texts == [f"{first:02}{sign}{second:02}=" for first in range(100) for second in range(100)]


def test_small_sums_are_those_that_the_layout_admits() -> None:
    every, task = EveryQuestion(Operation.ADD, 2, small=True), arithmetic_task(Operation.ADD, 2)
    questions = EveryQuestion(Operation.ADD, 2).draw(0, 0, 10_000)
    small = [
        text
        for text, top, other in zip(questions.text(), questions.first[:, -1], questions.second[:, -1], strict=True)
        if top < 5 and other < 5
    ]
    assert every.draw(0, 0, every.count).text() == small
    assert task.question_layout == QuestionLayout(2)


def test_no_more_are_drawn_than_there_are() -> None:
    with pytest.raises(CarryLensError):
        EveryQuestion(Operation.ADD, 2).draw(0, 9_999, 2)
    with pytest.raises(CarryLensError):
        EveryQuestion(Operation.ADD, 5)


@pytest.mark.parametrize(("failed", "bar"), [(0, True), (9, None), (10, False)])
def test_the_bar_on_every_question(failed: int, bar: bool | None) -> None:
    assert meets_bar([PartResult("every question", "add", 1_000_000, failed)]) is bar
