"""Hostile strings: every text field of every saved file says what would be a script, an attribute or an address.

Takes  a folder with saved files, and what must still be possible with them.
Gives  the folder with every text field changed that may be any text; how many those are.

1. One field of each sort is changed at a time: fields that differ in their place in a list are of one sort.
2. What a reader refuses, because the field is a name, a hash or a choice, is taken back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

PAYLOAD = (
    "javascript:window.hacked=1//\"'><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
    '<svg onload=window.hacked=1></svg></style></title><b onmouseover="window.hacked=1" x=\'{{7*7}}'
)
Field = tuple[str, tuple[str | int, ...]]
"""A file, and the way to a field in it; the first step is the line."""


def fill(folder: Path, names: Sequence[str], works: Callable[[], object]) -> list[Field]:
    """Put the payload into every text field of these files with which `works` still works; the fields that have it."""
    filled: list[Field] = []
    for name in names:
        path = folder / name
        fields = [(name, way) for way in _ways([json.loads(line) for line in _lines(path.read_bytes())])]
        filled += _accepted(path, fields, works)
    return filled


def _accepted(path: Path, fields: list[Field], works: Callable[[], object]) -> list[Field]:
    # All at once, or else each half.
    if not fields:
        return []
    before = path.read_bytes()
    lines = [json.loads(line) for line in _lines(before)]
    for _, way in fields:
        _put(lines, way)
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    try:
        works()
        return fields
    except ValueError:
        path.write_bytes(before)
    if len(fields) == 1:
        return []
    half = len(fields) // 2
    return _accepted(path, fields[:half], works) + _accepted(path, fields[half:], works)


def _lines(content: bytes) -> list[bytes]:
    try:
        json.loads(content)
        return [content]
    except ValueError:
        return content.splitlines()


def _ways(lines: list[Any]) -> list[tuple[str | int, ...]]:
    sorts: dict[str, tuple[str | int, ...]] = {}
    for way in _texts(lines, ()):
        sorts.setdefault(re.sub(r"\d+", "#", json.dumps(way)), way)
    return list(sorts.values())


def _texts(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        yield way
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*way, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _texts(inner, (*way, at))


def _put(value: Any, way: tuple[str | int, ...]) -> None:
    *before, last = way
    for step in before:
        value = value[step]
    value[last] = PAYLOAD
