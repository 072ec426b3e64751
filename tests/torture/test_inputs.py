"""Malformed inputs: a result or one clear line, no traceback, no hang. `make torture` tries a hundred thousand."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from carrylens.errors import CarryLensError
from torture.inputs import READERS, Reader, feed


@pytest.mark.parametrize("name", READERS)
def test_malformed_inputs_are_read_or_refused_with_one_line(name: str) -> None:
    tally = feed(READERS[name], 60)
    assert tally.wrong == []
    assert tally.tried >= 50


@pytest.mark.parametrize("name", READERS)
def test_what_is_damaged_is_valid_at_first(name: str) -> None:
    reader = READERS[name]
    reader.read(reader.given(reader.valid[0]))


DEEP = (b'{"signature": ' + b"[" * 100_000, b'{"groups": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")


@pytest.mark.parametrize("content", DEEP)
@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if not reader.texts])
def test_what_lies_too_deep_is_refused_with_one_line(name: str, content: bytes) -> None:
    with suppress(CarryLensError):  # a record that counts as none
        READERS[name].read(content)


def test_a_reader_takes_no_time_of_those_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def clock() -> float:
        nonlocal looked
        looked += 1
        return looked

    monkeypatch.setattr(time, "monotonic", clock)
    tally = feed(Reader(str, [b"a"]), 100_000, until=100)
    assert tally.wrong == []
    assert 20 < tally.tried < 100
    assert looked < 1000, "nothing more is drawn"


def test_a_traceback_would_be_seen() -> None:
    def broken(text: str) -> object:
        return {"a": 1}[text]

    assert feed(Reader(broken, [b"a"]), 30).wrong
