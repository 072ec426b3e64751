"""Combining: which layer's MLP puts a digit and the carry into it together, where the digit is predicted.

Takes  a subject and a branch, or the sign.
Gives  the layer whose MLP, when it alone reads the source's writes of its place, turns the digit most often.
Never  supposes that it is the last one, and never picks on pairs that an experiment scores.

1. Pairs in which the deciding column is turned, at the least and the greatest depth of every digit.
2. For each layer, its MLP at the place, and no other component, reads all that was written there before as it is for
   the source. An MLP that only passes something on turns the digit, too: of layers that turn it as often the last
   counts.
3. Where none turns it in one pair of four, the last layer is taken: there is nothing to be seen at any.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.interchange_rates import answered_pairs
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs, sign_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.discovery.node_map import Nodes
from carrylens.interventions.edits import edge

_PAIRS = 12  # of each digit and depth: layers differ by far more than chance
_LEAST = 0.25


@lru_cache(maxsize=32)
def combiner_layer(context: ExperimentContext, branch: Branch | None) -> int:
    """The layer of the combiner of a branch; without one, of the sign."""
    subject = context.subject
    asked, turned = 0, np.zeros(subject.last_layer + 1, dtype=np.int64)
    for digit, pairs in _pairs(context, branch):
        place = subject.position("=") if digit is None else subject.predicting(digit)
        token = 0 if digit is None else subject.token(digit)
        edits = [
            edge(senders(subject, place, layer), f"P{place}L{layer}MLP") for layer in range(subject.last_layer + 1)
        ]
        tokens = subject.engine.run(edits, pairs.base, pairs.source).tokens[..., token]
        turned += (tokens == pairs.expected[:, token]).sum(1)
        asked += len(pairs)
    if not asked or turned.max() < _LEAST * asked:
        return subject.last_layer
    return int(np.flatnonzero(turned == turned.max())[-1])


def combiner_layers(context: ExperimentContext) -> dict[Branch, int]:
    """The layer of the combiner of every branch."""
    return {branch: combiner_layer(context, branch) for branch in branches_of(context.subject.operation)}


def senders(subject: Subject, place: int, layer: int) -> Nodes:
    """The nodes of a place whose writes the MLP of a layer reads there."""
    return tuple(n for n in subject.nodes_at(place) if n.layer < layer or (n.layer == layer and not n.is_mlp))


def _pairs(context: ExperimentContext, branch: Branch | None) -> list[tuple[int | None, ColumnPairs]]:
    subject = context.subject
    digits, found = subject.digits, list[tuple[int | None, ColumnPairs]]()
    for digit in (None,) if branch is None else range(1, branch.top(digits) + 1):
        for depth in sorted({0, (digits if digit is None else digit) - 1}):
            seed = context.settings.seed_of("combining", branch, digit, depth)
            if branch is None or digit is None:
                drawn = sign_pairs(digits, depth, _PAIRS, seed)
            else:
                drawn = deciding_pairs(branch, digits, digit, depth, _PAIRS, seed)
            if len(pairs := answered_pairs(subject, drawn)):
                found.append((digit, pairs))
    return found
