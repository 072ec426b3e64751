"""Pairs that do not repeat, and whose causes take turns."""

from __future__ import annotations

import pytest

from carrylens.arithmetic import Operation, Questions, algorithm
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.variables import MB, MD, NV, OPR, SA, SGN, SV, A
from carrylens.tasks.balance import causes
from carrylens.tasks.grid import grid_of
from carrylens.tasks.pairs import interchange_pairs
from carrylens.tasks.variables import Variable

of_batch = Questions.of_batch
SHORT = {operation: algorithm(operation, 3) for operation in Operation}


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        pytest.param(model, variable, id=f"{operation.value} {variable}")
        for operation, model in SHORT.items()
        for variable in (A[1], SGN, SA[1], MD[1], MB[0], NV[1], SV[1], OPR)
        if variable in model.by_variable and (operation is not Operation.ADD or variable != SGN)
    ],
)
def test_no_pair_comes_twice(model: Algorithm, variable: Variable) -> None:
    pairs = interchange_pairs(model, variable, 64, seed=0)
    rows = set(zip(of_batch(pairs.base).text(), of_batch(pairs.source).text(), strict=True))
    assert len(rows) == len(pairs) >= 64


@pytest.mark.parametrize("operation", list(Operation))
def test_the_causes_of_a_token_of_the_answer_take_turns(operation: Operation) -> None:
    pairs = interchange_pairs(algorithm(operation, 6), A[4], 96, seed=0)
    differs = (of_batch(pairs.base).first != of_batch(pairs.source).first) | (
        of_batch(pairs.base).second != of_batch(pairs.source).second
    )
    alone = differs.sum(1) == 1
    shares = [(alone & each).mean() for each in (differs[:, 4], differs[:, 3], differs[:, :3].any(1))]
    assert min(shares) > 0.15


def test_a_source_that_differs_in_one_column_says_which() -> None:
    base = Questions.parse(["1234+1111"] * 5)
    source = Questions.parse(["1334+1111", "1234+1181", "1235+1111", "1234-1111", "1335+1111"])
    assert causes(grid_of(algorithm(Operation.MIX, 4)), A[2], base, source).tolist() == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, True, False],
        [False, False, False, True],
        [False, False, False, False],
    ]


@pytest.mark.parametrize("variable", ["SA[1]", "ST[0]", "A[1]", "A[2]", "D[1]"])
def test_no_pair_comes_twice_even_where_there_are_few(variable: str) -> None:
    pairs = interchange_pairs(algorithm(Operation.ADD, 2), variable, 400, seed=0)
    assert len(set(zip(of_batch(pairs.base).text(), of_batch(pairs.source).text(), strict=True))) == len(pairs) == 400
