"""Draws: random numbers by index, so that the i-th question is the same whatever the batch it is drawn in.

Takes  a key (any small non-negative integers) and a range of indices.
Gives  a fixed number of 32-bit draws for each index, from NumPy's counter-based Philox generator.
Never  keeps a state: what index i gets depends on the key and on i alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError

Draws = NDArray[np.uint32]

_PER_BLOCK = 8  # one step of Philox's counter gives four 64-bit numbers


def draw(key: Sequence[int], start: int, count: int, width: int) -> Draws:
    """`width` draws for each index from `start` on, axes [index, draw].

    >>> bool((draw([7], 5, 1, 3) == draw([7], 0, 10, 3)[5]).all())
    True
    """
    check_range(key, start, count)
    blocks = -(-width // _PER_BLOCK)
    generator = np.random.Philox(key=np.random.SeedSequence(list(key)).generate_state(2, np.uint64))
    generator.advance(start * blocks)
    raw = generator.random_raw(count * blocks * _PER_BLOCK // 2)
    return raw.astype("<u8", copy=False).view("<u4").reshape(count, blocks * _PER_BLOCK)[:, :width]


def check_range(key: Sequence[int], start: int, count: int) -> None:
    """Raise a clear error unless there are such questions to draw."""
    if start < 0 or count < 0 or min(key) < 0:
        raise CarryLensError(
            f"{count} questions from {start} on with seed {key[0]} cannot be drawn. "
            "Write a start, a count and a seed of 0 or more."
        )


def below(draws: Draws, bound: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """A whole number from 0 to `bound` - 1 from each draw, even to within bound / 2**32."""
    return (draws.astype(np.uint64) * np.asarray(bound, dtype=np.uint64) >> np.uint64(32)).astype(np.int64)


def chance(draws: Draws, share: float) -> NDArray[np.bool_]:
    """True for a `share` of the draws."""
    return draws < share * 2.0**32
