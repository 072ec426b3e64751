"""Equivalence: which variables no question can tell apart by an interchange.

Takes  a causal model.
Gives  for each variable and output a digest: what that output becomes when the variable takes its value from another
       question, on many pairs. Variables of one digest are equivalent there.
Never  runs a network.

The outputs are those of a reader of the base's own outputs: see `pairs.counterfactual_outputs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.pairs import counterfactual_outputs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_PAIRS = 2048  # as many unrelated pairs, and as many that differ in the inputs of one index
Digests = Mapping[Variable, tuple[bytes, ...]]


@cache
def interchange_digests(model: CausalModel) -> Digests:
    """For every variable, output by output, what an interchange of it does."""
    base, source = _pairs(model)
    found = {}
    for variable in model.variables:
        outputs = counterfactual_outputs(model, variable, base, source)
        found[variable] = tuple(np.ascontiguousarray(column).tobytes() for column in outputs.T)
    return found


def are_equivalent(model: CausalModel, one: Variable, other: Variable, output: int | None = None) -> bool:
    """Whether no question tells the two apart, at one output or, where none is named, at all."""
    digests = interchange_digests(model)
    if one not in digests or other not in digests:
        return one == other
    return digests[one] == digests[other] if output is None else digests[one][output] == digests[other][output]


def _pairs(model: CausalModel) -> tuple[Batch, Batch]:
    population, grid = population_of(model), grid_of(model)
    base, other = population.draw(0, 0, 2 * _PAIRS), population.draw(0, 2 * _PAIRS, 2 * _PAIRS)
    keep = np.zeros((2 * _PAIRS, grid.size), dtype=np.bool_)
    keep[_PAIRS:] = True
    if grid.size:
        index = np.random.default_rng(0).integers(0, grid.size, _PAIRS)
        keep[np.arange(_PAIRS, 2 * _PAIRS), index] = False
    values = np.where((np.arange(2 * _PAIRS) < _PAIRS)[:, None], other.values, base.values)
    cells = np.where(keep, grid.cells(base), grid.cells(other))
    return base, grid.with_cells(base.with_values(np.asfortranarray(values)), cells)
