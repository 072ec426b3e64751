"""Tensor bytes: where each tensor stands in the bytes of a file of weights, in the safetensors format.

Takes  the bytes of a file.
Gives  each tensor's type, shape and bytes, which are not copied.
Never  imports torch. The format's own library is not used to read: where memory runs short it ends the process.

1. The first eight bytes say how long the header is, a JSON object; the bytes of all tensors follow it.
2. The header says of each tensor its type, its shape, and where its bytes begin and end.
3. These parts lie one after the other, and fill the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from msgspec import Struct

from carrylens.errors import CarryLensError, quote
from carrylens.json_records import Count, Schema

_TYPES = {
    "BOOL": ("bool", 1),
    "U8": ("uint8", 1),
    "I8": ("int8", 1),
    "I16": ("int16", 2),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "I32": ("int32", 4),
    "F32": ("float32", 4),
    "I64": ("int64", 8),
    "F64": ("float64", 8),
}
"""What the header calls a type, what PyTorch and NumPy call it, and how many bytes a number has."""
_NOTES = "__metadata__"
_LENGTH = 8
_ADVICE = "Restore it, or save it again."


@dataclass(frozen=True)
class TensorBytes:
    """One tensor: its type as PyTorch and NumPy call it, its shape, and its bytes, row by row."""

    dtype: str
    shape: tuple[int, ...]
    values: memoryview


class _Place(Struct, frozen=True):
    dtype: str
    shape: tuple[Count, ...]
    data_offsets: tuple[Count, Count]


_HEADER = Schema(dict[str, Any], "header of weights", _ADVICE)
_PLACES = Schema(dict[str, _Place], "header of weights", _ADVICE)


def tensors_in(content: bytes, source: str) -> dict[str, TensorBytes]:
    """Every tensor in the bytes of a file, in the order of their bytes; an error calls the file `source`."""
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    if not _LENGTH < start <= len(content):
        raise CarryLensError(f"{source} holds no weights (it is cut off). {_ADVICE}")
    header = _HEADER.decode(content[_LENGTH:start], source)
    header.pop(_NOTES, None)
    places = _PLACES.convert(header, source)
    found, end, data = dict[str, TensorBytes](), 0, memoryview(content)[start:]
    for name, place in sorted(places.items(), key=lambda each: each[1].data_offsets):
        if place.dtype not in _TYPES:
            raise CarryLensError(f"{source} has {quote(name)} of the type {quote(place.dtype)}. {_ADVICE}")
        dtype, size = _TYPES[place.dtype]
        first, last = place.data_offsets
        if first != end or last - first != size * prod(place.shape):
            raise CarryLensError(f"{source} has {quote(name)} in {last - first} bytes that do not fit it. {_ADVICE}")
        found[name], end = TensorBytes(dtype, place.shape, data[first:last]), last
    if end != len(data):
        raise CarryLensError(f"{source} has {len(data)} bytes of weights, and names {end}. {_ADVICE}")
    return found
