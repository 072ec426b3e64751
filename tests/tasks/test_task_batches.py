"""Batches: rows that can be picked and joined, and that nobody can change."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, joined
from carrylens.tasks.variables import Variable

INPUTS = (Variable("X", 1), Variable("X", 0), Variable("Y"))
VALUES = np.arange(12, dtype=np.int64).reshape(4, 3)
BATCH = Batch(INPUTS, VALUES)


def test_a_column_is_the_input_s_value_in_every_row() -> None:
    assert {each: BATCH.column(each).tolist() for each in INPUTS} == dict(zip(INPUTS, VALUES.T.tolist(), strict=True))


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([2, 0, 2]), np.array([True, False, False, True]), slice(0, 0)])
def test_picked_rows_are_those_of_the_values(rows: slice | np.ndarray) -> None:
    assert BATCH[rows].values.tolist() == VALUES[rows].tolist()
    assert len(BATCH[rows]) == len(VALUES[rows])


def test_one_row_is_a_batch_of_one() -> None:
    assert BATCH[2].values.tolist() == [VALUES[2].tolist()]
    assert BATCH[-1] == BATCH[3]
    for row in (4, -5):
        with pytest.raises(IndexError):
            BATCH[row]


def test_joined_batches_are_their_rows_one_after_another() -> None:
    assert joined([BATCH[:1], BATCH[1:3], BATCH[3:]]) == BATCH
    assert joined([BATCH[:0], BATCH[:0]]).values.shape == (0, 3)


def test_batches_are_equal_where_inputs_and_values_are() -> None:
    assert Batch(INPUTS, VALUES) == BATCH
    assert Batch(INPUTS, VALUES[::-1]) != BATCH
    assert Batch(INPUTS[::-1], VALUES) != BATCH
    with pytest.raises(TypeError):
        hash(BATCH)


def test_nobody_can_write_to_a_batch_or_to_what_it_was_made_from() -> None:
    given = VALUES.copy()
    batch = Batch(INPUTS, given)
    given[:] = 0
    assert batch == BATCH
    for array in (batch.values, batch.column(INPUTS[0]), batch[1:].values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    "values",
    [np.zeros((2, 2), int), np.zeros(3, int), np.zeros((2, 3)), [["a", "b", "c"]], [[0, 1, 128]], [[0, -1, 0]]],
)
def test_values_that_do_not_fit_are_refused(values: object) -> None:
    with pytest.raises(CarryLensError):
        Batch(INPUTS, values)  # type: ignore[arg-type]
