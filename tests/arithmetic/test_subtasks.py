from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from arithmetic.slow_route import FAMILIES_OF, PROPERTY, Sums, exact, random_sums, slow_run, sums_of
from carrylens.arithmetic import Questions, subtasks
from carrylens.arithmetic.subtasks import (
    base_add,
    base_difference,
    difference_digit,
    same,
    simple_borrow,
    simple_carry,
    sum_digit,
    sums_to_nine,
    tri_add,
    tri_borrow,
    tri_carry,
    zero,
)
from carrylens.arithmetic.variables import FAMILIES, U
from carrylens.tasks.variables import Variable

PAIRS = list(product(range(10), repeat=2))
STATES = (0, 1, U)


def column(values: object) -> NDArray[np.int8]:
    return np.array(values, dtype=np.int8)


D_ALL, E_ALL = column([d for d, _ in PAIRS]), column([e for _, e in PAIRS])


def test_the_rules_of_a_column_are_right_for_all_hundred_digit_pairs() -> None:
    assert base_add(D_ALL, E_ALL).tolist() == [(d + e) % 10 for d, e in PAIRS]
    assert base_difference(D_ALL, E_ALL).tolist() == [(d - e) % 10 for d, e in PAIRS]
    assert simple_carry(D_ALL, E_ALL).tolist() == [d + e >= 10 for d, e in PAIRS]
    assert simple_borrow(D_ALL, E_ALL).tolist() == [d < e for d, e in PAIRS]
    assert sums_to_nine(D_ALL, E_ALL).tolist() == [d + e == 9 for d, e in PAIRS]


def test_a_column_above_the_units_is_uncertain_where_it_passes_on() -> None:
    assert tri_carry(D_ALL, E_ALL).tolist() == [U if d + e == 9 else int(d + e > 9) for d, e in PAIRS]
    assert tri_borrow(D_ALL, E_ALL).tolist() == [U if d == e else int(d < e) for d, e in PAIRS]


def test_triadd_takes_the_lower_value_only_where_the_upper_is_uncertain() -> None:
    table = {(x, y): int(tri_add(column([x]), column([y]))[0]) for x, y in product(STATES, repeat=2)}
    assert table == {
        (0, 0): 0,
        (0, 1): 0,
        (0, U): 0,
        (1, 0): 1,
        (1, 1): 1,
        (1, U): 1,
        (U, 0): 0,
        (U, 1): 1,
        (U, U): U,
    }


def test_triadd_is_associative() -> None:
    x, y, z = (column(values) for values in zip(*product(STATES, repeat=3), strict=True))
    assert tri_add(tri_add(x, y), z).tolist() == tri_add(x, tri_add(y, z)).tolist()


def test_uncertain_is_the_identity_of_triadd_on_both_sides() -> None:
    states, uncertain = column(STATES), column([U, U, U])
    assert tri_add(uncertain, states).tolist() == list(STATES)
    assert tri_add(states, uncertain).tolist() == list(STATES)


def test_triadd_is_not_commutative() -> None:
    assert tri_add(column([0]), column([1])).tolist() != tri_add(column([1]), column([0])).tolist()


def test_a_sum_digit_is_the_base_digit_and_the_carry() -> None:
    cases = list(product(range(10), (0, 1)))
    base, carry = (column(values) for values in zip(*cases, strict=True))
    assert sum_digit(base, carry).tolist() == [(digit + carried) % 10 for digit, carried in cases]
    assert sum_digit(base).tolist() == base.tolist()


def test_a_difference_digit_goes_by_the_sign() -> None:
    cases = list(product((0, 1), range(10), range(10), (0, 1), (0, 1)))
    expected = [(n - m) % 10 if sign else (p - b) % 10 for sign, p, n, b, m in cases]
    assert difference_digit(*(column(values) for values in zip(*cases, strict=True))).tolist() == expected
    sign, positive, negative = column([0, 1]), column([3, 3]), column([7, 7])
    assert difference_digit(sign, positive, negative).tolist() == [3, 7]


def test_passing_on_and_nothing_are_what_they_say() -> None:
    assert same(column([0, 1, U])).tolist() == [0, 1, U]
    assert zero() == 0


def names_at(digits: int) -> list[str]:
    columns = [f"{family}[{k}]" for family in ("D", "D'", *FAMILIES_OF["mix"]) for k in range(digits)]
    return [*columns, "OPR", "SGN", *(f"A[{k}]" for k in range(digits + 1))]


def assert_all_exact(sums: Sums) -> None:
    values = subtasks(sums.questions())
    assert sorted(map(str, values)) == sorted(names_at(sums.digits))
    for name in names_at(sums.digits):
        variable = Variable.parse(name)
        found = values[variable]
        np.testing.assert_array_equal(found, exact(name, sums), err_msg=name)
        assert set(found.tolist()) <= set(FAMILIES[variable.name].values_at(variable.index))


@PROPERTY
@given(data=st.data(), digits=st.integers(1, 40))
def test_every_subtask_of_any_question_is_exact(data: st.DataObject, digits: int) -> None:
    number = st.integers(0, 10**digits - 1)
    rows = data.draw(st.lists(st.tuples(number, number, st.booleans()), min_size=1, max_size=4))
    assert_all_exact(sums_of(rows, digits))


@PROPERTY
@given(data=st.data(), digits=st.integers(1, 40), minus=st.booleans())
def test_every_subtask_of_a_question_full_of_cascades_is_exact(data: st.DataObject, digits: int, minus: bool) -> None:
    columns = data.draw(
        st.lists(
            st.sampled_from([(4, 5), (5, 5), (5, 4), (0, 9), (9, 1), (0, 0), (9, 9)]), min_size=digits, max_size=digits
        )
    )
    first, second = (int("".join(str(pair[side]) for pair in columns)) for side in (0, 1))
    assert_all_exact(sums_of([(first, second, minus), (second, first, minus)], digits))


@pytest.mark.parametrize("digits", [1, 2, 6, 18, 40])
def test_every_subtask_is_exact_over_a_whole_batch(digits: int) -> None:
    assert_all_exact(random_sums(seed=digits, count=2000 if digits <= 18 else 500, digits=digits))


@PROPERTY
@given(first=st.integers(0, 10**6 - 1), second=st.integers(0, 10**6 - 1), operator=st.sampled_from("+-"))
def test_the_two_slow_routes_agree(first: int, second: int, operator: str) -> None:
    sums = sums_of([(first, second, operator == "-")], 6)
    stepwise = slow_run(f"{first:06d}{operator}{second:06d}", "mix")
    assert stepwise == {name: exact(name, sums)[0] for name in names_at(6)}


def test_the_units_are_never_uncertain() -> None:
    values = subtasks(Questions.parse(["54+45", "33-33"]))
    for name, at_the_units, above in (("ST", 0, U), ("MB", 0, U), ("NB", 0, U)):
        row = 0 if name == "ST" else 1
        assert values[Variable(name, 0)][row] == at_the_units
        assert values[Variable(name, 1)][row] == above
    assert [values[Variable(name, k)][0] for name, k in (("SV", 0), ("SV", 1))] == [0, 0]
    assert [values[Variable(name, k)][1] for name in ("MV", "NV") for k in (0, 1)] == [0, 0, 0, 0]


def test_the_units_still_carry_and_borrow() -> None:
    values = subtasks(Questions.parse(["5+5", "3-4", "4-3"]))
    assert [
        int(values[Variable(name, 0)][row]) for name, row in (("ST", 0), ("MB", 1), ("NB", 1), ("MB", 2), ("NB", 2))
    ] == [*(1, 1, 0, 0, 1)]
