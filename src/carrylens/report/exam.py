"""Exam tables: a model's failures, for a terminal.

Takes  records of tests.
Gives  lines of text.
Never  asks a model anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrylens.report.tables import align, short

_MOST_FAILURES = 10


def exam_lines(record: Mapping[str, Any]) -> list[str]:
    """Failures by stream, class and depth with exact intervals, then some of the failures."""
    head = ["questions", "operation", "asked", "failed", "per million", "95% interval"]
    body = [_row(part) for part in record["parts"]]
    verdict = {True: "meets the bar", False: "misses the bar", None: "was not asked enough for the bar"}
    failures = [(part, failure) for part in record["parts"] for failure in part["failures"]]
    shown = [
        f"  {question}{given}  is {right}  ({part['name']})"
        for part, (question, right, given) in failures[:_MOST_FAILURES]
    ]
    return [
        *align(head, body),
        f"{record['model']} {verdict[record['meets_bar']]}: fewer than 10 failures per million, natural and enriched.",
        *(["Some failures:", *shown] if shown else []),
    ]


def _row(part: Mapping[str, Any]) -> list[str]:
    low, high = (1e6 * bound for bound in part["interval"])
    rate = 1e6 * part["failed"] / max(1, part["asked"])
    return [
        part["name"],
        part["operation"],
        f"{part['asked']:,}",
        f"{part['failed']:,}",
        short(rate),
        f"{short(low)} to {short(high)}",
    ]
