"""Column pairs hold what they promise, by a slow second route: every answer worked out anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, contrast_pairs, deciding_pairs, pure_pairs
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.variables import U

Draw = Callable[..., ColumnPairs]


def values_of(branch: Branch, questions: Questions) -> np.ndarray:
    run = algorithm(branch.operation, questions.digits).run(questions)
    return np.stack([run[branch.family[k]] for k in range(questions.digits)], axis=1)


def check(pairs: ColumnPairs) -> None:
    k = pairs.column
    for side in (pairs.source, pairs.null):
        others = [column for column in range(pairs.base.digits) if column != k]
        assert np.array_equal(side.first[:, others], pairs.base.first[:, others])
        assert np.array_equal(side.second[:, others], pairs.base.second[:, others])
        assert np.array_equal(answers(side).negative, answers(pairs.base).negative)
    base, source, null = (values_of(pairs.branch, side)[:, k] for side in (pairs.base, pairs.source, pairs.null))
    assert (base != source).all()
    assert (base == null).all()
    assert (pairs.base.first[:, k] != pairs.null.first[:, k]).all()
    above = answers(pairs.base).digits[:, k + 1 :]
    assert (above != answers(pairs.source).digits[:, k + 1 :]).any(1).all()
    assert np.array_equal(above, answers(pairs.null).digits[:, k + 1 :])
    rows = np.concatenate([pairs.base.first, pairs.base.second, pairs.source.first, pairs.source.second], axis=1)
    assert len(np.unique(rows, axis=0)) == len(pairs)


@pytest.mark.parametrize("branch", list(Branch))
@pytest.mark.parametrize("values", [(0, 1), (0, U), (1, U)])
def test_contrast_pairs_differ_in_the_carry_of_one_column(branch: Branch, values: tuple[int, int]) -> None:
    pairs = contrast_pairs(branch, 4, 2, values, 60, seed=3)
    assert len(pairs) == 60
    check(pairs)
    both = np.stack([values_of(branch, side)[:, 2] for side in (pairs.base, pairs.source)], axis=1)
    assert {tuple(sorted(pair)) for pair in both.tolist()} == {tuple(sorted(values))}
    assert len({tuple(pair) for pair in both.tolist()}) == 2


@pytest.mark.parametrize("branch", list(Branch))
@pytest.mark.parametrize("depth", [0, 2])
def test_deciding_pairs_turn_the_column_that_decides(branch: Branch, depth: int) -> None:
    pairs = deciding_pairs(branch, 4, 3, depth, 60, seed=5)
    assert len(pairs) == 60
    check(pairs)
    assert (values_of(branch, pairs.base)[:, 3 - depth : 3] == U).all()
    digit = answers(pairs.base).digits[:, 3], answers(pairs.source).digits[:, 3]
    assert (digit[0] != digit[1]).all()


@pytest.mark.parametrize("branch", list(Branch))
@pytest.mark.parametrize("draw", [deciding_pairs, pure_pairs])
def test_the_token_that_is_read_where_the_digit_is_predicted_stays(branch: Branch, draw: Draw) -> None:
    """Else it would give the carry away, and no null turns it."""
    for digit, depth in ((1, 0), (2, 1), (3, 0), (3, 2)):
        pairs = draw(branch, 4, digit, depth, 40, seed=6)
        base, source = (answers(side).digits for side in (pairs.base, pairs.source))
        assert len(pairs) == 40
        assert np.array_equal(base[:, digit + 1 :], source[:, digit + 1 :])
        assert (base[:, digit] != source[:, digit]).all()


def test_the_branches_of_an_operation_are_its_own() -> None:
    pairs = contrast_pairs(Branch.NEGATIVE, 3, 1, (0, 1), 20, seed=1)
    assert answers(pairs.base).negative.all()
    assert Branch.NEGATIVE.operation is Operation.SUB
