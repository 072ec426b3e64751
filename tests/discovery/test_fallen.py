"""Fallen: who moved a token as a variable would where nobody got the role."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.arithmetic.battery.fresh_outcomes import hash_of_map
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import ST, SV
from carrylens.discovery.near_misses import find_fallen
from carrylens.discovery.node_map import Fallen, NodeMap, Role
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import parse_nodes

HALF, ALL, NONE = Rate(64, 128), Rate(128, 128), Rate(0, 128)


def swapped(nodes: str, hit: Rate, null: Rate = NONE, variable: str = "ST[1]", split: str = "confirm") -> Fact:
    return Fact("swap", {"nodes": nodes, "variable": variable, "token": 2, "split": split}, hit, null, {})


def names(fallen: list[Fallen]) -> list[str]:
    return [f"{' + '.join(map(str, each.nodes))} {each.variable} {each.token}" for each in fallen]


def test_of_those_without_a_role_the_best_is_kept_and_of_equals_the_smaller() -> None:
    facts = [swapped("P9L0H0 + P9L0H1", ALL), swapped("P9L0H0", ALL), swapped("P9L0H1", HALF)]
    assert names(find_fallen(facts, [])) == ["P9L0H0 ST[1] 2"]
    assert names(find_fallen([*facts[2:], *facts[:1]], [])) == ["P9L0H0 + P9L0H1 ST[1] 2"]


def test_where_somebody_has_the_role_nobody_fell() -> None:
    facts = [swapped("P9L0H0", ALL), swapped("P9L0H0", ALL, variable="ST[0]")]
    role = Role(tuple(parse_nodes("P9L0H1")), SV[0], 2, ALL, NONE, 1e-9, same_as=(ST[0],))
    assert names(find_fallen(facts, [role])) == ["P9L0H0 ST[1] 2"], "a variable that nothing tells from it counts"
    assert len(find_fallen(facts, [replace(role, token=3)])) == 2


@pytest.mark.parametrize(
    "fact",
    [
        swapped("P9L0H0", ALL, split="find"),
        swapped("P9L0H0", HALF, null=HALF),
        Fact("shift", {"nodes": "P9L0H0", "variable": "ST[1]", "token": 2, "split": "confirm"}, ALL, NONE, {}),
    ],
)
def test_silence_is_no_fall(fact: Fact) -> None:
    assert not find_fallen([fact], [])


def test_a_map_keeps_them_and_is_the_same_to_experiments() -> None:
    plain = NodeMap("m", Operation.ADD, 3, 2, 3, (), ())
    fallen = Fallen(tuple(parse_nodes("P9L0H0 P9L0H1")), ST[1], 2, ALL, NONE)
    found = replace(plain, fallen=(fallen,))
    assert NodeMap.from_json(found.to_json()) == found
    assert "fallen" not in plain.to_json()
    assert hash_of_map(found) == hash_of_map(plain)
    for wrong in (replace(fallen, token=9), replace(fallen, variable=ST[7]), replace(fallen, nodes=())):
        with pytest.raises(CarryLensError, match="fallen 0"):
            NodeMap.from_json(replace(plain, fallen=(wrong,)).to_json())
