"""Make-carry: is each column's carry made at its own place, as soon as it can be, and with how many values?

Takes  a subject.
Gives  for every branch and column where its carry is made, whether that place tells two values or three, and how many
       of them its write holds apart.
Never  calls a carry binary because one kind of pair was never shown.

1. For each column k and each two of its values (0 and 1, 0 and U, 1 and U) draw pairs that differ in column k alone.
2. Interchange all nodes of its own place, D'k. The digits above k must become the source's; with a source of the same
   value and other digits they must stay.
3. Where they do not follow, interchange every place from D'k to `=`: is the carry made later, or only at the answer?
4. Interchange each node of D'k alone, with the same null: where one head tells 0 from 1 and surely not 0 from U,
   another 0 from U and surely not 0 from 1, and no head tells both, there are two binary values instead of one with
   three.
5. Without any interchange: does the write of D'k hold 0, U and 1 apart beyond the column's digits?
   (`written_classes.py`)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.make_carry.card import CARD
from carrylens.arithmetic.battery.make_carry.written_classes import Cut, written_cuts
from carrylens.arithmetic.battery.measures.interchange_rates import (
    ColumnRates,
    answered_pairs,
    interchange_columns,
)
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import contrast_pairs
from carrylens.arithmetic.variables import U
from carrylens.nodes import Node

CONTRASTS = {"0-1": (0, 1), "0-U": (0, U), "1-U": (1, U)}


@dataclass(frozen=True)
class CarryColumn:
    """What was measured about one column: by contrast the own place, all up to `=`, and each node alone."""

    branch: Branch
    column: int
    own: Mapping[str, ColumnRates]
    tail: Mapping[str, ColumnRates]
    alone: Mapping[str, Mapping[Node, ColumnRates]]


@dataclass(frozen=True)
class CarryMeasurements:
    """Every column, and what the write of its place holds apart."""

    columns: tuple[CarryColumn, ...]
    cuts: tuple[Cut, ...]


def measure(context: ExperimentContext) -> CarryMeasurements:
    """The interchanges at every column, and the cuts of what its place writes."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    wanted = [(b, k) for b in branches for k in range(b.top(subject.digits))]
    found = []
    for at, (branch, k) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        found.append(_measure_column(context, branch, k))
    return CarryMeasurements(tuple(found), tuple(cut for b in branches for cut in written_cuts(context, b)))


def _measure_column(context: ExperimentContext, branch: Branch, k: int) -> CarryColumn:
    subject, settings = context.subject, context.settings
    place, end = subject.position(f"D'{k}"), subject.position("=")
    own, tail = subject.nodes_at(place), subject.nodes_at(*range(place, end + 1))
    single = [node for node in own if node.layer < subject.last_layer] or list(own)
    results: dict[str, list[ColumnRates]] = {}
    for name, values in CONTRASTS.items():
        if k == 0 and U in values:
            continue
        drawn = contrast_pairs(
            branch,
            subject.digits,
            k,
            values,
            settings.n_pairs,
            settings.seed_of(CARD.name, name, branch, k),
        )
        pairs = answered_pairs(subject, drawn)
        results[name] = interchange_columns(subject, pairs, [own, tail, *((node,) for node in single)])
    alone = {name: dict(zip(single, each[2:], strict=True)) for name, each in results.items()}
    first, second = ({name: each[at] for name, each in results.items()} for at in (0, 1))
    return CarryColumn(branch, k, first, second, alone)
