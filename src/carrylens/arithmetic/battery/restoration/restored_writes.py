"""Restored writes: what nodes that a map misses tell, and what they do when they are interchanged together.

Takes  a subject, a branch, nodes.
Gives  for each place where a carry, a borrow or the sign is read or made: how often a probe reads it off what the nodes
       there write together, beside probes of shuffled labels; how often the digits follow when they are interchanged.
Never  scores a probe on questions it was fitted on.

1. Where digit j is predicted, the carry is the one into it, decided by column j-1, j-2, .. 0 each as often; at D'k it
   is the column's own. At = it is the one into the top digit (SV, MV, NV), and for a subtraction the sign, decided by
   each column as often; at the top D' of a subtraction the borrow is the sign, as far as that column decides it.
2. The writes of all the nodes of the place are added, as the stream adds them. A ridge probe is fitted on some
   questions and scored on others: a pair with a question that was fitted on is left out. The floor is what probes of
   shuffled labels reach: corrected is (right - floor) / (1 - floor).
3. All the nodes of the place are interchanged in pairs whose deciding column is turned; then the other heads of their
   layers with them. Null: other digits, same carry. Each place has pairs of its own, and none that nodes were ranked
   on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import (
    ColumnRates,
    answered_pairs,
    edit_columns,
    pool_rates,
)
from carrylens.arithmetic.battery.measures.linear_probe import fit_probe
from carrylens.arithmetic.battery.measures.residual_states import read_hooks
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs, own_carry, sign_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node
from carrylens.tasks.batches import joined

_WORD = "restoration"
NodeWrites = NDArray[np.float64]


@dataclass(frozen=True)
class RestoredWrite:
    """What some nodes of one place tell about its carry, and what they do together, alone and with their layers' heads.

    `what` says which carry, or the sign; `digit` is the digit it goes into where that is predicted there, else None.
    """

    branch: Branch
    place: str
    what: str
    digit: int | None
    nodes: Nodes
    read: Rate
    shuffled: Rate
    together: ColumnRates
    with_layer: ColumnRates

    @property
    def corrected(self) -> float:
        """How much better than shuffled labels, from 0 to 1."""
        floor = self.shuffled.value
        return max(0.0, (self.read.value - floor) / (1 - floor)) if floor < 1 else 0.0


@dataclass(frozen=True)
class ReadableCarry:
    """A carry or the sign: the digit it goes into (None: the sign), the cascades above the column that decides it,
    the tokens that must follow (None: all above the column), and whether they are predicted here.
    """

    what: str
    digit: int | None
    depths: range
    tokens: tuple[int, ...] | None
    here: bool = False


def read_restored_writes(context: ExperimentContext, branch: Branch, nodes: Sequence[Node]) -> list[RestoredWrite]:
    """What the nodes of each place tell; places where nothing is read or made are left out."""
    found = []
    for position in sorted({node.position for node in nodes}):
        group = tuple(sorted(node for node in nodes if node.position == position))
        for wanted in readable_at(context.subject, branch, position):
            told = _measure(context, branch, group, wanted)
            if told is not None:
                found.append(told)
    return found


def readable_at(subject: Subject, branch: Branch, position: int) -> list[ReadableCarry]:
    """Every carry that is read or made at a position on this branch, and the sign where it is."""
    top, word = branch.top(subject.digits), "carry" if branch is Branch.ADD else "borrow"
    digits, equals, found = subject.digits, position == subject.position("="), []
    for digit in range(1, top + 1):
        here = subject.predicting(digit) == position
        if here or (equals and digit == top):
            found.append(ReadableCarry(f"{word} into A{digit}", digit, range(digit), (subject.token(digit),), here))
    for k in range(top):
        if subject.position(f"D'{k}") == position:
            found.append(ReadableCarry(f"{word} of column {k}", k + 1, range(1), None))
    if branch is not Branch.ADD and equals:
        found.append(ReadableCarry("sign", None, range(digits), (0,), here=True))
    if branch is not Branch.ADD and position == subject.position(f"D'{digits - 1}"):
        found.append(ReadableCarry(f"sign by column {digits - 1}", None, range(1), (0,)))
    return found


def _measure(context: ExperimentContext, branch: Branch, nodes: Nodes, wanted: ReadableCarry) -> RestoredWrite | None:
    subject, settings = context.subject, context.settings
    train, test, turned = (
        _pairs(
            subject,
            branch,
            wanted,
            n,
            settings.seed_of(_WORD, branch, wanted.what, nodes[0].position, split),
        )
        for n, split in (
            (settings.n_train // 2, "fit"),
            (settings.n_questions // 2, "read"),
            (settings.n_pairs, "swap"),
        )
    )
    test = unseen_pairs(test, train)
    if not (_count(train) and _count(test) and _count(turned)):
        return None
    same = {node.layer for node in nodes if not node.is_mlp}
    heads = [n for n in subject.nodes_at(nodes[0].position) if n.layer in same and not n.is_mlp]
    edits = [interchange(nodes), interchange(sorted({*nodes, *heads}))]
    done = [edit_columns(subject, pairs, edits, wanted.tokens) for pairs in turned]
    together, with_layer = (pool_rates([each[at] for each in done]) for at in range(len(edits)))
    read, shuffled = _decoded(subject.model, nodes, train, test, settings)
    place, digit = subject.place(nodes[0].position), wanted.digit if wanted.here else None
    return RestoredWrite(branch, place, wanted.what, digit, nodes, read, shuffled, together, with_layer)


def _pairs(subject: Subject, branch: Branch, wanted: ReadableCarry, n: int, seed: int) -> list[ColumnPairs]:
    count = -(-n // len(wanted.depths))
    drawn = (_draw(subject.digits, branch, wanted, depth, count, seed + depth) for depth in wanted.depths)
    return [pairs for each in drawn if len(pairs := answered_pairs(subject, each))]


def unseen_pairs(drawn: Sequence[ColumnPairs], fitted: Sequence[ColumnPairs]) -> list[ColumnPairs]:
    """The pairs of which neither question is one of those fitted on: with few digits the same may be drawn again."""
    seen = {text for pairs in fitted for side in (pairs.base, pairs.source) for text in side.text()}
    found = []
    for pairs in drawn:
        both = zip(pairs.base.text(), pairs.source.text(), strict=True)
        found.append(pairs[np.array([not seen & {*texts} for texts in both], dtype=np.bool_)])
    return [pairs for pairs in found if len(pairs)]


def _draw(digits: int, branch: Branch, wanted: ReadableCarry, depth: int, n: int, seed: int) -> ColumnPairs:
    if wanted.digit is not None:
        return deciding_pairs(branch, digits, wanted.digit, depth, n, seed)
    pairs = sign_pairs(digits, depth, 3 * n, seed)  # half of the bases are of the other branch
    return pairs[is_negative(pairs.base) == (branch is Branch.NEGATIVE)][:n]


def _decoded(
    model: Transformer,
    nodes: Nodes,
    train: Sequence[ColumnPairs],
    test: Sequence[ColumnPairs],
    settings: BatterySettings,
) -> tuple[Rate, Rate]:
    (fitted, labels), (scored, truth) = (_labelled(model, nodes, some) for some in (train, test))
    read = fit_probe(fitted, labels).right(scored, truth)
    random = np.random.default_rng(settings.seed_of(_WORD, "shuffle"))
    whose = np.arange(len(truth)) % settings.n_draws
    shuffled = np.concatenate(
        [
            fit_probe(fitted, random.permutation(labels)).right(scored[whose == at], truth[whose == at])
            for at in range(settings.n_draws)
        ]
    )
    return hit_rate(read), hit_rate(shuffled)


def _labelled(model: Transformer, nodes: Nodes, drawn: Sequence[ColumnPairs]) -> tuple[NodeWrites, NDArray[np.float64]]:
    sides = [(pairs, side) for pairs in drawn for side in (pairs.base, pairs.source)]
    values = np.concatenate([own_carry(pairs, side) for pairs, side in sides])
    writes = summed_writes(model, joined([side for _, side in sides]), nodes)
    return writes, np.where(values == 1, 1.0, -1.0)


def summed_writes(model: Transformer, questions: Questions, nodes: Sequence[Node]) -> NodeWrites:
    """What the nodes add to the stream together, for questions read with their right answers: [question, d_model].

    The bias that a layer's heads share is left out.
    """
    hooks = {node: f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_result'}" for node in nodes}
    names, places = sorted(set(hooks.values())), sorted({node.position for node in nodes})
    read = dict(zip(names, read_hooks(model, questions, places, names), strict=True))
    writes = np.zeros((len(questions), model.config.d_model))
    for node, hook in hooks.items():
        here = read[hook][:, places.index(node.position)]
        writes += here if node.is_mlp else here[:, node.head]
    return writes


def _count(drawn: Sequence[ColumnPairs]) -> int:
    return sum(map(len, drawn))
