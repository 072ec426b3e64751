"""Matched nulls: sources that differ in all that the effect's source differs in, but for the variable.

Takes  pairs made for a variable and an output.
Gives  for their bases sources that differ from them in the very same inputs, and leave the variable and every output
       before that one as they are. Of those proposed the one is taken in which most other variables differ.
Never  changes other inputs than the effect does, unless no such source exists.
"""

from __future__ import annotations

import numpy as np

from carrylens.tasks.grid import grid_of
from carrylens.tasks.output_pairs import read_before
from carrylens.tasks.pairs import Pairs, null_pairs
from carrylens.tasks.variables import Variable

_PROPOSALS = 48  # for each source


def matched_null(pairs: Pairs, output: Variable | str, seed: int) -> Pairs:
    """For the bases of `pairs` sources that differ in the same inputs, and neither in the variable nor before `output`.

    Bases that have no such source are left out. An input has none by its nature: there the others of its index differ,
    or, where it has no index or is alone there, those of one other. If no base has one, every other input differs, as
    in `null_pairs`.
    """
    found = _nulls(pairs, Variable.of(output), seed)
    return found if len(found) else null_pairs(pairs.model, pairs.variable, pairs.base, seed)


def _nulls(pairs: Pairs, output: Variable, seed: int) -> Pairs:
    model, variable, base, grid = pairs.model, pairs.variable, pairs.base, grid_of(pairs.model)
    random = np.random.default_rng([seed, 7])
    rows = np.repeat(np.arange(len(base)), _PROPOSALS)
    mine, theirs = grid.cells(base), grid.cells(pairs.source)
    differs = mine != theirs
    if variable in model.inputs:  # the others of its index differ instead; where there is none, those of some other
        own = grid.holds({variable})[:, None, :]
        differs = np.broadcast_to(differs.any(axis=0)[None] & ~own, mine.shape)
        some = np.zeros((len(base), grid.size), dtype=np.bool_)
        if grid.size:
            some[np.arange(len(base)), random.integers(0, grid.size, len(base))] = True
        has_others = np.asarray(differs.any(axis=(0, 2)))
        differs = np.where(has_others[:, None], differs, some[None] & ~own)
    steps = np.where(differs[:, rows], grid.draw_steps(random, len(rows)), np.int8(0))
    turned = {
        each: (base.column(each) != pairs.source.column(each))[rows] for each in grid.switches if each != variable
    }
    proposed = grid.with_cells(base[rows], grid.stepped(mine[:, rows], steps), turned)
    before, after = model.run(base), model.run(proposed)
    good = (before[variable][rows] == after[variable]) & model.admits(proposed)
    good &= (proposed.values != base.values[rows]).any(axis=1)
    for earlier in read_before(model, variable, output):
        good &= before[earlier][rows] == after[earlier]
    n_other = sum((before[each][rows] != after[each]).astype(np.int64) for each in model.by_variable)
    table = np.where(good, 1 + n_other, 0).reshape(len(base), _PROPOSALS)
    has = np.flatnonzero(table.any(1))
    source = proposed[has * _PROPOSALS + table.argmax(1)[has]]
    return Pairs(model, variable, base[has], source, model.output_values(base[has]))
