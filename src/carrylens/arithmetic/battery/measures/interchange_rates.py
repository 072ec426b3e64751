"""Interchange rates: what column pairs show when sites take the source's values, and the null source's.

Takes  a subject, column pairs, and sites.
Gives  `ColumnRates`: how often all digits above the column become the source's, how often one moves in the null.
Never  counts a pair that the model, untouched, does not answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Edit, interchange
from carrylens.nodes import Node
from carrylens.tasks.batches import joined


@dataclass(frozen=True)
class ColumnRates:
    """What one site did: `effect` and its matched `null`."""

    effect: Rate
    null: Rate

    def fact(self, experiment: str, about: Mapping[str, object], stimuli: Mapping[str, object]) -> Fact:
        """The same as a fact to keep."""
        return Fact(f"battery {experiment}", about, self.effect, self.null, stimuli)


def pool_rates(some: Sequence[ColumnRates]) -> ColumnRates:
    """Several as one, their stimuli counted together."""
    effect, null = (sum((getattr(each, side) for each in some), Rate(0, 0)) for side in ("effect", "null"))
    return ColumnRates(effect, null)


def answered_pairs(subject: Subject, pairs: ColumnPairs) -> ColumnPairs:
    """The pairs of which the model answers base, source and null source."""
    if not len(pairs):
        return pairs
    sides = (pairs.base, pairs.source, pairs.null)
    good = subject.right(joined(sides)).reshape(len(sides), -1).all(0)
    return pairs[np.asarray(good)]


def interchange_columns(subject: Subject, pairs: ColumnPairs, sites: Sequence[Collection[Node]]) -> list[ColumnRates]:
    """What each site does to the digits above the column."""
    return edit_columns(subject, pairs, [interchange(site) for site in sites])


def edit_columns(
    subject: Subject, pairs: ColumnPairs, edits: Sequence[Edit], tokens: Sequence[int] | None = None
) -> list[ColumnRates]:
    """What each edit does to the digits above the column, or to some tokens of the answer."""
    if not len(pairs):
        return [ColumnRates(Rate(0, 0), Rate(0, 0))] * len(edits)
    read = list(range(subject.token(pairs.column)) if tokens is None else tokens)
    effect = subject.engine.run(edits, pairs.base, pairs.source).tokens[..., read]
    null = subject.engine.run(edits, pairs.base, pairs.null)
    hit = (effect == pairs.expected[:, read]).all(-1)
    moved = np.asarray(null.changed[..., read].any(-1))
    return [ColumnRates(hit_rate(one), hit_rate(other)) for one, other in zip(hit, moved, strict=True)]
