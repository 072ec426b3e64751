"""Every hostile dial with every kind one: what each node and each edge carries, by intervention.

    PYTHONPATH=tests python -m arithmetic.planted.hostile_pairs results.txt

It takes minutes, so the tests have some of these pairs alone. A pair of dials that cannot go together is left out; each
is planted for addition or subtraction, which take turns where both have it. One line for each pair: how many sets of
nodes and edges were predicted and compared, and each that came out otherwise. Pairs in the file are not done again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from arithmetic.planted.interchanges import Interchanges, answer_tokens
from arithmetic.planted.test_hostile_truth import (
    FEWER,
    expected_silence,
    moves,
    pairs_of,
    predictable,
    usual_tokens,
)
from arithmetic.planted.test_planted_truth import answered_by, edges_by_ends, inputs_of
from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.dials import Carry, Copies, Dials, Timing, describe
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import SGN
from carrylens.errors import CarryLensError
from carrylens.nodes import Node, all_nodes

HOSTILE = {
    "gate": Hostile(gate=0.3),
    "weighted-some": Hostile(weighted=2),
    "weighted-all": Hostile(weighted=3),
    "split": Hostile(split=True),
    "backup": Hostile(backup=True),
    "cancel": Hostile(cancel=True),
    "spread": Hostile(spread=True),
    "superposed": Hostile(superposed=True),
    "table": Hostile(memorised=Memorised.TABLE),
    "backdoor": Hostile(memorised=Memorised.BACKDOOR),
}
KIND = {
    "sharing": Dials(sharing=True),
    "delay": Dials(delay=1),
    "redundancy": Dials(redundancy=3),
    "places": Dials(redundancy=3, copies=Copies.PLACES),
    "tail": Dials(timing=Timing.TAIL),
    "binary": Dials(carry=Carry.BINARY),
    "polysemy": Dials(polysemy=True),
    "noise": Dials(noise=2),
    "decoys": Dials(decoys=2),
    "rotated": Dials(rotated=True),
}
DIGITS = 3


@dataclass(frozen=True)
class Compared:
    """How many interchanges were predicted, how many the truth predicts nothing of, and which came out otherwise."""

    n_predicted: int
    n_open: int
    wrong: tuple[str, ...]


def pairs() -> Iterator[tuple[str, Dials, Operation]]:
    """Each pair that can go together, with the operation whose turn it is among those that have it."""
    for first, (kind, dials) in enumerate(KIND.items()):
        for second, (name, hostile) in enumerate(HOSTILE.items()):
            turned, turns = replace(dials, hostile=hostile), [Operation.ADD, Operation.SUB]
            if fitting := [each for each in turns[(first + second) % 2 :] + turns if can_be(each, turned)]:
                yield f"{name} + {kind}", turned, fitting[0]


def can_be(operation: Operation, dials: Dials) -> bool:
    """Whether a circuit can have these dials together."""
    try:
        describe(operation, DIGITS, dials)
    except CarryLensError:
        return False
    return True


def compared_nodes(planted: Planted) -> Compared:
    """Every node or whole copy, and all copies of every group: does an interchange give what the truth predicts?"""
    truth, config = planted.truth, planted.model.config
    base, source = pairs_of(truth)
    swaps, usual = Interchanges(planted.model, base, source), usual_tokens(truth, base)
    wholes = {tuple(sorted(group.nodes)): group for group in truth.groups}
    n_predicted, n_open, wrong = 0, 0, []
    for nodes in dict.fromkeys([*predictable(truth), *wholes]):
        try:
            expected = answered_by(truth, base, source, nodes)
        except CarryLensError:  # nodes that hold no value by themselves, or votes that may be tipped or not
            n_open += 1
            continue
        given = swaps.of_nodes(nodes)
        n_predicted += 1
        wrong += [] if torch.equal(given, expected) else [f"{nodes} gives another answer"]
        group = wholes.get(nodes)
        if group and group.variable.name not in expected_silence(truth) and torch.equal(given, usual):
            wrong.append(f"{nodes} does nothing")
    others = set(all_nodes(config.n_ctx, config.n_layers, config.n_heads)) - set(truth.roles)
    wrong += [] if torch.equal(swaps.of_nodes(others), usual) else ["the others together do something"]
    return Compared(n_predicted, n_open, tuple(wrong))


def compared_edges(planted: Planted) -> Compared:
    """Every edge between whole copies: does it move just what it carries?"""
    truth, (base, source) = planted.truth, pairs_of(planted.truth, FEWER)
    model, swaps = model_of(truth.description), Interchanges(planted.model, base, source)
    theirs, written = model.run(source), model.run(base).pick(SGN)
    partners = {node for group in truth.groups for copy in group.copies if len(copy) > 1 for node in copy}
    n_predicted, n_open, wrong = 0, 0, []
    for (sender, receiver), carried in edges_by_ends(truth.edges):
        at = receiver or sender
        if sender in partners or is_tied(truth, sender) or is_tied(truth, at):
            n_open += 1
            continue
        moved = [pair for group in truth.groups_of(at) for pair in moves(group, at)]
        if receiver is not None and is_outvoted(truth, sender):
            moved = []
        do = theirs.pick(*{edge.variable for edge in carried})
        values = model.run(base, do=do if any(SGN in serves for _, serves in moved) else written | do)
        expected = answer_tokens(base, truth.counterfactual(base, values, moved))
        n_predicted += 1
        given = swaps.of_edge(sender, receiver, inputs_of(carried))
        wrong += [] if torch.equal(given, expected) else [f"{sender} to {receiver} moves something else"]
    return Compared(n_predicted, n_open, tuple(wrong))


def is_tied(truth: Truth, node: Node) -> bool:
    """Whether a group has as many votes besides this node's, so that nothing is predicted of it alone."""
    whole = [(group, [copy for copy in group.copies if node in copy]) for group in truth.groups_of(node)]
    return any(2 * group.weight_of(copies) == group.weight_of(group.copies) for group, copies in whole)


def is_outvoted(truth: Truth, node: Node) -> bool:
    """Whether a group has copies enough besides this node's that it alone moves nothing."""
    return any(len(group.copies) > 1 and not list(moves(group, node)) for group in truth.groups_of(node))


def main(path: Path) -> None:
    """Do what the file does not have yet."""
    done = path.read_text() if path.exists() else ""
    for name, dials, operation in pairs():
        if f"{name}:" in done:
            continue
        planted = plant(describe(operation, DIGITS, dials))
        nodes, edges = compared_nodes(planted), compared_edges(planted)
        line = f"{name}: {operation.value}, {nodes.n_predicted} sets of nodes, {edges.n_predicted} edges"
        line += f", {nodes.n_open} and {edges.n_open} not predicted, wrong: {[*nodes.wrong, *edges.wrong]}"
        with path.open("a") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
