"""Accuracy: a model's failures by population, class and depth, as rows of a page.

Takes  a saved test.
Gives  tables of rows, each with its exact interval and where to draw it on a scale of powers of ten.
Never  leaves a class out: the weakest is what people look for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log10
from typing import Any

from carrylens.report.terminal.tables import few_figures

_TITLES = {"add": "Addition", "sub": "Subtraction"}
_CLASSES = {
    "S0": "no carry",
    "S1": "a carry that stops at once",
    "S2": "a carry through 1 column that sums to 9",
    "S3": "a carry through 2 columns that sum to 9",
    "S4": "a carry through 3 columns that sum to 9",
    "S5": "a carry through 4 or more columns that sum to 9",
    "M0": "no borrow",
    "M1": "a borrow that stops at once",
    "M2": "a borrow through 1 column of equal digits",
    "M3": "a borrow through 2 columns of equal digits",
    "M4": "a borrow through 3 or more columns of equal digits",
    "N1": "negative; the sign is decided at once",
    "N2": "negative; the sign is decided past 1 column of equal digits",
    "N3": "negative; the sign is decided past 2 columns of equal digits",
    "N4": "negative; the sign is decided past 3 or more columns of equal digits",
}
_POPULATIONS = {
    "natural": "operands drawn at random",
    "paper": "drawn as the paper draws them",
    "enriched": "rich in long carries and borrows",
    "structured": "all structures below in equal parts",
    "few digits": "two or three different digits in all",
    "repeated digits": "each operand one digit again and again, or its top columns",
    "alike operands": "equal, different in one column, or by 1 to 9",
    "powers of ten": "a power of ten, or that and 1 more or less",
    "runs of 9 and 0": "stretches of nines and of zeros",
}
_WHOLE = ("natural", "paper", "enriched", "structured")
_LEAST, _MOST = -1.0, 6.0  # powers of ten, in failures per million


@dataclass(frozen=True)
class AccuracyRow:
    """One kind of question: `left` and `right` are where its interval begins and ends, in percent of the scale."""

    name: str
    what: str
    asked: int
    failed: int
    rate: str
    low: str
    high: str
    left: float
    right: float
    failures: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class AccuracyTable:
    """The rows of one operation."""

    title: str
    rows: tuple[AccuracyRow, ...]

    @property
    def first(self) -> tuple[AccuracyRow, ...]:
        """Whole populations, and every kind of question with a failure."""
        return tuple(row for row in self.rows if row.failed or row.name in _WHOLE) or self.rows

    @property
    def others(self) -> tuple[AccuracyRow, ...]:
        """Kinds of question without a failure."""
        return tuple(row for row in self.rows if row not in self.first)


def accuracy_tables(test: Mapping[str, Any] | None) -> list[AccuracyTable]:
    """A table for each operation that was tested; none without a test."""
    if test is None:
        return []
    operations = dict.fromkeys(part["operation"] for part in test["parts"])
    return [
        AccuracyTable(
            _TITLES.get(operation, operation) or "Questions",
            tuple(_row(part) for part in test["parts"] if part["operation"] == operation),
        )
        for operation in operations
    ]


def scale_marks() -> list[tuple[float, str]]:
    """Where the scale has its marks, in percent, and what they say.

    >>> [text for _, text in scale_marks()]
    ['1', '100', '10,000']
    """
    return [(_percent(10.0**power), f"{10**power:,}") for power in (0, 2, 4)]


def _row(part: Mapping[str, Any]) -> AccuracyRow:
    low, high = (1e6 * bound for bound in part["interval"])
    return AccuracyRow(
        name=part["name"],
        what=_meaning(part["name"]),
        asked=part["asked"],
        failed=part["failed"],
        rate=few_figures(1e6 * part["failed"] / max(1, part["asked"])),
        low=few_figures(low),
        high=few_figures(high),
        left=_percent(low),
        right=_percent(high),
        failures=tuple((question, right, given) for question, right, given in part["failures"][:5]),
    )


def _meaning(name: str) -> str:
    if name.startswith("class "):
        return _CLASSES.get(name.removeprefix("class "), "")
    return _POPULATIONS.get(name, "")


def _percent(per_million: float) -> float:
    if per_million <= 10**_LEAST:
        return 0.0
    return 100 * (min(log10(per_million), _MOST) - _LEAST) / (_MOST - _LEAST)
