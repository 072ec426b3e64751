"""Malformed inputs: a result or one clear line, no traceback, no hang. `make torture` tries a hundred thousand."""

from __future__ import annotations

import pytest

from torture.inputs import READERS, Reader, feed


@pytest.mark.parametrize("name", READERS)
def test_malformed_inputs_are_read_or_refused_with_one_line(name: str) -> None:
    tally = feed(READERS[name], 60)
    assert tally.wrong == []
    assert tally.tried >= 50


def test_a_traceback_would_be_seen() -> None:
    def broken(text: str) -> object:
        return {"a": 1}[text]

    assert feed(Reader(broken, [b"a"]), 30).wrong
