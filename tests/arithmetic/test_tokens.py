"""Token ids and place names, against the layout the published models use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.arithmetic import Answers, Operation, Population, PopulationKind, Questions, answers
from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.tokens import VOCABULARY, answer_positions, decode, encode, place_names, place_position
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, A, D
from carrylens.errors import CarryLensError


def test_the_vocabulary_has_the_published_fifteen_tokens_in_order() -> None:
    assert [VOCABULARY.index(token) for token in "09+-=*/"] == [0, 9, 10, 11, 12, 13, 14]
    assert len(VOCABULARY) == 15


def test_a_question_with_its_answer_is_the_text_letter_by_letter() -> None:
    questions = Questions.parse(["555+448", "325-329"])
    assert decode(encode(questions, answers(questions))) == ["555+448=+1003", "325-329=-0004"]


@given(digits=st.integers(1, 40), start=st.integers(0, 1000))
def test_ids_decode_to_the_text_of_question_and_answer(digits: int, start: int) -> None:
    questions = Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(3, start, 5)
    expected = [q + a for q, a in zip(questions.text(), answers(questions).text(), strict=True)]
    assert decode(encode(questions, answers(questions))) == expected
    assert decode(encode(questions)) == questions.text()


def test_places_of_six_digits_are_named_as_the_paper_names_them() -> None:
    assert " ".join(place_names(6)) == "D5 D4 D3 D2 D1 D0 + D'5 D'4 D'3 D'2 D'1 D'0 = A7 A6 A5 A4 A3 A2 A1 A0"


@pytest.mark.parametrize("digits", [1, 2, 6, 13, 40])
def test_places_stand_where_the_layout_puts_their_variables(digits: int) -> None:
    assert len(place_names(digits)) == 3 * digits + 4
    for k in range(digits):
        assert place_position(f"D{k}", digits) == position_of(D[k], digits)
        assert place_position(f"D'{k}", digits) == position_of(D_PRIME[k], digits)
        assert place_position(f"A{k}", digits) == position_of(A[k], digits)
    assert place_position("+", digits) == position_of(OPR, digits)
    assert place_position(f"A{digits + 1}", digits) == position_of(SGN, digits)
    names = place_names(digits)
    assert names[answer_positions(digits)[0]] == "="
    assert names[answer_positions(digits)[-1] + 1] == "A0"


def test_the_published_positions_of_a_five_digit_model_hold() -> None:
    # The paper's five-digit map: P6 is D'4, P10 is D'0, P11 is =, P12 the sign, P17 is A1.
    assert [place_names(5)[position] for position in (6, 10, 11, 12, 17)] == ["D'4", "D'0", "=", "A6", "A1"]


@pytest.mark.parametrize("name", ["D6", "D'6", "A8", "P3", "", "d0"])
def test_a_place_that_does_not_exist_is_refused_with_the_places_there_are(name: str) -> None:
    with pytest.raises(CarryLensError, match=r"D5 D4.*A1 A0"):
        place_position(name, 6)


def test_answers_of_another_width_are_refused() -> None:
    questions = Questions.parse(["45+7"])
    with pytest.raises(CarryLensError, match=r"\[1, 6\].*\b4\b"):
        encode(questions, Answers(np.array([False]), np.zeros((1, 5), dtype=np.int8)))


def test_ids_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(CarryLensError, match=r"15.*0 to 14"):
        decode(np.array([[15]]))
