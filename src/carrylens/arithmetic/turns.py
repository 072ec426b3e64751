"""Turns: which tokens of an answer a change shows in, what made the change, and an order in which these take turns.

Takes  answers before and after a change, pairs of questions, or what is to take turns.
Gives  the tokens that differ, the one cause that does, and orders of rows.
Never  draws a question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.variables import Variable


def tokens_changed(right: Answers, moved: Answers) -> NDArray[np.bool_]:
    """Which tokens differ, as they are written, the sign first: [pair, token]."""
    return np.column_stack([right.negative != moved.negative, (right.digits != moved.digits)[:, ::-1]])


def taking_turns(shown: NDArray[np.bool_]) -> NDArray[np.intp]:
    """All rows, so ordered that each token in turn, the rarest first, has the next row that shows it."""
    tokens = [token for token in np.argsort(shown.sum(0), kind="stable") if shown[:, token].any()]
    waiting = [list(np.flatnonzero(shown[:, token])[::-1]) for token in tokens]
    order, taken = list[int](), np.zeros(len(shown), dtype=np.bool_)
    while any(waiting):
        for rows in waiting:
            while rows and taken[rows[-1]]:
                rows.pop()
            if rows:
                order.append(rows.pop())
                taken[order[-1]] = True
    return np.array([*order, *np.flatnonzero(~taken)], dtype=np.intp)


N_CAUSES = 4


def causes(token: Variable, base: Questions, source: Questions) -> NDArray[np.bool_]:
    """For every pair which cause of a token of the answer is all that differs, if it is one of `N_CAUSES`.

    Those are the token's own column, the one below it, one further down, and the operator. Of the sign, which has no
    column, the top one counts as its own.
    """
    differs = (base.first != source.first) | (base.second != source.second)
    turned, top = base.minus != source.minus, base.digits - 1
    own = top if token.digit is None else min(token.digit, top)
    next_below = max(own - 1, 0)
    columns = [differs[:, own], differs[:, next_below] & (own > 0), differs[:, :next_below].any(1)]
    alone = (differs.sum(1) == 1) & ~turned
    return np.stack([*(alone & each for each in columns), turned & ~differs.any(1)], axis=1)


def first_times(base: Questions, source: Questions) -> NDArray[np.intp]:
    """The rows of the pairs that did not come before."""
    arrays = [array for side in (base, source) for array in (side.first, side.second, side.minus[:, None])]
    _, first = np.unique(np.concatenate(arrays, axis=1).astype(np.int8), axis=0, return_index=True)
    return np.sort(first)
