"""Outcomes: what an experiment says, as records that are kept.

Takes  what an experiment measured.
Gives  `Card` (what is asked, and what would refute it) and `Outcome` (what came of it); JSON in and out.
Never  imports torch: a saved outcome is judged, drawn and printed without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from carrylens.claims.verdicts import Verdict
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate


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


class Kind(Enum):
    """What a series shows: the effect, its matched null, or what a rival account predicts."""

    EFFECT = "effect"
    NULL = "null"
    RIVAL = "rival"


@dataclass(frozen=True)
class Series:
    """Points with their 95% intervals; all five sequences are of one length."""

    label: str
    kind: Kind
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if len({len(self.x), len(self.y), len(self.low), len(self.high)}) != 1:
            raise CarryLensError(f"Series {self.label!r} has parts of different lengths. Give one of each per point.")

    @classmethod
    def of_rates(cls, label: str, kind: Kind, x: Sequence[float], rates: Sequence[Rate]) -> Series:
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
    """What came of one experiment. `settings` says how many stimuli were used and how they were drawn."""

    card: Card
    settings: Mapping[str, Any]
    verdict: Verdict
    says: str
    facts: tuple[Fact, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    figure: Figure | None = None
    headers: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    beside_paper: tuple[BesidePaper, ...] = field(default=())

    def record(self) -> dict[str, Any]:
        """The outcome as plain data."""
        return _plain(asdict(self))

    def to_json(self) -> str:
        """The outcome as JSON."""
        return json.dumps(self.record())

    @classmethod
    def from_record(cls, given: Mapping[str, Any]) -> Outcome:
        """The outcome that `record` gave."""
        try:
            return cls(
                card=Card(**{**given["card"], "method": tuple(given["card"]["method"])}),
                settings=given["settings"],
                verdict=Verdict(given["verdict"]),
                says=given["says"],
                facts=tuple(Fact.from_json(json.dumps(fact)) for fact in given["facts"]),
                estimates=tuple(Estimate(**each) for each in given["estimates"]),
                figure=None if given["figure"] is None else _figure(given["figure"]),
                headers=tuple(given["headers"]),
                rows=tuple(map(tuple, given["rows"])),
                beside_paper=tuple(BesidePaper(**each) for each in given["beside_paper"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CarryLensError(f"This is no outcome ({error}). Run the battery again.") from error

    @classmethod
    def from_json(cls, text: str | bytes) -> Outcome:
        """The outcome that `to_json` wrote."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise CarryLensError(f"This is no outcome ({error}). Run the battery again.") from error
        return cls.from_record(given)


def _figure(given: Mapping[str, Any]) -> Figure:
    series = tuple(
        Series(each["label"], Kind(each["kind"]), *(tuple(each[name]) for name in ("x", "y", "low", "high")))
        for each in given["series"]
    )
    return Figure(given["x_label"], given["y_label"], series, tuple(given["names"]), given["scale"])


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value
