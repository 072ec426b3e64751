"""Near misses: sets that moved an output as a variable would, where no set got the role."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from carrylens.arithmetic.battery.fresh_outcomes import hash_of_map
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import ST, SV
from carrylens.discovery.near_misses import find_near_misses
from carrylens.discovery.node_map import NearMiss, NodeMap, Role
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import parse_nodes
from discovery.same_maps import assert_same, read_again

TASK = arithmetic_task(Operation.ADD, 3)
HALF, ALL, NONE = Rate(64, 128), Rate(128, 128), Rate(0, 128)


def interchanged(nodes: str, hit: Rate, null: Rate = NONE, variable: str = "ST[1]", split: str = "confirm") -> Fact:
    return Fact("swap", {"nodes": nodes, "variable": variable, "token": 2, "split": split}, hit, null, {})


def names(found: list[NearMiss]) -> list[str]:
    return [f"{' + '.join(map(str, each.nodes))} {each.variable} {each.token}" for each in found]


def test_of_those_without_a_role_the_best_is_kept_and_of_equals_the_smaller() -> None:
    facts = [interchanged("P9L0H0 + P9L0H1", ALL), interchanged("P9L0H0", ALL), interchanged("P9L0H1", HALF)]
    assert names(find_near_misses(facts, [])) == ["P9L0H0 ST[1] 2"]
    assert names(find_near_misses([*facts[2:], *facts[:1]], [])) == ["P9L0H0 + P9L0H1 ST[1] 2"]


def test_where_some_set_has_the_role_there_is_no_near_miss() -> None:
    facts = [interchanged("P9L0H0", ALL), interchanged("P9L0H0", ALL, variable="ST[0]")]
    role = Role(tuple(parse_nodes("P9L0H1")), SV[0], 2, ALL, NONE, 1e-9, same_as=(ST[0],))
    assert names(find_near_misses(facts, [role])) == ["P9L0H0 ST[1] 2"], "a variable that nothing tells from it counts"
    assert len(find_near_misses(facts, [replace(role, token=3)])) == 2


@pytest.mark.parametrize(
    "fact",
    [
        interchanged("P9L0H0", ALL, split="find"),
        interchanged("P9L0H0", HALF, null=HALF),
        Fact("shift", {"nodes": "P9L0H0", "variable": "ST[1]", "token": 2, "split": "confirm"}, ALL, NONE, {}),
    ],
)
def test_silence_is_no_near_miss(fact: Fact) -> None:
    assert not find_near_misses([fact], [])


def test_a_map_keeps_them_and_is_the_same_to_experiments() -> None:
    plain = NodeMap("m", TASK, TASK.causal, 2, 3, (), ())
    missed = NearMiss(tuple(parse_nodes("P9L0H0 P9L0H1")), ST[1], 2, ALL, NONE)
    found = replace(plain, near_misses=(missed,))
    assert_same(read_again(found), found)
    assert set(json.loads(found.to_json())) - set(json.loads(plain.to_json())) == {"fallen"}, "as files call them"
    assert hash_of_map(found) == hash_of_map(plain)
    for wrong in (replace(missed, token=9), replace(missed, variable=ST[7]), replace(missed, nodes=())):
        with pytest.raises(CarryLensError, match="near miss 0"):
            read_again(replace(plain, near_misses=(wrong,)))
