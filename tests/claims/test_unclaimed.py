"""What a map has that no required claim is about is reported, from the map alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.arithmetic.hypotheses import left_to_right, one_layer
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import SA, ST, SV, A
from carrylens.claims.judgement import Judgement, judge
from carrylens.discovery.behaviours import BackupUse, Behaviour
from carrylens.discovery.node_map import NodeMap, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.report.terminal.claims import beyond_sentences, claim_lines
from claims.maps import left_to_right_map, role

UNCLAIMED = ("unexplained", "not_asked_for", "nodes_without_role")
FREE, LOUD, HIDDEN, IDLE, PARTNER = (Node(2, 0, 0), Node(3, 1, None), Node(3, 0, 0), Node(1, 0, 0), Node(1, 1, 0))


@pytest.fixture(scope="module")
def addition() -> NodeMap:
    return left_to_right_map(Operation.ADD, 4)


def use(node: Node, mean: int, resample: int, tokens: tuple[int, ...] = ()) -> Usefulness:
    classes = {"S0": Rate(0, 40), "S2": Rate(mean, 56)}
    counts = tuple(Rate(hits, 96) for hits in tokens)
    return Usefulness(node, Rate(mean, 96), Rate(resample, 96), Rate(0, 96), counts, classes)


def judged(found: NodeMap) -> Judgement:
    return judge(found, left_to_right(Operation.ADD, 4))


def with_loose_nodes(found: NodeMap) -> NodeMap:
    nothing, lost = Rate(0, 96), Rate(30, 96)
    hiding = BackupUse((Node(3, 0, 1),), lost, nothing, lost, lost, nothing, lost)
    uses = [use(FREE, 3, 9, (0, 0, 3, 0, 0, 0)), use(LOUD, 40, 2), use(PARTNER, 1, 1)]
    uses += [use(node, 0, 0) for node in (HIDDEN, IDLE)]
    return replace(
        found,
        nodes=(*found.nodes, *uses),
        roles=(*found.roles, role(f"{PARTNER} + {IDLE}", "D[2]", 2, Rate(9, 48))),
        behaviours=(Behaviour(HIDDEN, backups=hiding),),
    )


def test_a_perfect_map_has_nothing_that_its_own_hypothesis_does_not_claim(addition: NodeMap) -> None:
    record = judged(addition).record()
    assert [record[name] for name in UNCLAIMED] == [[], [], []]
    assert beyond_sentences(record) == {}


def test_useful_nodes_in_no_role_are_named_those_first_without_which_most_fails(addition: NodeMap) -> None:
    nodes = judged(with_loose_nodes(addition)).unclaimed.nodes
    assert [node.usefulness.node for node in nodes] == [LOUD, FREE, HIDDEN], "who has a part in a role has one"
    assert [node.failing for node in nodes] == [40 / 96, 9 / 96, 30 / 96]
    loud, free, hidden = judged(with_loose_nodes(addition)).record()["nodes_without_role"]
    assert (free["place"], free["resample"]["hits"], free["clean"]["hits"]) == ("D1", 9, 0)
    assert {token: rate["hits"] for token, rate in free["tokens"].items()} == {"A3": 3}
    assert {name: rate["hits"] for name, rate in loud["classes"].items()} == {"S2": 40}
    assert loud["tokens"] == {}, "the map does not say"
    assert (hidden["hidden_by"]["nodes"], hidden["hidden_by"]["more"]["hits"]) == ("P3L0H1", 30)


def test_a_role_that_no_required_claim_asks_for_is_named_with_the_reason(addition: NodeMap) -> None:
    folded, foreign = role("P9L1H0", "SV[1]", 2), role("P12L1H0", "ST[3]", 5)
    part = role("P10L1H0", "SV[1]", 2, Rate(20, 48))
    found = judged(replace(addition, roles=(*addition.roles, folded, foreign, part)))
    said = dict(found.unclaimed.roles)
    assert set(said) == {folded, foreign}, "and what is unsure is not"
    assert "A[3]" in said[folded]
    assert "A[0]" in said[foreign]
    more = judged(replace(addition, roles=(*addition.roles, folded)))
    assert [each.verdict for each in more.findings] == [each.verdict for each in judged(addition).findings]


def test_a_role_outside_the_places_of_a_hypothesis_is_named(addition: NodeMap) -> None:
    usual = left_to_right(Operation.ADD, 4)
    narrow = replace(usual, name="SA early", places={"SA": lambda k: [f"D'{k}"]})
    whys = {each.variable: why for each, why in judge(addition, narrow).unclaimed.roles}
    assert set(whys) == {SA[1], SA[2], SA[3]}, "SA[0] is A[0]"
    assert all(f"A{k + 1}" in whys[SA[k]] for k in (1, 2, 3))


def test_values_that_a_rival_does_not_have_are_named_apart(addition: NodeMap) -> None:
    rival = judge(addition, one_layer(4))
    assert {each.variable for each in rival.unexplained} >= {SV[2], ST[2]}
    assert A[3] not in {each.variable for each in rival.unexplained}
    assert not {each for each, _ in rival.unclaimed.roles} & set(rival.unexplained)


def test_a_few_are_printed_and_all_if_asked_for(addition: NodeMap) -> None:
    more = [use(Node(0, layer, head), 5, 5) for layer in (0, 1) for head in (0, None)]
    found = judged(replace(addition, nodes=(*addition.nodes, *more))).record()
    few, every = list(claim_lines(found)), list(claim_lines(found, every=True))
    assert len(found["nodes_without_role"]) == 4
    assert [sum(f"{each.node} at" in line for each in more for line in lines) for lines in (few, every)] == [3, 4]
    del found["nodes_without_role"], found["not_asked_for"]
    assert beyond_sentences(found) == {}, "claims that were written before"
