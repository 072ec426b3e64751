"""Turns: which tokens of an answer a change shows in, and an order in which they take turns.

Takes  answers before and after a change, or which tokens it shows in.
Gives  the tokens that differ, and an order of rows.
Never  draws a question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Answers


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
