"""Outcomes: what an experiment says, as records that are kept.

Takes  what an experiment measured.
Gives  `Card` (what is asked, and what would refute it) and `Outcome` (what came of it); JSON in and out.
Never  imports torch: a saved outcome is judged, drawn and printed without a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from carrylens.claims.verdicts import Verdict
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.json_records import Schema

_FIRST_FORM = {"form": 1}  # of files that say none


@dataclass(frozen=True)
class Card:
    """What an experiment asks, how, what would refute it, and what the paper reports: the figure, and where."""

    name: str
    title: str
    question: str
    method: tuple[str, ...]
    refuted_if: str
    paper: str
    where: str


class SeriesKind(Enum):
    """What a series shows: the effect, its matched null, or what a rival hypothesis predicts."""

    EFFECT = "effect"
    NULL = "null"
    RIVAL = "rival"


@dataclass(frozen=True)
class Series:
    """Points with their 95% intervals; all five sequences are of one length."""

    label: str
    kind: SeriesKind
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if len({len(self.x), len(self.y), len(self.low), len(self.high)}) != 1:
            raise CarryLensError(f"Series {self.label!r} has parts of different lengths. Give one of each per point.")

    @classmethod
    def of_rates(cls, label: str, kind: SeriesKind, x: Sequence[float], rates: Sequence[Rate]) -> Series:
        """A series of rates with their exact intervals."""
        low, high = (tuple(rate.interval[side] for rate in rates) for side in (0, 1))
        return cls(label, kind, tuple(map(float, x)), tuple(rate.value for rate in rates), low, high)


@dataclass(frozen=True)
class Figure:
    """What one figure shows. `names` stand at x = 0, 1, ... where x is no number; `scale` is linear or log."""

    x_label: str
    y_label: str
    series: tuple[Series, ...]
    names: tuple[str, ...] = ()
    scale: str = "linear"


@dataclass(frozen=True)
class Estimate:
    """A measured number with its interval, beside that of its matched null; `n` is how many stimuli it rests on."""

    name: str
    value: float
    low: float
    high: float
    null: float
    null_low: float
    null_high: float
    n: int


@dataclass(frozen=True)
class BesidePaper:
    """The paper's figure and ours; `agrees` is None where they cannot be compared."""

    what: str
    paper: str
    ours: str
    agrees: bool | None


@dataclass(frozen=True)
class Outcome:
    """What came of one experiment. `settings` says how many stimuli were used and how they were drawn.

    `form` is that of the experiment that made it: files that say none are of the first. What people read of the card is
    always the card as it stands in the code, by its name.
    """

    card: Card
    settings: Mapping[str, Any]
    verdict: Verdict
    says: str
    facts: tuple[Fact, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    figure: Figure | None = None
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    beside_paper: tuple[BesidePaper, ...] = ()
    form: int = 1

    def record(self) -> dict[str, Any]:
        """The outcome as plain data."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain

    def to_json(self) -> str:
        """The outcome as JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_record(cls, given: Mapping[str, Any]) -> Outcome:
        """The outcome that `record` gave."""
        return _SCHEMA.convert({**_FIRST_FORM, **given}, "This")

    @classmethod
    def from_json(cls, text: str | bytes) -> Outcome:
        """The outcome that `to_json` wrote."""
        return cls.from_record(_PLAIN_SCHEMA.decode(text, "This"))


_PLAIN_SCHEMA = Schema(dict[str, Any], "outcome", "Run the battery again.")
_SCHEMA = Schema(Outcome, "outcome", "Run the battery again.")
