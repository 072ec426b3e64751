"""Turns: each output has its share, and no row is lost."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrylens.tasks.balance import N_CAUSES, causes, first_times, taking_turns
from carrylens.tasks.batches import Batch
from carrylens.tasks.grid import grid_of
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable
from tasks.small_tasks import WHEEL, D, E, K, M, W


@given(st.integers(0, 30), st.integers(1, 5), st.randoms(use_true_random=False))
def test_an_order_has_every_row_once(n_rows: int, n_outputs: int, random: Random) -> None:
    shown = np.array([[random.random() < 0.3 for _ in range(n_outputs)] for _ in range(n_rows)]).reshape(
        n_rows, n_outputs
    )
    assert sorted(taking_turns(shown).tolist()) == list(range(n_rows))


def test_the_rarest_output_goes_first_and_rows_that_show_nothing_last() -> None:
    shown = np.array([[1, 0], [1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool)
    assert taking_turns(shown).tolist() == [4, 0, 5, 1, 3, 2]


def test_rows_that_came_before_are_left_out() -> None:
    batch = population_of(WHEEL).draw(0, 0, 4)
    base, source = batch[np.array([0, 1, 0, 0])], batch[np.array([2, 3, 2, 3])]
    assert first_times(base, source).tolist() == [0, 1, 3]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({D[2]: 1}, 0),
        ({D[2]: 1, E[2]: 2}, 0),
        ({E[1]: 2}, 1),
        ({D[0]: 1}, 2),
        ({M: 1}, 3),
        ({M: 1, K: 1}, 3),
        ({D[2]: 1, D[1]: 1}, None),
        ({D[2]: 1, K: 1}, None),
        ({}, None),
    ],
)
def test_the_one_cause_that_differs_is_named(changed: dict[Variable, int], expected: int | None) -> None:
    low = {each: min(WHEEL.values_of(each)) for each in WHEEL.inputs}
    base = Batch(WHEEL.inputs, np.array([[low[each] for each in WHEEL.inputs]]))
    source = Batch(WHEEL.inputs, np.array([[low[each] + changed.get(each, 0) for each in WHEEL.inputs]]))
    found = causes(grid_of(WHEEL), W[2], base, source)[0]
    assert found.tolist() == [at == expected for at in range(N_CAUSES)]
