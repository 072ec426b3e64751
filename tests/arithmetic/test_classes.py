from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arithmetic.slow_route import PROPERTY, SlowLabels, Sums, every_sum, random_sums, slow_labels, sums_of
from carrylens.arithmetic import QuestionClass, Questions, classify
from carrylens.arithmetic.classes import CLASSES, Labels, is_negative, longest_run
from carrylens.tasks.variables import UNKNOWN

NAMES = ["S0", "S1", "S2", "S3", "S4", "S5", "M0", "M1", "M2", "M3", "M4", "N1", "N2", "N3", "N4"]


def found_labels(labels: Labels) -> list[SlowLabels]:
    columns = (labels.cascade_depth, labels.sign_depth, labels.borrow_depth)
    depths = [[None if value == UNKNOWN else int(value) for value in column] for column in columns]
    return [SlowLabels(found.name, *row) for found, *row in zip(labels.classes(), *depths, strict=True)]


def assert_labelled_right(questions: Questions) -> None:
    assert found_labels(classify(questions)) == [slow_labels(text) for text in questions.text()]


@pytest.mark.parametrize(
    ("question", "name", "cascade", "sign", "borrow"),
    [
        ("555+448", "S3", 2, None, None),
        ("045+046", "S1", 0, None, None),
        ("555+446", "S3", 2, None, None),
        ("55555+44446", "S5", 4, None, None),
        ("54321+45679", "S5", 4, None, None),
        ("44450+55550", "S4", 3, None, None),
        ("1234+8769", "S4", 3, None, None),
        ("555555555+444444448", "S5", 8, None, None),
        ("325-129", "M2", None, 1, 1),
        ("325-329", "N3", None, 2, 0),
        ("123+456", "S0", 0, None, None),
        ("545+454", "S0", 0, None, None),  # sums of 9 and no carry
        ("950+950", "S1", 0, None, None),
        ("59+41", "S2", 1, None, None),
        ("5095+4915", "S3", 2, None, None),  # 10, 10, 9, 9: the second carry is the one that travels
        ("99595+00415", "S4", 3, None, None),
        ("000-000", "M0", None, 0, 0),
        ("777-777", "M0", None, 0, 0),
        ("987-123", "M0", None, 0, 0),
        ("987-988", "N3", None, 2, 0),
        ("900-009", "M2", None, 1, 1),
        ("5000-0001", "M3", None, 2, 2),
        ("50000-00001", "M4", None, 3, 3),
        ("500000-000001", "M4", None, 4, 4),
        ("100-999", "N1", None, 0, 0),
        ("003-005", "N1", None, 0, 0),  # leading 0-0 columns do not count
        ("103-105", "N3", None, 2, 0),
        ("010-020", "N1", None, 0, 0),
        ("0110-0120", "N2", None, 1, 0),
        ("1225-2220", "N1", None, 0, 2),  # the sign is decided at once, the borrow of 2220-1225 travels
        ("11119-11120", "N4", None, 3, 0),
        ("4000-5001", "N3", None, 2, 0),  # 1-0 in the units is below two equal columns of D-D'
    ],
)
def test_classes_and_depths_worked_out_by_hand(
    question: str, name: str, cascade: int | None, sign: int | None, borrow: int | None
) -> None:
    assert slow_labels(question) == SlowLabels(name, cascade, sign, borrow)
    assert found_labels(classify(Questions.parse([question]))) == [SlowLabels(name, cascade, sign, borrow)]


@pytest.mark.parametrize("minus", [False, True])
@pytest.mark.parametrize("digits", [1, 2])
def test_every_question_of_one_and_two_digits_is_labelled_right(digits: int, minus: bool) -> None:
    assert_labelled_right(every_sum(digits, minus).questions())


def kinds_of(sums: Sums) -> NDArray[np.int64]:
    """What each column is, as far as labels go: below 9, 9, above; or 0-0, equal, less, greater. Units last."""
    code = np.zeros(len(sums.first), dtype=np.int64)
    for k in range(sums.digits):
        d, e = sums.first // 10**k % 10, sums.second // 10**k % 10
        kind = np.where(d + e > 9, 2, d + e == 9)
        if sums.minus[0]:
            kind = np.where(d == e, (d != 0) * 1, np.where(d < e, 2, 3))
        code += kind * 4**k
    return code


