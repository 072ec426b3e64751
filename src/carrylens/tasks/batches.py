"""Batches: rows of input values, as causal models and layouts read them.

Takes  variables and, for each, one small integer a row.
Gives  `Batch`: rows that can be picked, joined and changed; subclasses add what people call the parts.
Never  knows what a value means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable

Column = NDArray[np.int8]
"""One small integer per row: axes [batch]."""
Columns = NDArray[np.int8]
"""Axes [batch, variable]."""
_LARGEST = 127
RowChoice = slice | NDArray[np.intp] | NDArray[np.bool_]


class Batch:
    """The inputs of many runs: `values` has axes [batch, input], in the order of `inputs`, and is read-only.

    >>> batch = Batch([Variable("X", 1), Variable("X", 0)], np.array([[3, 4], [5, 6]]))
    >>> len(batch), batch.column(Variable("X", 0)).tolist(), batch[1:].values.tolist()
    (2, [4, 6], [[5, 6]])
    """

    inputs: tuple[Variable, ...]
    values: Columns

    def __init__(self, inputs: Sequence[Variable], values: ArrayLike) -> None:
        given = np.asarray(values)
        if given.ndim != 2 or given.shape[1] != len(inputs) or given.dtype.kind not in "iub":
            raise CarryLensError(
                f"Values of shape {given.shape} do not fit {len(inputs)} inputs. Give whole numbers, [batch, input]."
            )
        if given.size and not 0 <= given.min() <= given.max() <= _LARGEST:
            raise CarryLensError(
                f"Values from {given.min()} to {given.max()} were given. Give whole numbers from 0 to {_LARGEST}."
            )
        # Variable-major in memory: every rule works on whole columns.
        self._fill(tuple(inputs), np.array(given, dtype=np.int8, order="F"))

    def _fill(self, inputs: tuple[Variable, ...], values: Columns) -> None:
        values.flags.writeable = False
        self.inputs, self.values = inputs, values

    def with_values(self, values: Columns) -> Self:
        """The same kind of batch with other values, which are taken as they are."""
        made = object.__new__(type(self))
        made._fill(self.inputs, values)
        return made

    def column(self, variable: Variable) -> Column:
        """One input's value in every row."""
        return self.values[:, self.place_of[variable]]

    @cached_property
    def place_of(self) -> Mapping[Variable, int]:
        """Which column each input is in."""
        return {variable: at for at, variable in enumerate(self.inputs)}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: int | RowChoice) -> Self:
        """A batch of the rows asked for; of one row, if its number is given."""
        if isinstance(rows, int):
            if not -len(self) <= rows < len(self):
                raise IndexError(f"row {rows} of {len(self)}")
            rows = np.array([rows])
        if isinstance(rows, slice):
            return self.with_values(self.values[rows])
        picked = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return self.with_values(self.values.T.take(picked, axis=1).T)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Batch) and self.inputs == other.inputs and bool(np.array_equal(self.values, other.values))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} rows of {len(self.inputs)} inputs>"


AnyBatch = TypeVar("AnyBatch", bound=Batch)


def joined(some: Sequence[AnyBatch]) -> AnyBatch:
    """All rows, one batch after another."""
    return some[0].with_values(np.concatenate([each.values.T for each in some], axis=1).T)
