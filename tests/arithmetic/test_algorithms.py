import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arithmetic.slow_route import PROPERTY, Sums, every_sum, random_sums, sums_of, texts_of
from carrylens.arithmetic import Operation, Questions, algorithm, answers, ripple
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import chosen_digit
from carrylens.arithmetic.subtasks import only_if_minus, only_if_plus
from carrylens.errors import CarryLensError

STATEMENTS = [algorithm, ripple]


def assert_exact(model: Algorithm, sums: Sums) -> None:
    """Zero errors against whole numbers, digit by digit."""
    found, result = model.answers(sums.questions()), sums.result("mix")
    np.testing.assert_array_equal(found.negative, result < 0)
    assert found.digits.shape == (len(result), sums.digits + 1)
    size = abs(result)
    for k in range(sums.digits + 1):
        np.testing.assert_array_equal(found.digits[:, k], (size // 10**k % 10).astype(np.int8), err_msg=f"A[{k}]")


def models_for(minus: bool, digits: int) -> list[Algorithm]:
    operations = (Operation.SUB if minus else Operation.ADD, Operation.MIX)
    return [state(operation, digits) for state in STATEMENTS for operation in operations]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("555+448", "+1003"),
        ("555+446", "+1001"),
        ("045+046", "+0091"),
        ("325-129", "+0196"),
        ("325-329", "-0004"),
        ("999999+1", "+1000000"),
        ("54321+45679", "+100000"),
        ("44450+55550", "+100000"),
        ("55555+44446", "+100001"),
        ("1234+8769", "+10003"),
        ("1000-1", "+00999"),
        ("1-1000", "-00999"),
        ("0-0", "+00"),
        ("777-777", "+0000"),
        ("9+9", "+18"),
        ("0-9", "-09"),
    ],
)
def test_questions_worked_out_by_hand(question: str, answer: str) -> None:
    assert answers(Questions.parse([question])).text() == [answer]


@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("digits", [1, 2])
def test_every_question_of_one_and_two_digits_is_answered_exactly(digits: int, minus: bool) -> None:
    for model in models_for(minus, digits):
        assert_exact(model, every_sum(digits, minus))


@pytest.mark.parametrize("minus", [False, True])
def test_every_question_of_three_digits_is_answered_exactly(minus: bool) -> None:
    everything = every_sum(3, minus)
    for model in models_for(minus, 3):
        assert_exact(model, everything)


@pytest.mark.slow
@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("digits", [6, 18])
def test_a_million_random_questions_are_answered_exactly(digits: int, minus: bool) -> None:
    sums = random_sums(seed=digits, count=1_000_000, digits=digits, minus=minus)
    model = algorithm(Operation.SUB if minus else Operation.ADD, digits)
    assert_exact(model, sums)


def test_a_million_mixed_questions_are_answered_exactly() -> None:
    assert_exact(algorithm(Operation.MIX, 12), random_sums(seed=12, count=1_000_000, digits=12))


@pytest.mark.parametrize("state", STATEMENTS)
@pytest.mark.parametrize("operation", list(Operation))
def test_ten_thousand_questions_of_forty_digits_are_answered_exactly(state: type, operation: Operation) -> None:
    minus = {Operation.ADD: False, Operation.SUB: True, Operation.MIX: None}[operation]
    assert_exact(state(operation, 40), random_sums(seed=40, count=10_000, digits=40, minus=minus))


@PROPERTY
@given(data=st.data(), digits=st.integers(1, 40))
def test_any_mixed_batch_is_answered_as_python_answers_it(data: st.DataObject, digits: int) -> None:
    number = st.integers(0, 10**digits - 1)
    rows = data.draw(st.lists(st.tuples(number, number, st.booleans()), min_size=1, max_size=5))
    expected = texts_of([first - second if minus else first + second for first, second, minus in rows], digits)
    questions = sums_of(rows, digits).questions()
    assert answers(questions).text() == expected
    assert ripple(Operation.MIX, digits).answers(questions).text() == expected


@PROPERTY
@given(number=st.integers(0, 10**40 - 1), step=st.integers(-9, 9))
def test_equal_and_nearly_equal_operands_are_answered_exactly(number: int, step: int) -> None:
    other = min(max(number + step, 0), 10**40 - 1)
    found = answers(sums_of([(number, other, True), (10**40 - 1 - number, other, False)], 40).questions())
    assert found.text() == texts_of([number - other, 10**40 - 1 - number + other], 40)


@pytest.mark.parametrize("state", STATEMENTS)
@pytest.mark.parametrize("digits", [0, -1, 41])
def test_a_width_that_is_none_has_no_algorithm(state: type, digits: int) -> None:
    with pytest.raises(CarryLensError, match=rf"^{digits}\b.*40"):
        state(Operation.ADD, digits)


@pytest.mark.parametrize("state", STATEMENTS)
def test_what_is_no_operation_has_no_algorithm(state: type) -> None:
    with pytest.raises(CarryLensError, match=r"'add'.*Operation\.ADD, Operation\.SUB, Operation\.MIX"):
        state("add", 3)


def test_an_algorithm_is_stated_for_its_own_operation_and_width() -> None:
    for state in STATEMENTS:
        for operation in Operation:
            model = state(operation, 5)
            assert model.operation is operation
            assert model.digits == 5
            assert operation.value in model.name


def test_the_operator_chooses_sign_top_and_digit() -> None:
    plus, minus = np.array([0, 0, 1, 1], dtype=np.int8), np.array([0, 1, 0, 1], dtype=np.int8)
    assert only_if_minus(plus, minus).tolist() == [False, False, False, True]
    assert only_if_plus(plus, minus).tolist() == [False, True, False, False]
    row = [np.array([value], dtype=np.int8) for value in (4, 5, 6, 1, 1, 1)]
    picked = [
        int(chosen_digit(np.array([operator], dtype=np.int8), np.array([sign], dtype=np.int8), *row)[0])
        for operator, sign in ((0, 0), (1, 0), (1, 1))
    ]
    assert picked == [4 + 1, 5 - 1, 6 - 1]
