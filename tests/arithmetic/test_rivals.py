import numpy as np
import pytest

from arithmetic.slow_route import Sums, every_sum, exact, random_sums, slow_labels
from carrylens.arithmetic import Operation, Questions, one_layer, ripple
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable

RIVAL_FAMILIES = {"add": ("C",), "sub": ("B", "R", "Z"), "mix": ("C", "B", "R", "Z")}


def wrong(model: Algorithm, sums: Sums) -> list[bool]:
    found, size = model.answers(sums.questions()), sums.first + sums.second
    digits = np.stack([size // 10**k % 10 for k in range(sums.digits + 1)], axis=1)
    return [bool(row) for row in (found.digits != digits).any(axis=1) | found.negative]


def carry_runs_to(sums: Sums, columns: int) -> list[bool]:
    """Whether some column makes a carry that goes through `columns` or more sums of 9, by column values alone."""
    column_sums = [sums.first // 10**k % 10 + sums.second // 10**k % 10 for k in range(sums.digits)]
    found = np.zeros(len(sums.first), dtype=np.bool_)
    for k in range(sums.digits - columns):
        makes, above = column_sums[k] >= 10, column_sums[k + 1 : k + 1 + columns]
        found |= makes & np.logical_and.reduce([column == 9 for column in above])
    return found.tolist()


def test_the_paper_s_two_questions_come_out_as_the_paper_says() -> None:
    questions = Questions.parse(["045+046", "555+446"])
    assert one_layer(3).answers(questions).text() == ["+0091", "+0901"]
    assert one_layer(3, sum_nine=True).answers(questions).text() == ["+0091", "+0001"]


@pytest.mark.parametrize(("sum_nine", "columns"), [(False, 1), (True, 2)])
def test_one_layer_fails_on_just_the_cascades_it_cannot_see_of_all_three_digit_sums(
    sum_nine: bool, columns: int
) -> None:
    everything = every_sum(3, minus=False)
    failures = wrong(one_layer(3, sum_nine), everything)
    assert failures == carry_runs_to(everything, columns)
    assert any(failures)


@pytest.mark.parametrize(("sum_nine", "right"), [(False, {"S0", "S1"}), (True, {"S0", "S1", "S2"})])
@pytest.mark.parametrize("digits", [1, 2, 6, 12])
def test_one_layer_is_right_on_just_these_classes(digits: int, sum_nine: bool, right: set[str]) -> None:
    sums = random_sums(seed=digits, count=3000, digits=digits, minus=False)
    classes = [slow_labels(text).name for text in sums.questions().text()]
    assert wrong(one_layer(digits, sum_nine), sums) == [name not in right for name in classes]
    assert len(set(classes)) == min(digits + 1, 6)


@pytest.mark.parametrize("digits", [1, 3, 7])
def test_what_one_layer_computes_on_the_way_is_exact(digits: int) -> None:
    sums = random_sums(seed=1, count=2000, digits=digits, minus=False)
    values = one_layer(digits, sum_nine=True).run(sums.questions())
    for name in (f"{family}[{k}]" for family in ("SA", "SC", "S9", "SU") for k in range(digits)):
        np.testing.assert_array_equal(values[Variable.parse(name)], exact(name, sums), err_msg=name)


@pytest.mark.parametrize("digits", [1, 2, 7, 40])
@pytest.mark.parametrize("operation", list(Operation))
def test_what_ripple_computes_on_the_way_is_exact(operation: Operation, digits: int) -> None:
    minus = {Operation.ADD: False, Operation.SUB: True, Operation.MIX: None}[operation]
    sums = random_sums(seed=2, count=500, digits=digits, minus=minus)
    values = ripple(operation, digits).run(sums.questions())
    names = [f"{family}[{k}]" for family in RIVAL_FAMILIES[operation.value] for k in range(digits)]
    for name in [*names, "SGN", *(f"A[{k}]" for k in range(digits + 1))]:
        np.testing.assert_array_equal(values[Variable.parse(name)], exact(name, sums), err_msg=name)


def test_a_ripple_cut_in_the_middle_goes_wrong_above_the_cut_only() -> None:
    addition = ripple(Operation.ADD, 4)
    questions = Questions.parse(["5555+4446"])
    assert addition.answers(questions).text() == ["+10001"]
    assert addition.answers(questions, do={Variable("C", 1): 0}).text() == ["+09901"]


def test_a_borrow_forced_on_a_ripple_is_paid_by_the_column_above() -> None:
    subtraction = ripple(Operation.SUB, 3)
    questions = Questions.parse(["555-222"])
    assert subtraction.answers(questions, do={Variable("B", 0): 1}).text() == ["+0323"]
    assert subtraction.answers(questions, do={Variable("SGN"): 1}).text() == ["-0667"]  # 1000 - 333


def test_the_first_digit_of_a_ripple_needs_the_last_column() -> None:
    assert Variable.parse("D[0]") in ripple(Operation.ADD, 6).ancestors(Variable.parse("A[6]"))
    assert Variable.parse("D[0]") not in one_layer(6, sum_nine=True).ancestors(Variable.parse("A[6]"))


@pytest.mark.parametrize("sum_nine", [False, True])
@pytest.mark.parametrize("digits", [0, 41])
def test_a_width_that_is_none_has_no_rival(digits: int, sum_nine: bool) -> None:
    with pytest.raises(CarryLensError, match=rf"^{digits}\b.*40"):
        one_layer(digits, sum_nine)


def test_the_rivals_are_told_apart_by_name() -> None:
    models = [one_layer(3), one_layer(3, sum_nine=True), *(ripple(operation, 3) for operation in Operation)]
    assert len({model.name for model in models}) == 5
