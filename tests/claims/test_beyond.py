"""What a map has beyond the hypothesis is said, from the map alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.arithmetic.hypotheses import left_to_right, one_layer
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import ST, SV, A
from carrylens.claims.judgement import Judgement, judge
from carrylens.discovery.behaviours import Behaviour, StandIns
from carrylens.discovery.node_map import NodeMap, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.report.terminal.claims import beyond_sentences, claim_lines
from claims.maps import left_to_right_map, role

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
    hiding = StandIns((Node(3, 0, 1),), lost, nothing, lost, lost, nothing, lost)
    uses = [use(FREE, 3, 9, (0, 0, 3, 0, 0, 0)), use(LOUD, 40, 2), use(PARTNER, 1, 1)]
    uses += [use(node, 0, 0) for node in (HIDDEN, IDLE)]
    return replace(
        found,
        nodes=(*found.nodes, *uses),
        roles=(*found.roles, role(f"{PARTNER} + {IDLE}", "D[2]", 2, Rate(9, 48))),
        behaviours=(Behaviour(HIDDEN, stand_ins=hiding),),
    )


def test_a_perfect_map_has_nothing_beyond_its_own_account(addition: NodeMap) -> None:
    assert judged(addition).beyond.record() == {"unexplained": [], "not_asked_for": [], "nodes_without_role": []}
    assert not [line for line in claim_lines(judged(addition).record()) if "beyond" in line]


def test_useful_nodes_in_no_role_are_named_those_first_without_which_most_fails(addition: NodeMap) -> None:
    nodes = judged(with_loose_nodes(addition)).beyond.nodes
    assert [node.usefulness.node for node in nodes] == [LOUD, FREE, HIDDEN], "who has a part in a role has one"
    assert [node.failing for node in nodes] == [40 / 96, 9 / 96, 30 / 96]
    loud, free, hidden = (node.record() for node in nodes)
    assert (free["place"], free["resample"]["hits"], free["clean"]["hits"]) == ("D1", 9, 0)
    assert {token: rate["hits"] for token, rate in free["tokens"].items()} == {"A3": 3}
    assert {name: rate["hits"] for name, rate in loud["classes"].items()} == {"S2": 40}
    assert loud["tokens"] == {}, "the map does not say"
    assert (hidden["hidden_by"]["nodes"], hidden["hidden_by"]["more"]["hits"]) == ("P3L0H1", 30)


def test_a_role_that_no_required_claim_asks_for_is_named_with_the_reason(addition: NodeMap) -> None:
    folded, foreign = role("P9L1H0", "SV[1]", 2), role("P12L1H0", "ST[3]", 5)
    part = role("P10L1H0", "SV[1]", 2, Rate(20, 48))
    found = judged(replace(addition, roles=(*addition.roles, folded, foreign, part)))
    said = dict(found.beyond.roles)
    assert said == {folded: "not required for A[3]", foreign: "A[0] does not depend on it"}, "and what is unsure is not"
    more = judged(replace(addition, roles=(*addition.roles, folded)))
    assert [each.verdict for each in more.findings] == [each.verdict for each in judged(addition).findings]


def test_a_role_outside_the_places_of_an_account_is_named(addition: NodeMap) -> None:
    usual = left_to_right(Operation.ADD, 4)
    narrow = replace(usual, name="SA early", places={"SA": lambda k: [f"D'{k}"]})
    whys = {why for _, why in judge(addition, narrow).beyond.roles}
    assert whys == {f"it is to stand elsewhere than at A{k + 1}" for k in (1, 2, 3)}, "SA[0] is A[0]"


def test_values_that_a_rival_does_not_have_are_named_apart(addition: NodeMap) -> None:
    rival = judge(addition, one_layer(4))
    assert {each.variable for each in rival.unexplained} >= {SV[2], ST[2]}
    assert A[3] not in {each.variable for each in rival.unexplained}
    assert not {each for each, _ in rival.beyond.roles} & set(rival.unexplained)


def test_a_few_are_printed_and_all_if_asked_for(addition: NodeMap) -> None:
    more = [use(Node(0, layer, head), 5, 5) for layer in (0, 1) for head in (0, None)]
    found = judged(replace(addition, nodes=(*addition.nodes, *more))).record()
    few, every = list(claim_lines(found)), list(claim_lines(found, every=True))
    assert "Found beyond what the hypothesis requires:" in few
    assert "  useful nodes that are in no role: 4" in few
    assert sum("without it 5 of 96 questions fail, with it 0 of 96" in line for line in few) == 3
    assert "    ... and 1 more; --all lists them" in few
    assert sum("without it 5 of 96 questions fail" in line for line in every) == 4
    assert not [line for line in every if "--all lists them" in line]
    del found["nodes_without_role"], found["not_asked_for"]
    assert beyond_sentences(found) == {}, "claims that were written before"
