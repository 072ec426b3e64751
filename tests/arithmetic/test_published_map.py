"""Files in the published format: what ours say comes back, and what others wrote is read as far as it goes."""

from __future__ import annotations

import json

import pytest

from carrylens.arithmetic.published_map import behaviors_json, features_json, read_published, role_tag
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.behaviours import AttentionSummary, Behaviour, Clusters, Look
from carrylens.discovery.node_map import NodeMap, Role, Usefulness
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

HEAD, MLP, IDLE = Node(15, 0, 1), Node(15, 0, None), Node(3, 0, 0)


def usefulness(node: Node, hit: set[int], digits: int) -> Usefulness:
    tokens = tuple(Rate(5 if token in hit else 0, 100) for token in range(digits + 2))
    classes = {"S0": Rate(0, 40), "S1": Rate(3, 30), "S3": Rate(2, 30)} if hit else {"S0": Rate(0, 100)}
    failed = Rate(5 if hit else 0, 100)
    return Usefulness(node, failed, failed, Rate(0, 100), tokens, classes)


def small_map(digits: int = 10) -> NodeMap:
    """Tokens 1 and 2 of 10 digits are A10 and A9, which a run of digits cannot say."""
    task = arithmetic_task(Operation.MIX, digits)
    looks = (Look("D'9", 0.6), Look("D9", 0.4))
    clusters = (
        Clusters(Variable("ST", 5), 0.9, 0.1, 0.005, 192, 3),
        Clusters(Variable("ST", 6), 0.3, 0.1, 0.005, 192, 3),
    )
    role = Role((HEAD,), Variable("MB", 5), 2, Rate(99, 100), Rate(1, 100), 1e-9, (Variable("MV", 5),))
    return NodeMap(
        "x",
        task,
        task.causal,
        2,
        3,
        (usefulness(IDLE, set(), digits), usefulness(HEAD, {1, 2}, digits), usefulness(MLP, {2}, digits)),
        (role, Role((HEAD, Node(15, 0, 2)), Variable("SA", 5), 2, Rate(9, 10), Rate(0, 10), 1e-4)),
        behaviours=(Behaviour(HEAD, (AttentionSummary("add", looks, 96),), clusters),),
    )


def test_our_files_have_the_published_tags() -> None:
    head, mlp = json.loads(behaviors_json(small_map()))
    assert {key: head[key] for key in ("position", "layer", "is_head", "num")} == {
        "position": 15,
        "layer": 0,
        "is_head": True,
        "num": 1,
    }
    assert head["tags"] == ["Fail%:5", "Impact:A109", "Math.Add:S13", "Attn:P11=60", "Attn:P0=40", "Math.Add:A5.SP"]
    assert not mlp["is_head"]
    feature, partner, none = json.loads(features_json(small_map()))
    assert feature["tags"] == ["Algo:A5.MT"], "our MB has three values, which is the published MT"
    assert partner["tags"] == none["tags"] == []


def test_our_own_fields_say_what_the_tags_leave_open() -> None:
    head = json.loads(behaviors_json(small_map()))[0]["carrylens"]
    assert head["hits"] == ["A10", "A9"]
    assert head["fails"]["mean"] == {"hits": 5, "n": 100, "low": 0.016432, "high": 0.112835}
    roles = json.loads(features_json(small_map()))[0]["carrylens"]["roles"]
    assert (roles[0]["variable"], roles[0]["token"], roles[0]["same_as"]) == ("MB[5]", "A9", ["MV[5]"])
    assert roles[1]["together_with"] == ["P15L0H2"]


def test_a_node_with_a_part_in_a_role_is_listed_though_nothing_fails_without_it() -> None:
    entries = {entry["carrylens"]["node"]: entry["carrylens"] for entry in json.loads(features_json(small_map()))}
    assert list(entries) == ["P15L0H1", "P15L0H2", "P15L0MLP"]
    assert [entry["useful"] for entry in entries.values()] == [True, False, True]
    assert entries["P15L0H2"]["roles"][0]["together_with"] == ["P15L0H1"]


def test_what_we_write_is_read_back() -> None:
    found = small_map()
    head, _, mlp = read_published(10, behaviors_json(found), features_json(found))
    assert (head.node, mlp.node) == (HEAD, MLP)
    assert (head.fail_percent, head.impact, head.hits) == (5.0, "109", ("A10", "A9"))
    assert head.classes == ("S1", "S3")
    assert head.attention == ((11, 60.0), (0, 40.0))
    assert head.clusters == (Variable("ST", 5),)
    assert head.roles == (Variable("MB", 5),)
    assert not head.other


PUBLISHED = """[{"position": 9, "layer": 0, "is_head": true, "num": 2, "tags":
 ["Fail%:12", "Impact:A457", "Math.Add:S123", "Math.Neg:N14", "Attn:P1=50", "Attn:P10=49", "Math.Sub:A3.MP"]},
 {"position": 9, "layer": 0, "is_head": false, "num": 0, "tags": ["Fail%:3"]}]"""
FEATURES = """[{"position": 9, "layer": 0, "is_head": true, "num": 2, "tags":
 ["Algo:A3.MB", "Algo:A3.MT", "Algo:A3.SS", "Algo:A5.ND.A5", "Algo:OPR", "Algo:A3.GT", "Odd:1"]}]"""


def test_a_published_map_is_read() -> None:
    head, mlp = read_published(6, PUBLISHED, FEATURES)
    assert head.hits == ("A7", "A5", "A4"), "sorted as numbers, whatever their order was"
    assert head.classes == ("S1", "S2", "S3", "N1", "N4")
    assert head.attention == ((1, 50.0), (10, 49.0)), "P1 is not P10"
    assert head.clusters == (Variable("MB", 3),)
    assert list(map(str, head.roles)) == ["MC[3]", "MB[3]", "S9[3]", "ND[5]", "OPR"]
    assert head.other == ("Algo:A3.GT", "Odd:1")
    assert mlp.node == Node(9, 0, None)


def test_a_run_of_digits_that_can_be_read_in_two_ways_is_left_as_it_is() -> None:
    (node,) = read_published(9, '[{"position":1,"layer":0,"is_head":true,"num":0,"tags":["Impact:A1098"]}]')
    assert (node.hits, node.impact) == (None, "1098")


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', '[{"position": 1}]', "[3]"])
def test_what_is_no_published_map_is_refused(text: str) -> None:
    with pytest.raises(CarryLensError, match=r"behaviors\.json.*features\.json"):
        read_published(6, text)


def test_variables_without_a_published_tag_have_none() -> None:
    assert [role_tag(Variable(name, 2)) for name in ("SV", "MV", "NB", "D", "A")] == [None] * 5
