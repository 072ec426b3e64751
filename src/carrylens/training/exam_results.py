"""Exam results: what became of each part of an exam, as records that are kept.

Takes  counts of questions and failures.
Gives  `PartResult` with its exact interval.
Never  imports torch, and never asks a question.
"""

from __future__ import annotations

from typing import Any

import msgspec
from scipy.special import betaincinv

from carrylens.json_records import Count

MOST_KEPT = 50
"""How many failures of each part are kept, the first ones; all are counted."""
ALL = "all"


class PartResult(msgspec.Struct, frozen=True):
    """What became of one part: how many failed, and the first MOST_KEPT as question, right outputs and given ones.

    Files call the `label` what the first exams did: an operation.
    """

    name: str
    label: str = msgspec.field(name="operation")
    asked: Count = 0
    failed: Count = 0
    failures: list[list[str]] = msgspec.field(default_factory=list)

    def interval(self) -> tuple[float, float]:
        """The exact 95% Clopper-Pearson interval of the failure rate."""
        right = self.asked - self.failed
        low = betaincinv(self.failed, right + 1, 0.025) if self.failed else 0.0
        high = betaincinv(self.failed + 1, right, 0.975) if right else 1.0
        return float(low), float(high)

    def record(self) -> dict[str, Any]:
        """The result as plain data."""
        return {**msgspec.to_builtins(self), "interval": list(self.interval())}
