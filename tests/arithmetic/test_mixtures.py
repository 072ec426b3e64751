"""Weighted sums and gated mixtures answer as they must, and state what each route reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.mixtures import G, Gate, gated, top_digit_below
from carrylens.arithmetic.planted.algorithm_of import causal_model
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.variables import SV, WS, A, D
from carrylens.errors import CarryLensError
from carrylens.tasks.causal import Mechanism

_numbers = st.integers(min_value=0, max_value=9999)


def drawn(operation: Operation, digits: int) -> Questions:
    return Population(PopulationKind.ENRICHED, operation, digits).draw(4, 0, 1000)


@given(first=_numbers, second=_numbers)
def test_a_weighed_carry_is_the_carry(first: int, second: int) -> None:
    question = Questions.parse([f"{first:04}+{second:04}"])
    values = rivals.weighted_sum(Operation.ADD, 4).run(question)
    assert [values[WS[k]][0] for k in range(4)] == [
        first % 10 ** (k + 1) + second % 10 ** (k + 1) >= 10 ** (k + 1) for k in range(4)
    ]


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("n_carries", [1, 2, 4, None])
def test_weighted_sums_are_always_right(operation: Operation, n_carries: int | None) -> None:
    questions, model = drawn(operation, 4), rivals.weighted_sum(operation, 4, n_carries)
    assert (model.output_values(questions) == algorithm(operation, 4).output_values(questions)).all()
    weighed = {variable.index for variable in model.by_variable if variable.name in ("WS", "WM")}
    assert weighed == set(range(n_carries or 4))


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("digits", [18, 19, 20, 40])
def test_weighted_sums_are_right_where_a_number_is_wider_than_64_bits(operation: Operation, digits: int) -> None:
    questions, model = drawn(operation, digits), rivals.weighted_sum(operation, digits)
    assert (model.output_values(questions) == algorithm(operation, digits).output_values(questions)).all()


def test_nothing_is_left_of_the_cascade_where_all_carries_are_weighed() -> None:
    names = {variable.name for variable in rivals.weighted_sum(Operation.ADD, 3).by_variable}
    assert names == {"SA", "WS", "SGN", "A"}
    with pytest.raises(CarryLensError, match=r"^4 .*\b3\b"):
        rivals.weighted_sum(Operation.ADD, 3, 4)


def pairs() -> list[tuple[Algorithm, Algorithm]]:
    usual = algorithm(Operation.ADD, 3)
    others = [rivals.one_layer(3), rivals.one_layer(3, sum_nine=True), rivals.ripple(Operation.ADD, 3)]
    others += [rivals.weighted_sum(Operation.ADD, 3), causal_model(Operation.ADD, 3, binary=True)]
    return [pair for other in others for pair in ((usual, other), (other, usual))]


@pytest.mark.parametrize(("first", "second"), pairs(), ids=lambda each: each.name)
def test_a_mixture_answers_as_the_gate_says(first: Algorithm, second: Algorithm) -> None:
    questions = drawn(Operation.ADD, 3)
    mixed = gated(top_digit_below(4, 3), first, second)
    opened = questions.first[:, 2] < 4
    expected = np.where(opened[:, None], second.output_values(questions), first.output_values(questions))
    assert 0.3 < opened.mean() < 0.5
    assert (mixed.output_values(questions) == expected).all()


@pytest.mark.parametrize(("first", "second"), pairs(), ids=lambda each: each.name)
def test_under_do_each_route_has_its_own_variables(first: Algorithm, second: Algorithm) -> None:
    questions = drawn(Operation.ADD, 3)
    mixed = gated(top_digit_below(4, 3), first, second)
    for variable in (each for each in second.by_variable if each not in second.outputs):
        own = mixed.by_variable.get(variable)
        if own is not None and own != second.by_variable[variable]:
            continue  # the first algorithm has that name, and the second one's is another
        for route, model in ((0, first), (1, second)):
            if variable in model.by_variable:
                do = {variable: model.run(questions[::-1])[variable]}
                given = mixed.output_values(questions, do | {G.variable: np.full(len(questions), route)})
                assert (given == model.output_values(questions, do)).all(), (variable, route)


def test_what_two_algorithms_call_alike_and_compute_differently_stands_twice() -> None:
    mixed = gated(top_digit_below(3, 3), algorithm(Operation.ADD, 3), causal_model(Operation.ADD, 3, binary=True))
    names = {variable.name for variable in mixed.by_variable}
    assert {"ST", "SV", "S9", "SV_2"} <= names
    assert "SA_2" not in names
    assert [str(each) for each in mixed.by_variable[A[1]].parents] == ["G", "SA[1]", "SV[0]", "SV_2[0]"]


def test_a_gate_of_ones_own() -> None:
    def is_even(digit: np.ndarray) -> np.ndarray:
        return digit % 2 == 0

    gate = Gate((Mechanism(G.variable, (D[0],), is_even),))
    mixed = gated(gate, algorithm(Operation.ADD, 2), rivals.weighted_sum(Operation.ADD, 2))
    cut = mixed.answers(Questions.parse(["55+55", "54+56"]), do={SV[0]: 0}).text()
    assert cut == ["+100", "+110"]


def test_what_makes_no_mixture_is_refused() -> None:
    with pytest.raises(CarryLensError, match="left-to-right add"):
        gated(top_digit_below(3, 3), algorithm(Operation.ADD, 3), algorithm(Operation.ADD, 2))
    with pytest.raises(CarryLensError, match="10"):
        top_digit_below(10, 3)
