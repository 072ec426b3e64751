"""The grid of inputs: inputs by family and index, so that stimuli can change some of them and leave the others.

Takes  a causal model.
Gives  `InputGrid`: values as arrays [family, batch, index], new values drawn, batches made of them again.
Never  decides which are to change.

Inputs of one index, such as the two digits of a column, are changed together. An input without an index, such as the
operator, is a switch: it is turned, or it stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from carrylens.tasks.batches import AnyBatch, Batch, Columns
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Family, Variable

Cells = NDArray[np.int8]
"""Axes [family, batch, index]."""


@dataclass(frozen=True, eq=False)
class GridCells:
    """The indexed inputs of a causal model, family by family, and its switches."""

    model: CausalModel

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The families of indexed inputs, in the order in which they are read."""
        names = dict.fromkeys(each.name for each in self.model.inputs if each.index is not None)
        return tuple(self.model.family_called[name] for name in names)

    @cached_property
    def size(self) -> int:
        """How many indices there are."""
        return 1 + max((each.index for each in self.model.inputs if each.index is not None), default=-1)

    @cached_property
    def switches(self) -> tuple[Variable, ...]:
        """The inputs without an index that are not the same in every question."""
        fixed = dict(self.model.fixed)
        return tuple(each for each in self.model.inputs if each.index is None and each not in fixed)

    @cached_property
    def n_questions(self) -> int:
        """How many different questions there are, all values of all inputs combined."""
        fixed = dict(self.model.fixed)
        return prod(len(self.model.values_of(each)) for each in self.model.inputs if each not in fixed)

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        # Which column of a batch each cell is in: [family, index]; -1 where there is no such input.
        place = {variable: at for at, variable in enumerate(self.model.inputs)}
        rows = [[place.get(family[k], -1) for k in range(self.size)] for family in self.families]
        return np.array(rows, dtype=np.intp).reshape(len(self.families), self.size)

    def cells(self, batch: Batch) -> Cells:
        """The values of all indexed inputs, 0 where there is none."""
        found = np.empty((len(self.families), len(batch), self.size), dtype=np.int8)
        for at, row in enumerate(self._places):
            found[at] = np.where(row >= 0, batch.values[:, row], np.int8(0))
        return found

    def with_cells(
        self, batch: AnyBatch, cells: Cells, turned: Mapping[Variable, NDArray[np.bool_]] | None = None
    ) -> AnyBatch:
        """The batch with other values of its indexed inputs, and switches turned in the rows that `turned` marks."""
        values = np.array(batch.values, order="F")
        for row, family_cells in zip(self._places, cells, strict=True):
            values[:, row[row >= 0]] = family_cells[:, row >= 0]
        for switch, rows in (turned or {}).items():
            at = batch.place_of[switch]
            values[rows, at] = self._next_value(switch, values[rows, at])
        return batch.with_values(values)

    def _next_value(self, switch: Variable, column: Columns) -> Columns:
        values = np.array(self.model.values_of(switch), dtype=np.int8)
        order = np.zeros(int(values.max()) + 1, dtype=np.int8)
        order[values] = np.roll(values, -1)
        return order[column]

    def holds(self, inputs: Collection[Variable]) -> NDArray[np.bool_]:
        """Which cells are among `inputs`: [family, index]."""
        held = [[family[k] in inputs for k in range(self.size)] for family in self.families]
        return np.array(held, dtype=np.bool_).reshape(len(self.families), self.size)

    def indices_of(self, variables: Collection[Variable]) -> list[int]:
        """The indices at which one of the inputs is among `variables`."""
        return [int(k) for k in np.flatnonzero(self.holds(variables).any(axis=0))]

    def stepped(self, cells: Cells, steps: Cells) -> Cells:
        """The cells, each as many steps on among its family's values."""
        found = np.empty_like(cells)
        for at, values in enumerate(self.family_values):
            place = np.zeros(int(values.max()) + 1, dtype=np.int8)
            place[values] = np.arange(len(values), dtype=np.int8)
            found[at] = values[(place[cells[at]] + steps[at]) % np.int8(len(values))]
        return found

    @cached_property
    def family_values(self) -> list[NDArray[np.int8]]:
        """The values of each family."""
        return [np.array(family.values, dtype=np.int8) for family in self.families]


class InputGrid(GridCells):
    """The grid, and new values drawn for its cells."""

    def draw_anew(self, random: np.random.Generator, count: int) -> Cells:
        """New values for all cells, family after family."""
        shape = (count, self.size)
        drawn = [random.integers(0, len(each), shape, dtype=np.int8) for each in self.family_values]
        return self._valued(np.array(drawn, dtype=np.int8).reshape(len(drawn), *shape))

    def draw_together(self, random: np.random.Generator, count: int) -> Cells:
        """New values for all cells, drawn in one go where families have as many values."""
        return self._valued(self._draw_places(random, count, 0))

    def draw_some(self, random: np.random.Generator, count: int) -> NDArray[np.int8]:
        """New values for `count` cells of each family: [family, cell]."""
        drawn = np.zeros((len(self.families), count), dtype=np.int8)
        sizes = [len(values) for values in self.family_values]
        for n_values in dict.fromkeys(sizes):
            mine = [at for at, each in enumerate(sizes) if each == n_values]
            drawn[mine] = random.integers(0, n_values, (len(mine), count))
        return self._valued(drawn)

    def draw_steps(self, random: np.random.Generator, count: int, *, two_may_stay: bool = False) -> Cells:
        """How far to step each cell so that it gets another value.

        With `two_may_stay` a cell of a family of two values may stay: all others at once are one single question.
        """
        return self._draw_places(random, count, 1, two_may_stay=two_may_stay)

    def _valued(self, places: NDArray[np.int8]) -> NDArray[np.int8]:
        # From places among a family's values to the values.
        found = np.empty_like(places)
        for at, values in enumerate(self.family_values):
            found[at] = values[places[at]]
        return found

    def _draw_places(self, random: np.random.Generator, count: int, least: int, *, two_may_stay: bool = False) -> Cells:
        drawn = np.zeros((len(self.families), count, self.size), dtype=np.int8)
        sizes = [len(values) for values in self.family_values]
        for n_values in dict.fromkeys(sizes):
            mine = [at for at, each in enumerate(sizes) if each == n_values]
            lowest = 0 if n_values == 2 and two_may_stay else least
            if n_values > lowest:
                drawn[mine] = random.integers(lowest, n_values, (len(mine), count, self.size), dtype=np.int8)
        return drawn


@lru_cache(maxsize=256)
def grid_of(model: CausalModel) -> InputGrid:
    """The grid of a causal model's inputs."""
    return InputGrid(model)
