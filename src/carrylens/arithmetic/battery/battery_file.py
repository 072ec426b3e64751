"""Battery file: `battery.json`, its thousands of facts in columns, so that it is small enough to come with a model.

Takes  outcomes, or the text of a file.
Gives  the bytes of the file, and from them the plain records again.
Never  loses anything: what comes back is what was given, in the same order.

1. Facts of one sort that follow each other (same kind, same names in `about`, same stimuli) become one block.
2. A block has a column for each thing a fact says; a column of one value is that value, one of few is a list of them
   and where each stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.json_records import Schema

BATTERY = "battery.json"
_COUNTS = (("effect", "hits"), ("effect", "n"), ("null", "hits"), ("null", "n"))

PlainRecord = Mapping[str, Any]


FactCount = Annotated[int, Meta(ge=1, le=10_000_000)]
"""How many facts a block holds: a number that memory can hold, whatever a file says."""


class FactColumn(Struct, omit_defaults=True, frozen=True):
    """One thing that several facts say: the same of all, few different ones and which is whose, or one of each."""

    all: Any = UNSET
    of: list[Any] | UnsetType = UNSET
    at: list[int] | UnsetType = UNSET
    each: list[Any] | UnsetType = UNSET

    @classmethod
    def holding(cls, values: Sequence[Any]) -> FactColumn:
        """The shortest column of these values."""
        texts = [msgspec.json.encode(value) for value in values]
        different = list(dict.fromkeys(texts))
        if len(different) == 1:
            return cls(all=values[0])
        if 2 * len(different) < len(texts) and any(isinstance(value, str | list) for value in values):
            places = {text: at for at, text in enumerate(different)}
            first = [values[texts.index(text)] for text in different]
            return cls(of=first, at=[places[text] for text in texts])
        return cls(each=list(values))

    def check_fits(self, n: int) -> None:
        """Raise an error unless it says one value for each of `n` facts."""
        of, at, each = ([] if isinstance(part, UnsetType) else part for part in (self.of, self.at, self.each))
        forms = (self.all is not UNSET, bool(of) and len(at) == n, bool(each) and len(each) == n)
        if sum(forms) != 1 or bool(of) != bool(at) or any(not 0 <= place < len(of) for place in at):
            raise CarryLensError(f"a column does not have one value for each of {n} facts")

    def values(self, n: int) -> list[Any]:
        """The value of each of `n` facts."""
        if not isinstance(self.each, UnsetType):
            return self.each
        if isinstance(self.of, UnsetType) or isinstance(self.at, UnsetType):
            return [self.all] * n
        return [self.of[at] for at in self.at]


class FactBlock(Struct, frozen=True):
    """Facts of one sort that follow each other."""

    kind: str
    n: FactCount
    about: dict[str, FactColumn]
    counts: tuple[FactColumn, FactColumn, FactColumn, FactColumn]
    stimuli: dict[str, Any]

    def __post_init__(self) -> None:
        for column in (*self.about.values(), *self.counts):
            column.check_fits(self.n)
        if any(type(count) is not int for column in self.counts for count in column.values(self.n)):
            raise CarryLensError("a count is not a whole number")

    @classmethod
    def holding(cls, facts: Sequence[PlainRecord]) -> FactBlock:
        """The block of facts of one sort."""
        first = facts[0]
        about = {name: FactColumn.holding([fact["about"][name] for fact in facts]) for name in first["about"]}
        one, two, three, four = (FactColumn.holding([fact[side][name] for fact in facts]) for side, name in _COUNTS)
        return cls(first["kind"], len(facts), about, (one, two, three, four), first["stimuli"])

    def facts(self) -> Iterator[dict[str, Any]]:
        """The facts again, as plain data."""
        about = {name: column.values(self.n) for name, column in self.about.items()}
        counts = zip(*(column.values(self.n) for column in self.counts), strict=True)
        for at, (hits, n, null_hits, null_n) in enumerate(counts):
            fact = Fact(
                self.kind,
                {name: values[at] for name, values in about.items()},
                Rate(hits, n),
                Rate(null_hits, null_n),
                dict(self.stimuli),
            )
            yield msgspec.to_builtins(fact)


class BatteryAbout(Struct, kw_only=True):
    """What outcomes are of: the model, the version that made them, and the hash of the weights."""

    model: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    sha256: str


class BatteryRecord(Struct):
    """The whole of `battery.json`."""

    about: BatteryAbout
    outcomes: list[dict[str, Any]]


_SCHEMA = Schema(BatteryRecord, "file of outcomes", "Run the battery with --restart.")


def battery_bytes(about: PlainRecord, outcomes: Sequence[Outcome]) -> bytes:
    """The file: what the outcomes are of, then one line for each."""
    records = (outcome.record() for outcome in outcomes)
    lines = b",\n".join(_tight({**record, "facts": list(_blocks(record["facts"]))}) for record in records)
    return b'{"about":' + _tight(dict(about)) + b',\n"outcomes":[\n' + lines + b"\n]}\n"


def battery_record(text: str | bytes, source: str = "This") -> dict[str, Any]:
    """What the file says: `about`, and `outcomes` as `Outcome.record` gives them."""
    about, outcomes = read_battery(text, source)
    return {"about": about, "outcomes": [outcome.record() for outcome in outcomes]}


def read_battery(text: str | bytes, source: str) -> tuple[dict[str, Any], list[Outcome]]:
    """What the outcomes in the file are of, and they themselves."""
    given = _SCHEMA.decode(text, source)
    with _SCHEMA.refusing(source):
        outcomes = [Outcome.from_record({**each, "facts": list(_facts(each.get("facts")))}) for each in given.outcomes]
    return msgspec.to_builtins(given.about), outcomes


def _blocks(facts: Sequence[PlainRecord]) -> Iterator[FactBlock]:
    for _, some in groupby(facts, key=lambda fact: _tight([fact["kind"], list(fact["about"]), fact["stimuli"]])):
        yield FactBlock.holding(list(some))


def _facts(blocks: Any) -> Iterator[PlainRecord]:
    for block in msgspec.convert(blocks, list[dict[str, Any]]):
        if "counts" in block:
            yield from msgspec.convert(block, FactBlock).facts()
        else:  # a fact written out in full
            yield block


def _tight(value: Any) -> bytes:
    return msgspec.json.encode(value)
