import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic.slow_route import PROPERTY
from carrylens.arithmetic import MAX_DIGITS, Answers, Operation, Questions, answers, classify, subtasks
from carrylens.arithmetic.questions import check_digits, split_question
from carrylens.errors import CarryLensError, quote

NO_QUESTION = [
    *(
        "",
        " ",
        "=",
        "abc",
        "a+b",
        "45+7x",
        "forty+two",
        "45",
        "45=",
        "45 7",
        "45=7",
        "=45+7",
        "45+7=52",
        "45+7==",
        "1 2+3",
    ),
    *("-", "+", "45-", "45+", "+7", "-7", "- 7", "-5+3", "+5+3", "5+-3", "5--3", "5++3", "5+3+1", "5*3", "5/3"),
    *("5.0+3", "1e3+2", "0x5+3", "1_0+3", "1,000+5", "5+3\x00", "\ufeff5+3"),
    *("٣+٤", "٣+4", "4+٣", "５+３", "४+२", "5−3", "5＋3", "²+3", "5\u00a0+3"),
    *("4\n5+7", "45+7\n8+9", "45+\n7", "45\n+7", "4\r5+7", "45+7=\n45+7="),
]


def questions_of(*texts: str) -> Questions:
    return Questions.parse(list(texts))


@pytest.mark.parametrize(
    ("text", "digits", "written"),
    [
        ("45+7", None, "45+07="),
        ("45+7", 6, "000045+000007="),
        ("7+45", 2, "07+45="),
        ("325-329", None, "325-329="),
        ("0-0", 1, "0-0="),
        ("000045+000007=", None, "000045+000007="),
        (" 45 + 7 = ", 3, "045+007="),
        ("\t45-7\t", 2, "45-07="),
        ("9" * 40 + "-" + "8" * 40, None, "9" * 40 + "-" + "8" * 40 + "="),
    ],
)
def test_a_question_is_read_padded_and_written(text: str, digits: int | None, written: str) -> None:
    assert Questions.parse([text], digits).text() == [written]


def test_a_batch_is_padded_to_its_widest_operand() -> None:
    assert questions_of("1+2", "3-400", "50+6").text() == ["001+002=", "003-400=", "050+006="]


def test_digits_are_held_units_first_and_the_operator_beside_them() -> None:
    questions = questions_of("123-45", "6+789")
    assert questions.first.tolist() == [[3, 2, 1], [6, 0, 0]]
    assert questions.second.tolist() == [[5, 4, 0], [9, 8, 7]]
    assert questions.minus.tolist() == [True, False]
    assert questions.digits == 3
    assert len(questions) == 2


@PROPERTY
@given(data=st.data(), digits=st.integers(1, MAX_DIGITS))
def test_any_question_up_to_forty_digits_survives_reading_and_writing(data: st.DataObject, digits: int) -> None:
    number = st.integers(0, 10**digits - 1)
    rows = data.draw(st.lists(st.tuples(number, st.sampled_from("+-"), number), min_size=1, max_size=5))
    written = Questions.parse([f"{first}{sign}{second}" for first, sign, second in rows], digits).text()
    assert written == [f"{first:0{digits}d}{sign}{second:0{digits}d}=" for first, sign, second in rows]
    assert Questions.parse(written).text() == written


def test_texts_may_come_from_a_generator() -> None:
    assert Questions.parse(text for text in ("1+2", "3-4")).text() == ["1+2=", "3-4="]


