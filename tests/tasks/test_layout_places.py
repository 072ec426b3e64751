"""Places: where inputs arrive and outputs are predicted, fed back or at query tokens."""

from __future__ import annotations

import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.layout_places import LayoutPlaces, Slot
from carrylens.tasks.variables import Variable

ONE, TWO, SUM, REST = (Variable(name) for name in ("ONE", "TWO", "SUM", "REST"))
QUESTION = (Slot("begin", token="B"), Slot("one", input=ONE), Slot("two", input=TWO), Slot("=", token="="))
FED_BACK = LayoutPlaces(("B", "="), (*QUESTION, Slot("rest", output=REST), Slot("sum", output=SUM), Slot("end", "=")))
QUERIED = LayoutPlaces(("B", "="), (*QUESTION, Slot("q0", "=", reads=SUM), Slot("q1", "=", reads=REST)))


def test_outputs_that_are_fed_back_are_predicted_one_position_earlier() -> None:
    assert FED_BACK.outputs == (REST, SUM)
    assert FED_BACK.read_positions == (3, 4)
    assert (FED_BACK.reads, FED_BACK.n_question, FED_BACK.is_fed_back) == (range(3, 5), 4, True)
    assert FED_BACK.output_places == ("rest", "sum")


def test_outputs_at_query_tokens_are_predicted_where_the_token_stands() -> None:
    assert QUERIED.outputs == (SUM, REST)
    assert QUERIED.read_positions == (4, 5)
    assert (QUERIED.reads, QUERIED.n_question, QUERIED.is_fed_back) == (range(4, 6), 6, False)
    assert QUERIED.output_places == ("q0", "q1")


def test_an_input_arrives_where_it_stands_and_one_that_stands_nowhere_at_the_start() -> None:
    assert (FED_BACK.arrival_of(ONE), FED_BACK.arrival_of(TWO)) == (1, 2)
    assert FED_BACK.arrival_of(Variable("OPR")) == 0
    assert FED_BACK.n_positions == len(FED_BACK.place_names) == 7


def test_a_place_holds_just_one_thing() -> None:
    for things in ({}, {"token": "B", "input": ONE}, {"input": ONE, "output": SUM}):
        with pytest.raises(CarryLensError, match="here"):
            Slot("here", **things)
