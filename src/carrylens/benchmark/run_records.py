"""Run records: what a benchmark says of one method on one model, as results and the leaderboard have it.

Takes  scores, verdicts, costs.
Gives  records as plain data, the labels of the model among them.
Never  computes a score.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from carrylens.benchmark.method_interface import Found
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import CircuitScore, StatedRole
from carrylens.claims.verdicts import RunVerdict


class FoundAtCost(msgspec.Struct, frozen=True):
    """What a method found, as plain data, and what that took: rows, and seconds of CPU time."""

    found: Plain
    rows: int
    seconds: float

    @property
    def has_role_scores(self) -> bool:
        """Whether it gave scores of which a threshold makes roles."""
        return bool(self.found.get("role_scores"))

    @property
    def whole(self) -> Found:
        """What it found."""
        return Found.from_plain(self.found)


class ScoreRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="part", tag="scores"):
    """How well one method did on one model; `verdicts` has what the model deserves, then what the method said."""

    model: str
    suite: str
    split: str
    circuit: str
    sha256: str
    method: str
    told: bool | None
    seed: int
    threshold: float | None
    gives: list[str]
    result: CircuitScore
    verdicts: dict[str, list[RunVerdict]]
    stated: list[StatedRole]
    rows: int
    seconds: float

    def plain(self, labels: Mapping[str, Any]) -> Plain:
        """As results have it, with the labels of the model after its hash."""
        fields = list(msgspec.to_builtins(self).items())
        after = [name for name, _ in fields].index("sha256") + 1
        return dict([*fields[:after], *labels.items(), *fields[after:]])


class StabilityRecord(msgspec.Struct, frozen=True, kw_only=True, tag_field="part", tag="stability"):
    """How much of what a method finds in one model it finds again with other questions."""

    model: str
    suite: str
    method: str
    circuit: str
    n_seeds: int
    sha256: str
    jaccard: float | None
    lowest: float | None
