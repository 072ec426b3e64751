"""Verdict record: what was judged about a model, for the top of its page.

Takes  what a file of claims says, as plain data.
Gives  hypothesis, verdict, counts of claims, every rate that the file states, and how the rivals fare.
Never  says a word that the file does not say, or needs a part that a file of another version may not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_VERDICTS = ("verdict", "skeleton")  # files of the first version call it the second
_RATE = {"hits", "n"}


def verdict_record(claims: Mapping[str, Any]) -> dict[str, Any] | None:
    """The verdict as plain data; none where nothing was judged.

    >>> verdict_record({"hypothesis": "add", "skeleton": "present", "required": {"supported": 2, "refuted": 0}})
    {'hypothesis': 'add', 'verdict': 'present', 'required': [['supported', 2]], 'rates': [], 'rivals': []}
    """
    said = _said(claims)
    if said is None:
        return None
    return {
        "hypothesis": str(claims.get("hypothesis", "")),
        "verdict": said,
        "required": [[name, count] for name, count in _counts(claims.get("required")) if count],
        "rates": [[name, rate["hits"], rate["n"]] for name, rate in _rates(claims)],
        "rivals": [[str(rival.get("hypothesis", "")), _said(rival)] for rival in _records(claims.get("rivals"))],
    }


def _said(record: Mapping[str, Any]) -> str | None:
    found = next((record[name] for name in _VERDICTS if name in record), None)
    return _said(found) if isinstance(found, Mapping) else None if found is None else str(found)


def _counts(given: Any) -> Iterator[tuple[str, int]]:
    for name, count in given.items() if isinstance(given, Mapping) else ():
        if isinstance(count, int):
            yield str(name), count


def _records(given: Any) -> Iterator[Mapping[str, Any]]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, Mapping):
            yield each


def _rates(given: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    # Rates of the whole model: those of single claims, nodes and rivals stand in lists.
    for name, value in given.items():
        title = f"{above} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from [(title, value)] if value.keys() >= _RATE else _rates(value, title)
