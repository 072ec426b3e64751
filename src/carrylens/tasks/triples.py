"""Triples: matched pairs with a third question, to which the difference between the two is carried over.

Takes  a causal model, one of its variables, a number of triples and a seed.
Gives  effect triples, where the asked question must answer as if the variable had gone from the base's value to the
       source's, and null triples, where base and source agree in the variable and the outputs must stay.
Never  hands out a triple whose asked question shares an indexed input with the base outside the variable's own indices.
       Inside them its inputs are drawn anew, too, so that it shares the variable's value and not what that is made of:
       a difference between inputs, such as digits that are only added up, means something else there.

An interchange puts all that a node holds into another question. A node that carries a variable superposed with another,
such as a column's difference and the borrow into it, then moves both. What such a node holds for the source less what
it holds for the base is the variable's part alone, if it has one; a third question, with other values of everything
else, tells.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.pairs import counterfactual_outputs, own_pairs
from carrylens.tasks.variables import Variable

_PROPOSALS = 64
_SPARE = 4  # pairs drawn for each triple wanted: some have no third question


@dataclass(frozen=True, eq=False)
class Triples:
    """Asked, base and source questions: asked and base agree in the variable."""

    model: CausalModel
    variable: Variable
    asked: Batch
    base: Batch
    source: Batch

    def __len__(self) -> int:
        return len(self.asked)

    def counterfactual(self, variable: Variable | None = None) -> Columns:
        """What the asked question must answer once the variable, or another, has the source's value."""
        return counterfactual_outputs(self.model, variable or self.variable, self.asked, self.source)


def effect_triples(
    model: CausalModel,
    variable: Variable,
    count: int,
    seed: int,
    tell_from: Collection[Variable] = (),
    at: int | None = None,
) -> Triples:
    """Up to `count` triples whose asked question must answer otherwise.

    Of each variable in `tell_from` it has the base's value, and must answer otherwise than if that one were moved: with
    another output `at`, if that is said.
    """
    return _effect(model, variable, count, seed, tuple(tell_from), at)


@lru_cache(maxsize=512)
def _effect(
    model: CausalModel, variable: Variable, count: int, seed: int, tell_from: tuple[Variable, ...], at: int | None
) -> Triples:
    agree = [steering for steering in model.steering if variable != steering]
    own = _own_indices(model, variable)
    inside = [other for other in tell_from if not (_own_indices(model, other) & ~own).any()]
    pairs = own_pairs(model, variable, _SPARE * count, seed, agree=agree, tell_from=inside, at=at)
    return _with_asked(model, variable, pairs.base, pairs.source, count, seed, tell_from, at)


@lru_cache(maxsize=512)
def null_triples(model: CausalModel, variable: Variable, count: int, seed: int) -> Triples:
    """Up to `count` triples with the bases of effect triples, whose base and source agree in the variable."""
    base = _effect(model, variable, count, seed, (), None).base
    source = _same_value(model, variable, base, np.random.default_rng([seed, 5]))
    grid = grid_of(model)
    differs = (grid.cells(source) != grid.cells(base)).any(axis=(0, 2))
    return _with_asked(model, variable, base[differs], source[differs], count, seed + 1)


def _with_asked(
    model: CausalModel,
    variable: Variable,
    base: Batch,
    source: Batch,
    count: int,
    seed: int,
    tell_from: tuple[Variable, ...] = (),
    at: int | None = None,
) -> Triples:
    # The first `count` pairs for which a third question is found: every input differs outside the variable's indices.
    own, grid = _own_indices(model, variable), grid_of(model)
    if own.all():
        raise CarryLensError(
            f"{variable} is computed from inputs of every index, so no third question has other ones. "
            "Choose a variable of fewer inputs."
        )
    random = np.random.default_rng([seed, 4])
    rows = np.repeat(np.arange(len(base)), _PROPOSALS)
    repeated = base[rows]
    changed = grid.stepped(grid.cells(repeated), grid.draw_steps(random, len(repeated)))
    proposed = grid.with_cells(repeated, np.where(own, grid.draw_together(random, len(repeated)), changed))
    before, after = model.run(repeated), model.run(proposed)
    good = model.admits(proposed) & (before[variable] == after[variable])
    there = model.run(source[rows])
    moved = model.run(proposed, do=there.pick(variable))
    for steering in model.steering:
        good &= (before[steering] == after[steering]) & (after[steering] == moved[steering])
    steered = [output not in model.steering for output in model.outputs]
    for other in tell_from:
        told = moved.outputs() != model.output_values(proposed, do=there.pick(other))
        good &= (before[other] == after[other]) & (told[:, steered].any(1) if at is None else told[:, at])
    table = good.reshape(len(base), _PROPOSALS)
    kept = np.flatnonzero(table.any(1))[:count]
    return Triples(model, variable, proposed[kept * _PROPOSALS + table.argmax(1)[kept]], base[kept], source[kept])


def _same_value(model: CausalModel, variable: Variable, base: Batch, random: np.random.Generator) -> Batch:
    # For each base the variable's inputs drawn anew, the variable as it was; the base itself where nothing was found.
    own, grid = _own_indices(model, variable), grid_of(model)
    repeated = base[np.repeat(np.arange(len(base)), _PROPOSALS)]
    old = grid.cells(repeated)
    new = np.where(own, grid.draw_together(random, len(repeated)), old)
    proposed = grid.with_cells(repeated, new)
    before, after = model.run(repeated), model.run(proposed)
    good = (before[variable] == after[variable]) & model.admits(proposed)
    for steering in model.steering:
        good &= before[steering] == after[steering]
    changed = (new != old).sum(axis=(0, 2))
    score = np.where(good, changed, -1).reshape(len(base), _PROPOSALS)
    found = proposed[np.arange(len(base)) * _PROPOSALS + score.argmax(1)]
    has = score.max(1) > 0
    return base.with_values(np.asfortranarray(np.where(has[:, None], found.values, base.values)))


def _own_indices(model: CausalModel, variable: Variable) -> NDArray[np.bool_]:
    return np.asarray(grid_of(model).holds(model.inputs_of(variable)).any(axis=0))
