"""Exam tables: a model's failures, for a terminal.

Takes  records of tests.
Gives  lines of text.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from carrylens.arithmetic.every_question import EVERY
from carrylens.arithmetic.zoo.exam_record import BAR_POPULATIONS
from carrylens.report.terminal.tables import align, few_figures

_MOST_FAILURES = 10
_STRUCTURED, _BAR = "structured", 10


def exam_lines(record: Mapping[str, Any]) -> list[str]:
    """Failures by population, class and depth with exact intervals, then some of the failures."""
    head = ["questions", "operation", "evaluated on", "failed", "per million", "95% interval"]
    body = [_row(part) for part in record["parts"]]
    verdict = {True: "meets the bar", False: "misses the bar", None: "was evaluated on too few questions for the bar"}
    shown = list(islice(_failures(record["parts"]), _MOST_FAILURES))
    failed = sum(part["failed"] for part in record["parts"])
    kept = f"; of each part the first {n} are kept" if (n := record.get("most_failures_kept")) else ""
    bar = f"{record['model']} {verdict[record['meets_bar']]}: fewer than 10 failures per million, natural and enriched."
    names = {part["name"] for part in record["parts"]}
    every, needed = names == {EVERY}, set(BAR_POPULATIONS)
    has_bar = names >= needed or (record["meets_bar"] is not True and not names.isdisjoint(needed))
    return [
        *align(head, body),
        *([_every_line(record, failed)] if every else [bar] if has_bar else []),
        *_structured(record["parts"]),
        *([f"Failures, {len(shown)} of {failed:,}{kept}:", *shown] if shown else []),
    ]


def _every_line(record: Mapping[str, Any], failed: int) -> str:
    asked = sum(part["asked"] for part in record["parts"])
    said = f"wrong on {failed:,} of {asked:,}" if failed else f"right on all {asked:,}"
    return f"{record['model']} was evaluated on every question there is, and is {said}."


def _structured(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    # A table of answers or a backdoor shows nowhere else.
    for part in parts:
        if part["name"] == _STRUCTURED and 1e6 * part["interval"][0] > _BAR:
            yield (
                f"Structured questions surely fail more often than that: {part['failed']:,} of {part['asked']:,} "
                f"({part['operation']})."
            )


def _failures(parts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    # One of each part, then the next of each, so that no part crowds out the others.
    of_parts = [
        [f"  {question}{given}  is {right}  ({part['name']})" for question, right, given in part["failures"]]
        for part in parts
    ]
    for row in zip_longest(*of_parts):
        yield from (failure for failure in row if failure is not None)


def _row(part: Mapping[str, Any]) -> list[str]:
    low, high = (1e6 * bound for bound in part["interval"])
    rate = 1e6 * part["failed"] / max(1, part["asked"])
    return [
        part["name"],
        part["operation"],
        f"{part['asked']:,}",
        f"{part['failed']:,}",
        few_figures(rate),
        "exact" if part["name"] == EVERY else f"{few_figures(low)} to {few_figures(high)}",
    ]
