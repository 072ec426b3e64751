"""Exam record: `test.json`, how often a model was wrong, as it is kept beside the model.

Takes  results, or the bytes of a file.
Gives  the record, whether it meets the bar, and from a file plain data that was checked.
Never  believes a figure that does not follow from the counts beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from carrylens.arithmetic.every_question import EVERY
from carrylens.errors import CarryLensError
from carrylens.json_records import Count, Schema, Share, to_plain
from carrylens.training.exam_results import PartResult

TEST = "test.json"
EXHAUSTIVE = "exhaustive.json"
"""The record of a test on every question there is, beside that of the populations."""
BAR_PER_MILLION = 10
BAR_POPULATIONS = ("natural", "enriched")


class ExamPartRecord(Struct, frozen=True):
    """What became of one part, with the exact interval of its failure rate."""

    name: str
    operation: str
    asked: Count
    failed: Count
    failures: list[tuple[str, str, str]]
    interval: tuple[Share, Share]

    def __post_init__(self) -> None:
        if not len(self.failures) <= self.failed <= self.asked:
            raise CarryLensError(
                f"{len(self.failures)} of {self.failed} failures in {self.asked} questions are impossible"
            )
        exact = self.result().interval()
        if not all(math.isclose(*ends, rel_tol=1e-6, abs_tol=1e-12) for ends in zip(exact, self.interval, strict=True)):
            raise CarryLensError(f"the interval of {self.failed} in {self.asked} is {list(exact)}")

    @classmethod
    def of(cls, result: PartResult) -> ExamPartRecord:
        """The record of a result."""
        failures = [(question, right, given) for question, right, given in result.failures]
        return cls(result.name, result.label, result.asked, result.failed, failures, result.interval())

    def result(self) -> PartResult:
        """The result that it states."""
        return PartResult(self.name, self.operation, self.asked, self.failed)


class ExamRecord(Struct, frozen=True, kw_only=True):
    """The whole of `test.json`."""

    model: str
    sha256: str
    seed: Count
    meets_bar: bool | None
    most_failures_kept: Count | UnsetType = UNSET
    parts: list[ExamPartRecord]

    def __post_init__(self) -> None:
        if meets_bar([part.result() for part in self.parts]) is not self.meets_bar:
            raise CarryLensError(f"meets_bar is {self.meets_bar}, which does not follow from the counts")


_SCHEMA = Schema(ExamRecord, "saved test", "Test the model again with --save.")


def read_test(content: bytes, source: str) -> dict[str, Any]:
    """What the file says, as plain data."""
    plain: dict[str, Any] = to_plain(_SCHEMA.decode(content, source))
    return plain


def meets_bar(results: Sequence[PartResult]) -> bool | None:
    """Fewer than 10 failures per million, natural and enriched, for each operation.

    With fewer than a million asked of either, None, unless the exact interval lies all below the bar or all above. On
    every question there is, no failure meets it, whatever the population; some tell of the natural one alone.
    """
    if every := [result for result in results if result.name == EVERY]:
        if any(result.failed * 1_000_000 >= BAR_PER_MILLION * result.asked for result in every):
            return False
        return True if not any(result.failed for result in every) else None
    verdicts = [_meets_bar(result) for result in results if result.name in BAR_POPULATIONS]
    if False in verdicts:
        return False
    return None if None in verdicts or not verdicts else True


def _meets_bar(result: PartResult) -> bool | None:
    if result.asked >= 1_000_000:
        return result.failed * 1_000_000 < BAR_PER_MILLION * result.asked
    low, high = (end * 1_000_000 for end in result.interval())
    return True if high < BAR_PER_MILLION else False if low > BAR_PER_MILLION else None
