"""Operands: random digits, and steps from one number to another, from which populations are made.

Takes  draws, or digits, lowest first.
Gives  digits.
Never  knows an operation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Digits
from carrylens.tasks.draws import Draws, below


def digit_pairs(draws: Draws) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Two random digits from each draw."""
    pairs = below(draws, 100).astype(np.int8)
    return pairs // np.int8(10), pairs % np.int8(10)


def nearby(digits: Digits, step: NDArray[np.int8], up: NDArray[np.bool_]) -> Digits:
    """The numbers plus or minus `step`, the other way round where that would leave the width.

    With one digit there is not always room either way: then it wraps, which still differs.
    """
    raised, spilled = stepped(digits, step)
    lowered, sunk = stepped(digits, -step)
    return np.where(((up & ~spilled) | sunk)[:, None], raised, lowered)


def stepped(digits: Digits, step: NDArray[np.int8]) -> tuple[Digits, NDArray[np.bool_]]:
    """`step` added at the units, carried or borrowed upwards; and whether it ran out at the top."""
    moved, left = np.empty_like(digits), step
    for k in range(digits.shape[1]):
        left, moved[:, k] = np.divmod(digits[:, k] + left, np.int8(10))
    return moved, left != 0
