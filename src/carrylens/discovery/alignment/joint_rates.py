"""Joint rates: how often an algorithm says what interventions at its sites do, as it is kept.

Takes  rates, an alignment, what they were measured on.
Gives  `JointRates`, and `MeasuredAlignment`, which is written to `alignment.json` and read from it.
Never  imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from carrylens.alignment import Alignment
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.folders import read_checked
from carrylens.json_records import Schema

ALIGNMENT = "alignment.json"


@dataclass(frozen=True)
class JointRates:
    """What came out. `families` are those that need a site; one without any site has no hits."""

    interchange: Rate
    scrubbed: Rate
    both: Rate
    answers: Rate
    families: Mapping[str, Rate]
    outputs: Mapping[str, Rate]
    null: Rate

    @property
    def worst_family(self) -> tuple[str, Rate]:
        """The family that does worst."""
        return min(self.families.items(), key=lambda each: each[1].value)


@dataclass(frozen=True)
class MeasuredAlignment:
    """One site for each variable of an algorithm in one model, and how well it holds on held-out questions.

    `drawn` says on what: the population, seeds, and rows. `unplaced` names targets for which no site was found.
    """

    model: str
    sha256: str
    alignment: Alignment
    rates: JointRates
    unplaced: tuple[str, ...]
    drawn: Mapping[str, object]

    def to_json(self) -> bytes:
        """The bytes of `alignment.json`."""
        rates = {name: _plain(getattr(self.rates, name)) for name in _RATES}
        by = {name: {key: _plain(each) for key, each in getattr(self.rates, name).items()} for name in _TABLES}
        sites = msgspec.json.decode(self.alignment.to_json())
        record = _Record(self.model, self.sha256, sites, rates, by, list(self.unplaced), dict(self.drawn))
        return msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"

    @classmethod
    def from_json(cls, content: bytes, source: str = ALIGNMENT) -> MeasuredAlignment:
        """What `to_json` wrote; `source` is what an error calls it."""
        said = _SCHEMA.decode(content, source)
        with _SCHEMA.refusing(source):
            rates = [Rate(*said.rates[name]) for name in _RATES]
            tables = [{key: Rate(*each) for key, each in said.by[name].items()} for name in _TABLES]
        aligned = Alignment.from_json(msgspec.json.encode(said.alignment), source)
        found = JointRates(rates[0], rates[1], rates[2], rates[3], tables[0], tables[1], rates[4])
        return cls(said.model, said.sha256, aligned, found, tuple(said.unplaced), said.drawn)


def read_alignment(path: Path) -> MeasuredAlignment:
    """The alignment in a file."""
    return MeasuredAlignment.from_json(read_checked(path, "Align the model first.")[0], str(path))


_RATES, _TABLES = ("interchange", "scrubbed", "both", "answers", "null"), ("families", "outputs")


class _Record(msgspec.Struct, frozen=True):
    model: str
    sha256: str
    alignment: dict[str, Any]
    rates: dict[str, tuple[int, int]]
    by: dict[str, dict[str, tuple[int, int]]]
    unplaced: list[str]
    drawn: dict[str, Any]

    def __post_init__(self) -> None:
        if not {*_RATES} <= self.rates.keys() or not {*_TABLES} <= self.by.keys():
            raise CarryLensError("rates of it are missing")


_SCHEMA = Schema(_Record, "alignment that was measured", "Align the model again.")


def _plain(rate: Rate) -> tuple[int, int]:
    return rate.hits, rate.n
