"""Records come back from their text, and a damaged text is one line that says where."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec import Struct

from carrylens.errors import CarryLensError
from carrylens.json_records import DEEPEST, Count, Schema, Share, to_plain, to_text
from carrylens.nodes import Node


class Inner(Struct, frozen=True):
    node: Node
    share: Share


@dataclass(frozen=True)
class Outer:
    name: str
    count: Count
    inner: tuple[Inner, ...] = ()

    def __post_init__(self) -> None:
        if self.name == "refused":
            raise CarryLensError("the name is refused")


SCHEMA = Schema(Outer, "record", "Write it again.")
WHOLE = Outer("a", 2, (Inner(Node(1, 0, None), 0.5),))
TEXT = '{"name": "a", "count": 2, "inner": [{"node": "P1L0MLP", "share": 0.5}]}'


def test_a_record_comes_back_from_its_text() -> None:
    assert to_text(WHOLE) == TEXT
    assert SCHEMA.decode(TEXT, "it") == WHOLE
    assert SCHEMA.convert(to_plain(WHOLE), "it") == WHOLE
    assert SCHEMA.decode(to_text(WHOLE, indent=2), "it") == WHOLE


@pytest.mark.parametrize(
    ("damaged", "where"),
    [
        ("{", "it"),
        (TEXT.replace('"a"', "3"), "name"),
        (TEXT.replace("2", "-2"), "count"),
        (TEXT.replace("0.5", "1.5"), "share"),
        (TEXT.replace("P1L0MLP", "nowhere"), "nowhere"),
        (TEXT.replace('"count": 2', f'"count": {1 << 64}'), str(1 << 64)),
        (TEXT.replace('"share": 0.5', '"share": 0.5, "other": 1'), r"inner\[0\]\.other"),
        (TEXT.replace('"a"', '"refused"'), "refused"),
        ('{"name": "a", "count": ' + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1) + "}", str(DEEPEST)),
    ],
)
def test_a_damaged_text_is_one_line_that_says_where(damaged: str, where: str) -> None:
    with pytest.raises(CarryLensError, match=where) as refusal:
        SCHEMA.decode(damaged, "it")
    assert "\n" not in str(refusal.value)
    assert str(refusal.value).startswith("it ")


def test_keys_of_others_may_be_there_where_that_is_said() -> None:
    more = TEXT.replace('"count": 2', '"count": 2, "theirs": true')
    assert Schema(Outer, "record", "Write it again.", others=True).decode(more, "it") == WHOLE


def test_the_line_of_a_damaged_record_is_named() -> None:
    assert SCHEMA.decode_lines(f"{TEXT}\n{TEXT}\n", "them") == [WHOLE, WHOLE]
    assert SCHEMA.decode_lines("", "them") == []
    with pytest.raises(CarryLensError, match="Line 2 of them"):
        SCHEMA.decode_lines(f"{TEXT}\n{{}}\n", "them")
