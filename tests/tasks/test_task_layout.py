"""Layouts: where everything stands, is read and is written, for outputs that are fed back and for queries."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Family, Variable
from tasks.small_tasks import PARITY, PARITY_LAYOUT, WHEEL, WHEEL_LAYOUT, B, D, E, K, M, O, S, T, W, wheel_task


def test_outputs_that_are_fed_back_are_predicted_one_place_before_they_stand() -> None:
    layout = PARITY_LAYOUT
    assert layout.place_names == ("B5", "B4", "B3", "B2", "B1", "B0", "turn", ">", "S", "O[5]", "O[4]", "O[3]")
    assert layout.outputs == PARITY.outputs
    assert layout.output_places == ("S", "O[5]", "O[4]", "O[3]")
    assert layout.read_positions == tuple(layout.reads) == (7, 8, 9, 10)
    assert (layout.n_question, layout.n_positions, layout.is_fed_back) == (8, 12, True)
    assert [layout.arrival_of(each) for each in (B[5], B[0], T)] == [0, 5, 6]
    assert [layout.read_position(each) for each in PARITY.outputs] == [7, 8, 9, 10]


def test_outputs_at_queries_are_predicted_where_they_are_asked() -> None:
    layout = WHEEL_LAYOUT
    assert layout.place_names == ("begin", "D0", "E0", "D1", "E1", "D2", "E2", "mode", "way", "W0", "W1", "W2", "end")
    assert layout.outputs == WHEEL.outputs
    assert layout.output_places == ("W0", "W1", "W2")
    assert layout.read_positions == tuple(layout.reads) == (9, 10, 11)
    assert (layout.n_question, layout.n_positions, layout.is_fed_back) == (13, 13, False)
    assert [layout.arrival_of(each) for each in (D[0], E[2], M, K)] == [1, 6, 7, 8]
    assert layout.position("way") == 8


def test_ids_are_the_text_letter_by_letter() -> None:
    batch = population_of(PARITY).draw(0, 0, 40)
    outputs = PARITY.output_values(batch)
    expected = [
        "".join(map(str, row[:6])) + "=!"[row[6]] + ">" + "+-"[out[0]] + "".join(map(str, out[1:]))
        for row, out in zip(batch.values.tolist(), outputs.tolist(), strict=True)
    ]
    assert PARITY_LAYOUT.text(PARITY_LAYOUT.encode(batch, outputs)) == expected
    assert PARITY_LAYOUT.question_text(batch) == [text[:8] for text in expected]
    assert PARITY_LAYOUT.output_text(PARITY_LAYOUT.output_ids(outputs)) == [text[8:] for text in expected]


def test_outputs_may_have_a_vocabulary_of_their_own() -> None:
    outputs = np.array([[0, 1, 4]], dtype=np.int8)
    assert WHEEL_LAYOUT.output_ids(outputs).tolist() == [[4, 3, 0]]
    assert WHEEL_LAYOUT.output_text(np.array([[4, 3, 0]])) == ["014"]
    batch = population_of(WHEEL).draw(0, 0, 3)
    assert (WHEEL_LAYOUT.encode(batch) == WHEEL_LAYOUT.encode(batch, np.zeros((3, 3), np.int8))).all()


@pytest.mark.parametrize(
    ("layout", "model"), [(PARITY_LAYOUT, PARITY), (WHEEL_LAYOUT, WHEEL)], ids=["fed back", "queries"]
)
def test_what_is_written_is_read_again(layout: Layout, model: Any) -> None:
    batch = population_of(model).draw(1, 0, 60)
    for text, row in zip(layout.question_text(batch), batch.values.tolist(), strict=True):
        found = layout.parse(f" {text[:3]} {text[3:]}\n")
        assert [found[each] for each in model.inputs] == row


def test_values_that_do_not_begin_at_zero_are_read_as_they_are_written() -> None:
    """The first token of the vocabulary stands for no value where there is no value 0."""
    family = Family("X", (1, 2), "one or two", labels=("a", "b"))
    layout = Layout(tuple("ab"), (Slot("X", input=family[0]), Slot("Y", output=family[1])), (family,))
    assert [layout.parse(text) for text in ("a", "b")] == [{family[0]: 1}, {family[0]: 2}]
    stranger = replace(layout, vocabulary=tuple("cab"))
    with pytest.raises(CarryLensError, match="'c'"):
        stranger.parse("c")


@pytest.mark.parametrize("text", ["", "010101", "010101=", "010101=>0", "01010=>", "010102=>", "010101+>", "0101011=>"])
def test_what_is_no_question_is_refused(text: str) -> None:
    with pytest.raises(CarryLensError, match=re.escape(repr(text))):
        PARITY_LAYOUT.parse(text)


def test_a_task_reads_questions_that_it_wrote() -> None:
    task = wheel_task()
    batch = task.samplers["all"].draw(2, 0, 20)
    assert task.parse(task.question_text(batch)) == batch
    assert len(task.parse([])) == 0


FAMILY, OTHER = Family("X", (0, 1), "a bit"), Family("Y", (0, 1), "another", labels=("n", "y"))
X, Y = FAMILY[0], OTHER[0]
GOOD: dict[str, Any] = {
    "vocabulary": tuple("01nyq"),
    "slots": (Slot("X", input=X), Slot("Y", output=Y)),
    "families": (FAMILY, OTHER),
}
BAD: dict[str, dict[str, Any]] = {
    "two places of one name": {"slots": (Slot("X", input=X), Slot("X", output=Y))},
    "a token twice": {"vocabulary": tuple("01nyn")},
    "a variable at two places": {"slots": (*GOOD["slots"], Slot("X again", input=X))},
    "an output read twice": {
        "slots": (*GOOD["slots"][:1], Slot("q", token="q", reads=Y), Slot("p", token="q", reads=Y))
    },
    "a family that is missing": {"families": (FAMILY,)},
    "a label that is no token": {"vocabulary": tuple("01n")},
    "a constant that is no token": {"slots": (Slot("begin", token="BOS"), *GOOD["slots"])},
    "a label that no output has": {"output_vocabulary": tuple("01")},
    "no output": {"slots": (Slot("X", input=X),)},
    "an output at the very start": {"slots": (Slot("Y", output=Y), Slot("q", token="q"))},
    "an input after an output": {"slots": (Slot("q", token="q"), Slot("Y", output=Y), Slot("X", input=X))},
    "more tokens than ids": {"vocabulary": (*"01ny", *(f"t{at}" for at in range(124)))},
    "more output tokens than ids": {"output_vocabulary": (*"01ny", *(f"t{at}" for at in range(124)))},
}


def test_the_good_layout_is_good() -> None:
    assert Layout(**GOOD).outputs == (Y,)


@pytest.mark.parametrize("name", BAD)
def test_a_layout_that_does_not_hold_together_is_refused(name: str) -> None:
    with pytest.raises(CarryLensError):
        Layout(**(GOOD | BAD[name]))


@pytest.mark.parametrize("given", [{}, {"token": "q", "input": X}, {"input": X, "output": Y}])
def test_a_place_holds_one_thing(given: dict[str, Any]) -> None:
    with pytest.raises(CarryLensError):
        Slot("somewhere", **given)


def test_what_does_not_fit_a_layout_is_refused() -> None:
    batch = population_of(PARITY).draw(0, 0, 3)
    with pytest.raises(CarryLensError, match=r"\[3, 3\]"):
        PARITY_LAYOUT.encode(batch, np.zeros((3, 3), dtype=np.int8))
    with pytest.raises(CarryLensError, match="D"):
        WHEEL_LAYOUT.encode(batch)
    with pytest.raises(CarryLensError, match="'nowhere'"):
        PARITY_LAYOUT.position("nowhere")
    for ids in ([[7]], [[-1]]):
        with pytest.raises(CarryLensError):
            PARITY_LAYOUT.text(np.array(ids))


def test_an_input_that_stands_nowhere_is_known_from_the_start() -> None:
    assert PARITY_LAYOUT.arrival_of(Variable("ELSEWHERE")) == 0
    assert PARITY_LAYOUT.read_position(O[3]) == PARITY_LAYOUT.position("O[3]") - 1
    assert PARITY_LAYOUT.read_position(S) == PARITY_LAYOUT.position(">")
    assert WHEEL_LAYOUT.read_position(W[1]) == WHEEL_LAYOUT.position("W1")
