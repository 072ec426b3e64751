"""Paths: along which edges does the resolved carry come to the combiner, and is `=` its origin or a depot?

Takes  a subject.
Gives  for every branch, digit and cascade depth how often the digit follows when edges into the combiner of its place
       carry the source's values: all, those of its layer's heads, each of these alone, those of earlier nodes; and when
       places do: `=`, all before it, all before it with `=` held.
Never  counts a pair that the model, untouched, does not answer, nor scores a head on the pairs it was picked on.

1. Pairs in which the column that decides digit j, below d uncertain ones, is turned. Null: other digits, same carry.
2. The combiner at the place of digit j, and no other component, reads some senders of that place as they are for the
   source. Which layer's MLP combines is found for each branch on other pairs (`combiner_layer.py`); the paper takes the
   last.
3. The attention route is the heads of its layer; the residual route all that earlier layers write at that place. Beside
   them the same senders, read by the logits and not by the MLP.
4. Each head alone, and all but one. The best alone, and the one that is missed most, are picked on every other pair
   and scored on the rest: heads are redundant if none does it alone and all but any one do, and
   share the carry if one of them is needed.
5. Interchange all nodes at `=`; all nodes before it; and those before it while `=` stays as it is for the base.
   For the column that decides digit j at depth d, `=` is an origin if it turns the digit and what lies before it does
   not; a depot if both do, and the places before it do not once `=` is held; one of several ways if they still do;
   bypassed if it does not turn the digit and they do, `=` held or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layer, combiner_layers, senders
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates, answered_pairs
from carrylens.arithmetic.battery.paths.card import CARD
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Edit, edge, interchange

ALL_EDGES, LAYER_HEADS, EARLIER, PAST_MLP = "all edges", "heads of its layer", "earlier nodes", "past the MLP"
AT_EQUALS, BEFORE_EQUALS, EQUALS_HELD = "swap at =", "swap before =", "before =, = held"
ONE_HEAD_PREFIX, ALL_BUT_PREFIX = "head ", "all but head "
NO_PAIRS = ColumnRates(Rate(0, 0), Rate(0, 0))


@dataclass(frozen=True, eq=False)
class PathCell:
    """What was measured at one digit and depth: by edit, which pairs turn the digit, and which move in the null.

    Empty where the model answers fewer than half of the pairs.
    """

    branch: Branch
    digit: int
    depth: int
    turned: dict[str, NDArray[np.bool_]]
    moved: dict[str, NDArray[np.bool_]]

    def rates_of(self, name: str) -> ColumnRates:
        """What one edit did."""
        return ColumnRates(hit_rate(self.turned[name]), hit_rate(self.moved[name])) if name in self.turned else NO_PAIRS


@dataclass(frozen=True, eq=False)
class PathMeasurements:
    """Every digit and depth that was asked for, and the layer of the combiner of every branch."""

    wanted: tuple[PathCell, ...]
    layers: Mapping[Branch, int]

    @property
    def cells(self) -> list[PathCell]:
        """Those of which the model answers enough pairs."""
        return [cell for cell in self.wanted if cell.turned]


def measure(context: ExperimentContext) -> PathMeasurements:
    """What every edge and place does, at each digit and depth."""
    return PathMeasurements(tuple(_cells(context)), combiner_layers(context))


def _cells(context: ExperimentContext) -> Iterator[PathCell]:
    subject, settings = context.subject, context.settings
    wanted = [
        (branch, digit, depth)
        for branch in branches_of(subject.operation)
        for digit in range(1, branch.top(subject.digits) + 1)
        for depth in range(digit)
    ]
    for at, (branch, digit, depth) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        drawn = deciding_pairs(branch, subject.digits, digit, depth, settings.n_pairs, seed)
        pairs = answered_pairs(subject, drawn)
        asked = len(pairs) and 2 * len(pairs) >= len(drawn)
        layer = combiner_layer(context, branch)
        yield _measure_cell(subject, pairs, digit, depth, layer) if asked else PathCell(branch, digit, depth, {}, {})


def _measure_cell(subject: Subject, pairs: ColumnPairs, digit: int, depth: int, layer: int) -> PathCell:
    edits, token = _edits(subject, digit, layer), subject.token(digit)
    names, wanted = list(edits), pairs.expected[:, token]
    effect = subject.engine.run(list(edits.values()), pairs.base, [pairs.source, pairs.base])
    null = subject.engine.run(list(edits.values()), pairs.base, [pairs.null, pairs.base])
    turned = effect.tokens[..., token] == wanted
    return PathCell(
        pairs.branch,
        digit,
        depth,
        turned=dict(zip(names, turned, strict=True)),
        moved=dict(zip(names, null.changed[..., token], strict=True)),
    )


def _edits(subject: Subject, digit: int, layer: int) -> dict[str, Edit]:
    place, equals = subject.predicting(digit), subject.position("=")
    here, combiner = senders(subject, place, layer), f"P{place}L{layer}MLP"
    heads = [node for node in here if node.layer == layer]
    earlier = [node for node in here if node.layer < layer]
    before = subject.nodes_at(*range(equals))
    at_equals = subject.nodes_at(equals)
    edits = {ALL_EDGES: edge([*earlier, *heads], combiner), LAYER_HEADS: edge(heads, combiner)}
    edits |= {f"{ONE_HEAD_PREFIX}{node.head}": edge([node], combiner) for node in heads}
    for out in heads if len(heads) > 1 else ():
        edits[f"{ALL_BUT_PREFIX}{out.head}"] = edge([node for node in heads if node is not out], combiner)
    if earlier:
        edits[EARLIER] = edge(earlier, combiner)
    edits[PAST_MLP] = edge([*earlier, *heads], f"P{place}.logits")
    return edits | {
        AT_EQUALS: interchange(at_equals),
        BEFORE_EQUALS: interchange(before),
        EQUALS_HELD: interchange(before) + interchange(at_equals, source=1),
    }
