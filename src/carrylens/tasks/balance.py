"""Balance: which outputs a change shows in, what made the change, and an order in which these take turns.

Takes  outputs before and after a change, pairs of questions, or what is to take turns.
Gives  the outputs that differ, the one cause that does, and orders of rows.
Never  draws a question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.tasks.batches import Batch
from carrylens.tasks.grid import InputGrid
from carrylens.tasks.variables import Variable


def taking_turns(shown: NDArray[np.bool_]) -> NDArray[np.intp]:
    """All rows, so ordered that each output in turn, the rarest first, has the next row that shows it."""
    outputs = [output for output in np.argsort(shown.sum(0), kind="stable") if shown[:, output].any()]
    waiting = [list(np.flatnonzero(shown[:, output])[::-1]) for output in outputs]
    order, taken = list[int](), np.zeros(len(shown), dtype=np.bool_)
    while any(waiting):
        for rows in waiting:
            while rows and taken[rows[-1]]:
                rows.pop()
            if rows:
                order.append(rows.pop())
                taken[order[-1]] = True
    return np.array([*order, *np.flatnonzero(~taken)], dtype=np.intp)


def in_turns(kinds: NDArray[np.integer]) -> NDArray[np.intp]:
    """All rows, so ordered that each kind in turn has its next row.

    >>> in_turns(np.array([7, 7, 7, 2, 2])).tolist()
    [0, 3, 1, 4, 2]
    """
    order = np.argsort(kinds, kind="stable")
    starts = np.r_[True, np.diff(kinds[order]) != 0] if len(kinds) else np.empty(0, dtype=np.bool_)
    turns = np.empty(len(kinds), dtype=np.intp)
    turns[order] = np.arange(len(kinds)) - np.maximum.accumulate(np.where(starts, np.arange(len(kinds)), 0))
    return np.argsort(turns, kind="stable")


N_CAUSES = 4


def causes(grid: InputGrid, output: Variable, base: Batch, source: Batch) -> NDArray[np.bool_]:
    """For every pair which cause of an output is all that differs, if it is one of `N_CAUSES`.

    Those are the inputs of the output's own index, of the one below it, of one further down, and the switches. For an
    output without an index, or with one above all inputs', the highest index counts as its own.
    """
    differs = (grid.cells(base) != grid.cells(source)).any(axis=0)
    turned = np.zeros(len(base), dtype=np.bool_)
    for switch in grid.switches:
        turned |= base.column(switch) != source.column(switch)
    if not grid.size:
        return np.stack([*[np.zeros_like(turned)] * (N_CAUSES - 1), turned], axis=1)
    top = grid.size - 1
    own = top if output.index is None else min(output.index, top)
    next_below = max(own - 1, 0)
    columns = [differs[:, own], differs[:, next_below] & (own > 0), differs[:, :next_below].any(1)]
    alone = (differs.sum(1) == 1) & ~turned
    return np.stack([*(alone & each for each in columns), turned & ~differs.any(1)], axis=1)


def first_times(base: Batch, source: Batch) -> NDArray[np.intp]:
    """The rows of the pairs that did not come before."""
    _, first = np.unique(np.concatenate([base.values, source.values], axis=1), axis=0, return_index=True)
    return np.sort(first)
