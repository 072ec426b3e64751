"""Packed numbers: arrays as short texts that a page can hold.

Takes  arrays.
Gives  base64 of little-endian floats, one hexadecimal letter for each small value, a checksum of a whole text.
Never  loses a bit, but where half precision is asked for.
"""

from __future__ import annotations

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

_PRIME = 0x01000193  # odd, so that no power of it loses a bit
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


def checksum(text: str) -> int:
    """A number below 2^32 that any one changed letter of an ASCII text changes; the page computes the same.

    >>> checksum("a"), checksum("ab")
    (97, 1627429141)
    """
    letters = np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(np.uint32)
    powers = np.full(len(letters), _PRIME, dtype=np.uint32)
    powers[:1] = 1
    return int((letters[::-1] * np.cumprod(powers, dtype=np.uint32)).sum(dtype=np.uint32))
