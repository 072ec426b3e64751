"""Hostile dials beside kind ones: every node and edge carries what the truth says. A script has all other pairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arithmetic.planted.hostile_pairs import DIGITS, compared_edges, compared_nodes, pairs
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.tasks.variables import Variable

PAIRS = {name: (dials, operation) for name, dials, operation in pairs()}


def planted_pair(name: str) -> Planted:
    dials, operation = PAIRS[name]
    return plant(describe(operation, DIGITS, dials))


def test_every_dial_is_in_some_pair() -> None:
    hostile, kind = ({name.split(" + ")[at] for name in PAIRS} for at in (0, 1))
    assert (len(hostile), len(kind)) == (10, 10)
    assert len(PAIRS) > 80


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["gate + redundancy", "cancel + sharing", "weighted-some + places", "backdoor + delay", "backup + binary"]
)
def test_every_node_and_edge_of_a_pair_carries_what_the_truth_says(name: str) -> None:
    for compared in (compared_nodes(planted_pair(name)), compared_edges(planted_pair(name))):
        assert compared.wrong == ()
        assert compared.n_predicted > compared.n_open


@pytest.mark.slow
def test_a_lie_about_a_pair_is_seen() -> None:
    planted = planted_pair("weighted-some + delay")
    truth = planted.truth
    lies = [replace(g, variable=Variable("WS", 0)) if g.variable == Variable("WS", 1) else g for g in truth.groups]
    assert lies != list(truth.groups)
    assert compared_nodes(replace(planted, truth=replace(truth, groups=tuple(lies)))).wrong
