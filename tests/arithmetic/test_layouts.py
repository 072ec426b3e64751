"""Layouts of questions: the paper's against the positions stated for it, and others that a record describes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic import Operation, Population, PopulationKind, answers
from carrylens.arithmetic.layout import equals_position, position_of, sequence_length
from carrylens.arithmetic.layouts import VOCABULARY, QuestionLayout
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.arithmetic.tokens import VOCABULARY as LETTERS
from carrylens.arithmetic.tokens import answer_positions, answer_tokens, decode, encode, place_names, place_position
from carrylens.arithmetic.variables import SGN, A
from carrylens.errors import CarryLensError


@pytest.mark.parametrize("digits", range(1, 7))
def test_the_papers_layout_is_the_one_stated_position_by_position(digits: int) -> None:
    layout, task = QuestionLayout(digits).layout(), arithmetic_task(Operation.MIX, digits)
    assert tuple(LETTERS) == VOCABULARY == layout.vocabulary
    assert layout.place_names == place_names(digits)
    assert (layout.n_positions, layout.n_question) == (sequence_length(digits), equals_position(digits) + 1)
    assert layout.reads == answer_positions(digits)
    for slot in layout.slots:
        assert layout.position(slot.name) == place_position(slot.name, digits)
        if slot.variable is not None:
            assert position_of(slot.variable, digits) == layout.position(slot.name)
    for output in layout.outputs:
        assert layout.read_position(output) == position_of(output, digits) - 1
    questions = Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(1, 0, 50)
    assert (layout.encode(questions) == encode(questions)).all()
    assert (task.token_ids(questions) == encode(questions, answers(questions))).all()
    assert (task.output_ids(questions) == answer_tokens(questions)).all()
    assert layout.text(encode(questions)) == decode(encode(questions)) == questions.text()


def test_units_first_without_operator_and_sign_between_tokens_of_its_own() -> None:
    chosen = QuestionLayout(
        3, units_first=True, operator=False, sign=False, start=("B",), end=("E",), vocabulary=tuple("0123456789=BE")
    )
    task = arithmetic_task(Operation.ADD, 3, chosen)
    questions = task.parse(["123+989"])
    assert task.layout.text(task.token_ids(questions)) == ["B321989=2111E"]
    assert " ".join(task.layout.place_names) == "start D0 D1 D2 D'0 D'1 D'2 = A0 A1 A2 A3 end"
    assert task.outputs == (A[0], A[1], A[2], A[3])
    assert task.layout.is_fed_back


def test_answers_read_at_queries_are_not_fed_back_and_need_not_hold_every_sum() -> None:
    chosen = QuestionLayout(2, sign=False, answer_digits=2, query="=", equals=(), output_vocabulary=tuple("0123456789"))
    task = arithmetic_task(Operation.ADD, 2, chosen)
    assert (task.layout.is_fed_back, task.causal.fed_back, task.causal.steering) == (False, False, ())
    assert " ".join(task.layout.place_names) == "D1 D0 + D'1 D'0 A1 A0"
    drawn = task.samplers["enriched"].draw(0, 0, 500)
    assert task.causal.admits(drawn).all()
    sums = drawn.column(task.causal.inputs[0]).astype(int) + drawn.column(task.causal.inputs[3])
    assert sums.max() < 9, "no sum has a third digit"
    assert not task.causal.admits(task.parse(["50+10", "10+50"])).any()


@pytest.mark.parametrize(
    "chosen",
    [
        QuestionLayout(2),
        QuestionLayout(2, units_first=True, start=("=",)),
        QuestionLayout(3, sign=False, answer_digits=3, query="*", equals=(), padding=("/", "/")),
        QuestionLayout(1, end=("*",), output_vocabulary=tuple("0123456789-+")),
    ],
)
def test_a_layout_comes_back_from_its_record(chosen: QuestionLayout) -> None:
    assert QuestionLayout.from_record(chosen.record()) == chosen
    task = arithmetic_task(Operation.ADD, chosen.digits, chosen)
    assert find_task(task.spec) == task
    assert chosen.is_standard is (chosen.record() == {"digits": chosen.digits})


def test_a_first_versions_file_names_its_task_by_operation_and_digits() -> None:
    found = find_task({"operation": "sub", "digits": 4, "anything": "else"})
    assert (found.operation, found.digits) == (Operation.SUB, 4)
    assert found is arithmetic_task(Operation.SUB, 4)


@pytest.mark.parametrize(
    "spec",
    [
        3,
        {},
        {"operation": "add"},
        {"operation": "times", "digits": 3},
        {"operation": "add", "digits": "3"},
        {"operation": "add", "digits": True},
        {"operation": "add", "digits": 0},
        {"operation": "add", "layout": 3},
        {"operation": "add", "layout": {"digits": 3, "colour": "red"}},
        {"operation": "add", "layout": {"digits": True}},
        {"operation": "add", "layout": {"digits": 3, "sign": "no"}},
        {"operation": "sub", "layout": {"digits": 3, "sign": False}},
        {"operation": "mix", "layout": {"digits": 3, "operator": False}},
        {"operation": "add", "layout": {"digits": 3, "answer_digits": 2}},
        {"operation": "add", "layout": {"digits": 3, "start": ["BOS"]}},
        {"operation": "add", "layout": {}},
    ],
)
def test_what_is_no_task_is_refused(spec: Any) -> None:
    with pytest.raises(CarryLensError):
        find_task(spec)


def test_a_layout_of_other_digits_is_refused() -> None:
    with pytest.raises(CarryLensError):
        arithmetic_task(Operation.ADD, 3, QuestionLayout(2))


def test_a_sign_that_is_written_is_read_first() -> None:
    task = arithmetic_task(Operation.SUB, 2)
    assert task.outputs[0] == SGN
    assert np.array_equal(task.right_outputs(task.parse(["12-34"])), [[1, 0, 2, 2]])
