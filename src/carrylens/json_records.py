"""JSON records: the one way in which text becomes a record, and a record text.

Takes  the bytes of a file and its `Schema`; or a record.
Gives  the record, or one clear line that says where in which file what is wrong and what to do; the text of a record.
Never  lets a damaged file through, or out as another error; never imports torch.

1. Text becomes plain data: strict JSON, no deeper than DEEPEST, whole numbers within 64 bits.
2. Plain data becomes the wanted type, a msgspec struct or a dataclass. What its own checks refuse is refused here.
3. A `TextValue`, such as a node, stands in files as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import msgspec

from carrylens.errors import CarryLensError, quote
from carrylens.text_values import TextValue

DEEPEST = 40
"""How many lists and objects may lie within each other."""
_BOUND = 1 << 63
_NESTED = (dict, list)
_LONGEST_SAID = 400

Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
"""A number of things: up to where a float, too, tells one from the next."""
PositiveCount = Annotated[int, msgspec.Meta(ge=1, le=1 << 53)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]

_Record = TypeVar("_Record")


@dataclass(frozen=True)
class Schema(Generic[_Record]):
    """What a sort of file holds: the type of its record, what people call it, and what to do about a damaged one.

    Keys that the type does not have are refused, unless `others` are allowed: someone else's files may say more.

    >>> counts = Schema(list[int], "list of counts", "Recount.")
    >>> counts.decode("[1, 2]", "n.json")
    [1, 2]
    >>> counts.decode('[1, "2"]', "n.json")
    Traceback (most recent call last):
    carrylens.errors.CarryLensError: n.json is not a valid list of counts: expected `int`, got `str` at [1]. Recount.
    """

    kind: type[_Record]
    what: str
    advice: str
    others: bool = False

    def decode(self, content: bytes | str, source: str) -> _Record:
        """The record that the text holds; an error calls it `source`."""
        with self.refusing(source):
            given = msgspec.json.decode(content)
            _check_bounds(given)
            return self._converted(given)

    def decode_lines(self, content: bytes | str, source: str) -> list[_Record]:
        """The record that each line holds."""
        text = content.encode() if isinstance(content, str) else content
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        return [self.decode(line, f"Line {at} of {source}") for at, line in enumerate(lines, 1)]

    def convert(self, given: Any, source: str) -> _Record:
        """The record that plain data states."""
        with self.refusing(source):
            return self._converted(given)

    def _converted(self, given: Any) -> _Record:
        record = msgspec.convert(given, self.kind, dec_hook=_parsed)
        if type(given) in _NESTED and not self.others and (way := _unknown_key(given, _builtins(record))):
            raise CarryLensError(f"no such key is known - at `${''.join(reversed(way))}`")
        return record

    @contextmanager
    def refusing(self, source: str) -> Iterator[None]:
        """What is found wrong within becomes the one line about `source`."""
        try:
            yield
        except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as error:
            raise CarryLensError(f"{source} is not a valid {self.what}: {_reason(error)}. {self.advice}") from error


def to_plain(record: Any) -> Any:
    """A record as plain data: what comes back from its text."""
    return json.loads(to_text(record))


def to_text(record: Any, indent: int | None = None, *, sort_keys: bool = False) -> str:
    """A record as JSON, without a line's end.

    >>> to_text({"of": (1, 0.5)})
    '{"of": [1, 0.5]}'
    """
    text = json.dumps(_builtins(record), sort_keys=sort_keys)
    return text if indent is None else msgspec.json.format(text, indent=indent)


def _builtins(record: Any) -> Any:
    return msgspec.to_builtins(record, enc_hook=_printed)


def _parsed(kind: type[Any], given: Any) -> Any:
    if kind is object:
        return given
    if not issubclass(kind, TextValue) or not isinstance(given, str):
        raise CarryLensError(f"expected text, got {quote(repr(given))}")
    return kind.parse(given)


def _printed(value: Any) -> Any:
    if isinstance(value, TextValue):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} is no record")


def _check_bounds(given: Any) -> None:
    # Level by level, so that no depth is too deep for the check itself.
    level: list[Any] = [[given]]
    for _ in range(DEEPEST):
        parts = [part for each in level for part in (each.values() if type(each) is dict else each)]
        for part in parts:
            if type(part) is int and not -_BOUND <= part < _BOUND:
                raise CarryLensError(f"{quote(str(part))} is too large for a whole number")
        level = [part for part in parts if type(part) in _NESTED]
    if level:
        raise CarryLensError(f"it holds lists and objects more than {DEEPEST} deep")


def _unknown_key(given: Any, read: Any) -> list[str]:
    # The way to a key that was given and is not among what was read, last part first; nothing if there is none.
    if type(given) is dict:
        for name, value in given.items():
            if name not in read:
                return [f".{name}"]
            if type(value) in _NESTED and (way := _unknown_key(value, read[name])):
                return [*way, f".{name}"]
    else:
        for at, (value, known) in enumerate(zip(given, read, strict=True)):
            if type(value) in _NESTED and (way := _unknown_key(value, known)):
                return [*way, f"[{at}]"]
    return []


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "its lists and objects lie too deep"
    said, _, path = str(error).partition(" - at `$")
    said, path = " ".join(said.split()).rstrip("."), " ".join(path.rstrip("`").lstrip(".").split())
    if said == "Input data was truncated":
        return "the JSON ends too early"
    if said.startswith(("Expected", "Object")):  # msgspec's own words
        said = said[0].lower() + said[1:]
    said, path = (text if len(text) <= _LONGEST_SAID else text[:_LONGEST_SAID] + "…" for text in (said, path))
    return f"{said} at {path}" if path else said