@pytest.mark.parametrize("text", NO_QUESTION, ids=ascii)
def test_what_is_no_question_is_quoted_and_told_what_to_write(text: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        Questions.parse(["1+2", text])
    message = str(caught.value)
    strangers = [letter for letter in text if letter not in "0123456789+-= \t"]
    assert message.startswith(repr(text))
    blamed = [f"{letter!r} (U+{ord(letter):04X})" for letter in strangers[:1]]
    assert all(each in message for each in blamed)
    assert ("(U+" in message) is bool(strangers)
    assert message.endswith("45+7.")
    assert "\n" not in message


def test_an_operand_wider_than_asked_for_is_refused_with_the_width_to_ask_for() -> None:
    with pytest.raises(CarryLensError) as caught:
        Questions.parse(["12+3", "1234+56"], digits=3)
    assert re.search(r"'1234\+56'.*\b4 digits.*\b3\b.*\b4\b", str(caught.value))


@pytest.mark.parametrize("n_digits", [4, 41])
def test_an_operand_wider_than_a_model_takes_is_to_be_written_shorter(n_digits: int) -> None:
    with pytest.raises(CarryLensError) as caught:
        split_question("1" * n_digits + "+5", 3, of_model=True)
    assert re.search(rf"\b{n_digits} digits.*\b3\b", str(caught.value))


@pytest.mark.parametrize("text", ["1" * 41 + "+1", "1-" + "1" * 41])
@pytest.mark.parametrize("digits", [None, 5, 40])
def test_forty_one_digits_are_refused_whatever_the_width(text: str, digits: int | None) -> None:
    with pytest.raises(CarryLensError, match=r"41 digits.*\b40\b"):
        Questions.parse([text], digits)


@pytest.mark.parametrize("texts", [["1+2"], []], ids=["one question", "no question"])
@pytest.mark.parametrize("digits", [0, -1, -3, 41, 10**9])
def test_a_width_that_is_none_is_refused(texts: list[str], digits: int) -> None:
    with pytest.raises(CarryLensError, match=rf"^{digits} .*1 to 40\.$"):
        Questions.parse(texts, digits)


def test_every_width_from_one_to_forty_is_taken() -> None:
    assert [check_digits(digits) for digits in range(1, 41)] == list(range(1, 41))
    assert MAX_DIGITS == 40


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "7" * 1_000_000, "7" * 1_000_000 + "+1", "1+" + "7" * 1_000_000, "\n" * 1_000_000],
    ids=["letters", "one number", "first operand", "second operand", "line ends"],
)
def test_an_enormous_line_is_quoted_short(text: str) -> None:
    with pytest.raises(CarryLensError) as caught:
        Questions.parse([text])
    assert len(str(caught.value)) < 300
    assert "…" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [" " * 20_000 + "x", "1" + " " * 20_000 + "x", "1+" + " " * 20_000 + "x", "1+1" + " " * 20_000 + "x"],
    ids=["before", "after the first", "after the operator", "after the second"],
)
def test_a_long_line_of_spaces_is_refused_at_once(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(CarryLensError):
        split_question(text)
    assert time.perf_counter() - started < 0.3


def test_a_short_text_is_quoted_whole_and_a_long_one_to_sixty_characters() -> None:
    assert quote("a" * 60) == repr("a" * 60)
    assert quote("a" * 61) == repr("a" * 60 + "…")


def test_a_question_splits_into_its_three_parts() -> None:
    assert split_question(" 045 - 7 = ") == ("045", "-", "7")
    assert split_question("045-7", digits=3) == ("045", "-", "7")


@pytest.mark.parametrize("digits", [1, 3, 40])
def test_a_batch_of_no_questions_works_everywhere(digits: int) -> None:
    nothing = Questions.parse([], digits)
    assert len(nothing) == 0
    assert nothing.digits == digits
    assert nothing.text() == []
    assert answers(nothing).text() == []
    assert answers(nothing).digits.shape == (0, digits + 1)
    assert classify(nothing).classes() == []
    assert {len(column) for column in subtasks(nothing).values()} == {0}


def test_a_batch_of_no_questions_without_a_width_has_one_digit() -> None:
    assert Questions.parse([]).digits == 1


def test_rows_are_chosen_by_slice_mask_and_index() -> None:
    texts = ["1+2", "3-4", "5+6", "7-8", "9+0"]
    questions = Questions.parse(texts)
    written = [text + "=" for text in texts]
    assert questions[1:4].text() == written[1:4]
    assert questions[::-2].text() == written[::-2]
    assert questions[np.array([True, False, False, True, False])].text() == [written[0], written[3]]
    assert questions[np.array([4, 0, 0])].text() == [written[4], written[0], written[0]]
    assert questions[5:].text() == []


def test_one_row_may_be_asked_for_by_its_number() -> None:
    questions = questions_of("12+34", "56-78")
    assert questions[1].text() == questions[-1].text() == ["56-78="]
    assert [questions[row].text() for row in range(2)] == [["12+34="], ["56-78="]]
    for row in (2, -3):
        with pytest.raises(IndexError):
            questions[row]


def test_one_text_is_not_taken_for_a_batch_of_letters() -> None:
    with pytest.raises(CarryLensError, match=r"'45\+7'.*\['45\+7'\]"):
        Questions.parse("45+7")


def test_the_line_end_that_may_stand_after_a_question_is_not_blamed_for_what_is_wrong_before_it() -> None:
    assert Questions.parse(["45+7\n"]).text() == ["45+07="]
    with pytest.raises(CarryLensError) as caught:
        Questions.parse(["-\n"])
    assert "(U+" not in str(caught.value)


def test_a_slice_stands_by_itself() -> None:
    questions = questions_of("12+34", "56-78")
    assert questions[1:] == questions_of("56-78")
    assert questions[1:] != questions


def test_questions_are_equal_when_all_their_digits_and_operators_are() -> None:
    assert questions_of("12+34") == questions_of("12+34=")
    assert questions_of("12+34") != questions_of("12-34")
    assert questions_of("12+34") != questions_of("13+34")
    assert questions_of("12+34") != questions_of("12+35")
    assert questions_of("1+2") != Questions.parse(["1+2"], digits=2)
    assert questions_of("1+2") != "1+2="


def test_questions_and_answers_cannot_be_dictionary_keys() -> None:
    with pytest.raises(TypeError):
        hash(questions_of("1+2"))
    with pytest.raises(TypeError):
        hash(answers(questions_of("1+2")))


@pytest.mark.parametrize("name", ["first", "second", "minus"])
def test_questions_cannot_be_changed(name: str) -> None:
    questions = questions_of("12+34")
    with pytest.raises(ValueError, match="read-only"):
        getattr(questions, name)[0] = 0
    with pytest.raises(AttributeError):
        setattr(questions, name, getattr(questions, name))


@pytest.mark.parametrize("kind", [np.int8, np.int64])
def test_questions_keep_no_hold_of_the_arrays_they_were_made_from(kind: type[np.signedinteger[Any]]) -> None:
    first, second, minus = np.array([[1, 2]], dtype=kind), np.array([[3, 4]], dtype=kind), np.array([False])
    questions = Questions(first, second, minus)
    first[:], second[:], minus[:] = 9, 9, True
    assert questions.text() == ["21+43="]


@pytest.mark.parametrize(
    ("first", "second", "minus"),
    [
        ([[10]], [[0]], [False]),
        ([[-1]], [[0]], [False]),
        ([[256]], [[0]], [False]),
        ([[0]], [[300]], [False]),
        ([[1.0]], [[0]], [False]),
        ([["1"]], [[0]], [False]),
        ([1, 2], [3, 4], [False]),
        ([[[1]]], [[[2]]], [False]),
        ([[1, 2]], [[3]], [False]),
        ([[1], [2]], [[3]], [False]),
        ([[1]], [[3]], [False, True]),
        ([[1], [2]], [[3], [4]], [False]),
        ([[1] * 41], [[1] * 41], [False]),
        (np.zeros((1, 0), np.int8), np.zeros((1, 0), np.int8), [False]),
    ],
)
def test_arrays_that_make_no_batch_are_refused(first: object, second: object, minus: object) -> None:
    with pytest.raises(CarryLensError):
        Questions(np.array(first), np.array(second), np.array(minus))


def test_an_answer_is_written_as_a_sign_and_one_digit_more_than_the_operands() -> None:
    written = Answers(negative=np.array([False, True]), digits=np.array([[3, 0, 0, 1], [4, 0, 0, 0]], dtype=np.int8))
    assert written.text() == ["+1003", "-0004"]


def test_answers_are_equal_when_sign_and_digits_are() -> None:
    first, second = answers(questions_of("5-3")), answers(questions_of("3-5"))
    assert first == answers(questions_of("4-2"))
    assert first != second  # +02 and -02
    assert first != answers(questions_of("5-4"))
    assert first != "+02"


def test_the_operations_are_named_as_models_are() -> None:
    assert [operation.value for operation in Operation] == ["add", "sub", "mix"]
