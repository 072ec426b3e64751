"""Worked record: `worked.json`, questions followed through a model, as they are kept.

Takes  the bytes of a file.
Gives  what it says, as plain data that was checked.
Never  imports torch: pages are made without a model.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from carrylens.evidence.rates import Rate
from carrylens.json_records import Schema, Share, to_plain

WORKED = "worked.json"


class WorkedToken(Struct):
    """What the model put out at a place, and how sure it was of it."""

    place: str
    token: str
    p: Share


class WorkedInterchange(Struct):
    """What became of one output when the nodes of a role took a variable from another question."""

    variable: str
    value: str
    nodes: str
    place: str
    source: str
    source_value: str
    token: str
    expected: str
    given: str
    agrees: bool
    hit: Rate
    null: Rate


class WorkedQuestionRecord(Struct):
    """One question: as it is asked, as it was given, what was answered, what is right."""

    question: str
    given: str
    answer: str
    right: str
    tokens: list[WorkedToken]
    swaps: list[WorkedInterchange]


class WorkedRecord(Struct):
    """The whole of `worked.json`; `sha256` is that of the weights."""

    model: str
    sha256: str | None
    questions: list[WorkedQuestionRecord]


_SCHEMA = Schema(WorkedRecord, "record of worked questions", "Explain the model again.")


def read_worked(content: bytes, source: str) -> dict[str, Any]:
    """What the file says, as plain data."""
    plain: dict[str, Any] = to_plain(_SCHEMA.decode(content, source))
    return plain
