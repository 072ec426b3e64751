"""Packed numbers: arrays as short texts that a page can hold.

Takes  arrays.
Gives  base64 of little-endian floats, and one hexadecimal letter for each small value.
Never  loses a bit, but where half precision is asked for.
"""

from __future__ import annotations

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

_LETTERS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)


def packed_floats(values: NDArray[np.floating], kind: str = "f4") -> str:
    """Base64 of the numbers, in the kind asked for: f2, f4 or f8.

    >>> packed_floats(np.array([1.0, 2.0]))
    'AACAPwAAAEA='
    """
    return b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode("ascii")


def packed_values(values: NDArray[np.integer]) -> str:
    """One letter for each value from 0 to 15, row after row.

    >>> packed_values(np.array([[1, 2], [10, 0]]))
    '12a0'
    """
    return _LETTERS[np.ascontiguousarray(values).reshape(-1)].tobytes().decode("ascii")