@pytest.mark.parametrize(
    ("minus", "samples"), [(False, [(0, 0), (0, 9), (5, 5)]), (True, [(0, 0), (7, 7), (3, 8), (8, 3)])]
)
def test_every_question_of_three_digits_is_labelled_right(minus: bool, samples: list[tuple[int, int]]) -> None:
    # Labels go by the kinds of the columns alone, so one question of each combination of kinds stands for all.
    everything = every_sum(3, minus)
    walked = {}
    for kinds in product(range(len(samples)), repeat=3):
        first, second = ("".join(str(samples[kind][side]) for kind in kinds) for side in (0, 1))
        walked[sum(kind * 4**k for k, kind in enumerate(kinds[::-1]))] = slow_labels(f"{first}{'+-'[minus]}{second}")
    labels, kinds_found = classify(everything.questions()), kinds_of(everything)
    assert set(kinds_found.tolist()) == set(walked)
    for code, expected in walked.items():
        rows = kinds_found == code
        assert set(labels.code[rows]) == {NAMES.index(expected.name)}
        for column, depth in (
            (labels.cascade_depth, expected.cascade),
            (labels.sign_depth, expected.sign),
            (labels.borrow_depth, expected.borrow),
        ):
            assert set(column[rows]) == {UNKNOWN if depth is None else depth}


@pytest.mark.parametrize("digits", [6, 12, 40])
def test_random_questions_are_labelled_right(digits: int) -> None:
    questions = random_sums(seed=digits, count=4000, digits=digits).questions()
    assert_labelled_right(questions)
    assert {found.name for found in classify(questions).classes()} == set(NAMES)


@PROPERTY
@given(data=st.data(), digits=st.integers(1, 40), minus=st.booleans())
def test_questions_full_of_cascades_are_labelled_right(data: st.DataObject, digits: int, minus: bool) -> None:
    pairs = st.sampled_from([(4, 5), (5, 5), (0, 9), (9, 1), (0, 0), (9, 9), (7, 7), (1, 0)])
    columns = data.draw(st.lists(pairs, min_size=digits, max_size=digits))
    first, second = (int("".join(str(pair[side]) for pair in columns)) for side in (0, 1))
    assert_labelled_right(sums_of([(first, second, minus), (second, first, minus)], digits).questions())


def test_a_cascade_of_every_depth_to_thirty_nine_is_measured() -> None:
    texts = [f"{'5' * 40}+{'1' * (39 - depth)}{'4' * depth}5" for depth in range(40)]
    assert classify(Questions.parse(texts)).cascade_depth.tolist() == list(range(40))


def test_the_classes_are_counted_in_the_order_of_their_names() -> None:
    assert [found.value for found in CLASSES] == NAMES
    assert [found.name for found in QuestionClass] == NAMES


def test_the_depths_of_one_row_are_none_where_they_do_not_apply() -> None:
    labels = classify(Questions.parse(["555+448", "325-329"]))
    assert labels.depths(0) == {"cascade_depth": 2, "sign_depth": None, "borrow_depth": None}
    assert labels.depths(1) == {"cascade_depth": None, "sign_depth": 2, "borrow_depth": 0}


@pytest.mark.parametrize("minus", [False, True])
def test_an_answer_is_negative_where_a_subtraction_falls_below_zero(minus: bool) -> None:
    everything = every_sum(2, minus)
    found = is_negative(everything.questions())
    np.testing.assert_array_equal(found, (everything.first < everything.second) & minus)


def test_the_longest_run_is_found_among_all_runs_of_five_columns() -> None:
    columns = list(product((".", "m", "p"), repeat=5))
    makes = np.array([[kind == "m" for kind in row] for row in columns])
    passes = np.array([[kind == "p" for kind in row] for row in columns])
    walked = [
        max((len(run) - len(run.lstrip("p")) for run in "".join(row).split("m")[1:]), default=-1) for row in columns
    ]
    assert longest_run(makes, passes).tolist() == walked
