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
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

BATTERY = "battery.json"
_COUNTS = (("effect", "hits"), ("effect", "n"), ("null", "hits"), ("null", "n"))

PlainRecord = Mapping[str, Any]


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
    n: int
    about: dict[str, FactColumn]
    counts: tuple[FactColumn, FactColumn, FactColumn, FactColumn]
    stimuli: dict[str, Any]

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


def battery_bytes(about: PlainRecord, outcomes: Sequence[Outcome]) -> bytes:
    """The file: what the outcomes are of, then one line for each."""
    records = (outcome.record() for outcome in outcomes)
    lines = b",\n".join(_tight({**record, "facts": list(_blocks(record["facts"]))}) for record in records)
    return b'{"about":' + _tight(dict(about)) + b',\n"outcomes":[\n' + lines + b"\n]}\n"


def battery_record(text: str | bytes) -> dict[str, Any]:
    """What the file says: `about`, and `outcomes` as `Outcome.record` gives them."""
    given = msgspec.json.decode(text)
    outcomes = [{**each, "facts": list(_facts(each["facts"]))} for each in given["outcomes"]]
    return {"about": dict(given["about"]), "outcomes": outcomes}


def _blocks(facts: Sequence[PlainRecord]) -> Iterator[FactBlock]:
    for _, some in groupby(facts, key=lambda fact: _tight([fact["kind"], list(fact["about"]), fact["stimuli"]])):
        yield FactBlock.holding(list(some))


def _facts(blocks: Sequence[PlainRecord]) -> Iterator[PlainRecord]:
    for block in blocks:
        if "counts" in block:
            yield from msgspec.convert(block, FactBlock).facts()
        else:  # a fact written out in full
            yield block


def _tight(value: Any) -> bytes:
    return msgspec.json.encode(value)
