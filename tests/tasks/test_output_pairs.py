"""Pairs made for one output: it is the first to change, nothing read before gives it away, and nulls are matched."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic import Operation, algorithm
from carrylens.arithmetic.variables import MD, SA, ST, SV, A
from carrylens.errors import CarryLensError
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.matched_nulls import matched_null
from carrylens.tasks.output_pairs import output_pairs, shown_outputs
from carrylens.tasks.pairs import Pairs
from carrylens.tasks.variables import Variable
from tasks.small_tasks import PARITY, WHEEL, B, O, R, S, V, W, slow_counterfactual

COUNT = 24
ADD = {digits: algorithm(Operation.ADD, digits) for digits in (2, 3, 6, 20)}
MIX = algorithm(Operation.MIX, 3)
CASES: list[tuple[CausalModel, Variable, Variable]] = [
    (ADD[2], ST[0], A[2]),
    (ADD[3], SA[1], A[1]),
    (ADD[3], Variable("D", 0), A[3]),
    (ADD[6], ST[1], A[4]),
    (ADD[6], SV[3], A[6]),
    (ADD[20], ST[0], A[20]),
    (ADD[20], ST[0], A[19]),
    (ADD[20], SV[7], A[9]),
    (ADD[20], A[11], A[11]),
    (MIX, MD[1], A[1]),
    (MIX, Variable("ND", 0), A[0]),
    (MIX, Variable("OPR"), A[1]),
    (PARITY, R[2], S),
    (PARITY, R[4], O[5]),
    (PARITY, B[5], O[5]),
    (WHEEL, V[0], W[2]),
    (WHEEL, V[1], W[1]),
]
IDS = [f"{model.name}, {variable} for {output}" for model, variable, output in CASES]


def earlier(model: CausalModel, output: Variable) -> list[int]:
    return list(range(model.outputs.index(output))) if model.fed_back else []


def differing(pairs: Pairs) -> np.ndarray:
    return np.asarray(pairs.base.values != pairs.source.values)


@pytest.mark.parametrize(("model", "variable", "output"), CASES, ids=IDS)
def test_the_output_is_the_first_to_change_and_nothing_read_before_differs(
    model: CausalModel, variable: Variable, output: Variable
) -> None:
    pairs, at = output_pairs(model, variable, output, COUNT, seed=3), model.outputs.index(output)
    own, source = model.output_values(pairs.base), model.output_values(pairs.source)
    moved = slow_counterfactual(model, variable, pairs.base, pairs.source)
    assert (moved[:, at] == pairs.expected[:, at]).all()
    assert (moved[:, at] != own[:, at]).all()
    for before in earlier(model, output):
        assert (moved[:, before] == own[:, before]).all()
        assert (source[:, before] == own[:, before]).all()
    reached = [each in model.inputs_of(variable) for each in pairs.base.inputs]
    assert not differing(pairs)[:, ~np.array(reached)].any()
    assert model.admits(pairs.base).all()
    assert model.admits(pairs.source).all()


@pytest.mark.parametrize(("model", "variable", "output"), CASES, ids=IDS)
def test_there_are_as_many_as_asked_for_and_none_twice(
    model: CausalModel, variable: Variable, output: Variable
) -> None:
    pairs = output_pairs(model, variable, output, COUNT, seed=3)
    both = {(one.tobytes(), other.tobytes()) for one, other in zip(pairs.base.values, pairs.source.values, strict=True)}
    assert len(both) == len(pairs) == COUNT
    again = output_pairs(model, variable, output, COUNT, seed=4)
    assert not np.array_equal(again.base.values, pairs.base.values)


@pytest.mark.parametrize("top", [5, 14, 20])
def test_all_columns_between_are_undecided_in_twenty_digits(top: int) -> None:
    pairs = output_pairs(ADD[20], ST[0], A[top], 96, seed=0)
    assert len(pairs) == 96
    sums = [pairs.base.column(Variable("D", k)) + pairs.base.column(Variable("D'", k)) for k in range(20)]
    assert all((sums[k] == 9).all() for k in range(1, top))
    assert top == 20 or (sums[top] != 9).all(), "else the next output above would change, too"


@pytest.mark.parametrize(("model", "variable", "output"), [case for case in CASES if case[0] is not PARITY])
def test_a_null_differs_in_the_same_inputs_and_keeps_the_variable(
    model: CausalModel, variable: Variable, output: Variable
) -> None:
    pairs = output_pairs(model, variable, output, COUNT, seed=3)
    null = matched_null(pairs, output, seed=5)
    assert 0 < len(null) <= len(pairs)
    values = [model.run(side, read=[variable])[variable] for side in (null.base, null.source)]
    assert (values[0] == values[1]).all()
    if variable not in model.inputs:
        place = {row.tobytes(): at for at, row in enumerate(pairs.base.values)}
        rows = [place[row.tobytes()] for row in null.base.values]
        assert np.array_equal(differing(null), differing(pairs)[rows])
    own, source = model.output_values(null.base), model.output_values(null.source)
    for before in earlier(model, output):
        assert (own[:, before] == source[:, before]).all()


def test_where_no_null_can_differ_in_the_same_inputs_others_differ() -> None:
    """A parity of bits turns whenever an odd number of them does: no other values of the same bits keep it."""
    pairs = output_pairs(PARITY, R[2], S, COUNT, seed=3)
    null = matched_null(pairs, S, seed=5)
    values = [PARITY.run(side, read=[R[2]])[R[2]] for side in (null.base, null.source)]
    assert (values[0] == values[1]).all()
    assert differing(null).any(1).all()


def test_the_null_of_an_input_differs_beside_it_and_nowhere_else() -> None:
    variable, output = Variable("D", 1), A[2]
    null = matched_null(output_pairs(ADD[3], variable, output, COUNT, seed=3), output, seed=5)
    changed = {str(null.base.inputs[at]) for at in np.flatnonzero(differing(null).any(0))}
    assert changed == {"D'[1]"}


def test_pairs_made_to_tell_do() -> None:
    pairs = output_pairs(ADD[3], ST[1], A[3], COUNT, seed=1, tell_from=[SV[1]])
    other = slow_counterfactual(ADD[3], SV[1], pairs.base, pairs.source)
    at = ADD[3].outputs.index(A[3])
    assert (other[:, at] != pairs.expected[:, at]).all()


def test_only_outputs_that_can_be_first_are_named() -> None:
    assert shown_outputs(ADD[3], ST[1]) == (A[3], A[2])
    assert shown_outputs(ADD[3], SA[1]) == (A[1],)
    assert shown_outputs(MIX, Variable("MV", 2)) == (Variable("SGN"),), "what it does to digits, the sign gives away"


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(CarryLensError):
        output_pairs(ADD[3], SA[0], A[2], COUNT, seed=0)
    with pytest.raises(CarryLensError):
        output_pairs(ADD[3], SA[0], SA[0], COUNT, seed=0)
    with pytest.raises(CarryLensError):
        output_pairs(MIX, Variable("MV", 2), A[1], COUNT, seed=0)


def test_where_there_are_few_questions_all_pairs_are_given() -> None:
    pairs = output_pairs(PARITY, R[0], S, 10_000, seed=0)
    again = output_pairs(PARITY, R[0], S, 10_000, seed=1)
    assert 0 < len(pairs) < 10_000
    assert abs(len(pairs) - len(again)) <= 0.1 * len(pairs)
