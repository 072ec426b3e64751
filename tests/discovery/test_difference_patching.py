"""Variables that are carried superposed with others, in circuits that were planted so."""

from __future__ import annotations

import json

import pytest

from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.discovery.joint_roles import does_better, has_parts, without_misfits
from carrylens.discovery.node_map import NodeMap, Nodes, Role, Way
from carrylens.discovery.roles import find_roles, is_explained
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable
from discovery.same_maps import assert_same, read_again

DIGITS = 4
QUICK = RoleSettings(n_find=32, n_confirm=48, n_compete=24, level=0.01)
TASK = arithmetic_task(Operation.ADD, DIGITS)
ADDITION = TASK.causal
PLACE = TASK.layout.read_positions[3]
SUM, CARRY, DIGIT = Variable("SA", 2), Variable("SV", 1), Variable("A", 2)


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(describe(Operation.ADD, DIGITS, Dials()))


def at_answer(planted: Planted, variable: Variable) -> Node:
    """The node that the circuit has for a variable, the last of them if there are several."""
    return max(node for node, roles in planted.truth.roles.items() if variable in roles)


def roles_of(planted: Planted, nodes: Nodes, facts: list[Fact] | None = None) -> list[Role]:
    told: list[Fact] = [] if facts is None else facts
    return find_roles(SearchContext(Engine(planted.model), ADDITION, QUICK, note=told.append), [nodes])


@pytest.fixture(scope="module")
def both(planted: Planted) -> Nodes:
    """Who brings column 2's sum and who brings the carry into it: together they hold all that the digit is made of."""
    found = tuple(sorted({at_answer(planted, SUM), at_answer(planted, CARRY)}))
    assert len(found) == 2
    return found


def test_a_set_of_two_variables_gets_both_superposed(planted: Planted, both: Nodes) -> None:
    token = DIGITS + 1 - 2  # the sign, A4, A3, A2
    roles = {(role.variable, role.way) for role in roles_of(planted, both) if role.token == token}
    assert {(SUM, Way.DIFFERENCE), (CARRY, Way.DIFFERENCE)} <= roles
    assert not {(SUM, Way.INTERCHANGE), (CARRY, Way.INTERCHANGE)} & roles


def test_a_node_with_one_variable_needs_no_difference_patching(planted: Planted) -> None:
    roles = roles_of(planted, (at_answer(planted, CARRY),))
    assert {role.variable for role in roles if role.way is Way.INTERCHANGE} == {CARRY}
    assert not [role for role in roles if role.way is Way.DIFFERENCE]


def test_who_carries_the_digit_itself_carries_none_of_its_parts(planted: Planted) -> None:
    facts: list[Fact] = []
    roles = roles_of(planted, (at_answer(planted, DIGIT),), facts)
    assert {role.variable for role in roles} == {DIGIT}
    tried = {fact.about["variable"] for fact in facts if fact.kind == "shift"}
    assert str(CARRY) in tried  # its interchange hit, so it was tried, and could have been granted


def test_maps_keep_the_way(planted: Planted, both: Nodes) -> None:
    roles = roles_of(planted, both)
    found = NodeMap("some", TASK, ADDITION, 2, 3, (), tuple(roles))
    again = read_again(found)
    assert_same(again, found)
    assert Way.DIFFERENCE in {role.way for role in again.roles}


def test_a_map_that_says_no_way_was_made_by_interchanges(planted: Planted, both: Nodes) -> None:
    found = NodeMap("some", TASK, ADDITION, 2, 3, (), tuple(roles_of(planted, both)))
    record = json.loads(found.to_json())
    for role in record["roles"]:
        del role["way"]
    assert {role.way for role in NodeMap.from_json(json.dumps(record), find_task).roles} == {Way.INTERCHANGE}


def test_a_role_whose_null_moves_gives_way_to_one_that_says_when() -> None:
    nodes = (Node(4, 0, 0),)
    sure = Role(nodes, DIGIT, 3, Rate(48, 48), Rate(0, 48), 1e-9)
    doubtful = Role(nodes, CARRY, 3, Rate(48, 48), Rate(20, 48), 1e-9)
    elsewhere = Role(nodes, DIGIT, 2, Rate(48, 48), Rate(0, 48), 1e-9)
    weaker = Role(nodes, DIGIT, 3, Rate(40, 48), Rate(0, 48), 1e-9)
    assert is_explained(doubtful, [sure, doubtful], 0.25)
    assert not is_explained(sure, [sure, doubtful], 0.25)
    assert not is_explained(doubtful, [elsewhere, doubtful], 0.25)
    assert not is_explained(doubtful, [weaker, doubtful], 0.25)


def test_members_with_a_part_each_are_no_set_for_the_token() -> None:
    pair = (Node(12, 0, 0), Node(12, 0, 1))
    whole = Role(pair, DIGIT, 3, Rate(48, 48), Rate(0, 48), 1e-9)
    parts = [
        Role((pair[0],), SUM, 3, Rate(48, 48), Rate(0, 48), 1e-9),
        Role((pair[1],), CARRY, 3, Rate(48, 48), Rate(0, 48), 1e-9),
    ]
    digits = [Role((node,), Variable("D", 2), 3, Rate(48, 48), Rate(0, 48), 1e-9) for node in pair]
    assert has_parts(ADDITION, whole, parts)
    assert not has_parts(ADDITION, whole, parts[:1])
    assert not has_parts(ADDITION, whole, digits)
    assert not has_parts(ADDITION, Role(pair, SUM, 3, Rate(48, 48), Rate(0, 48), 1e-9), parts)


def test_a_set_with_half_of_another_gives_way_to_it() -> None:
    first, second, third = (Node(4, 0, head) for head in range(3))

    def together(*nodes: Node, hits: int, way: Way = Way.INTERCHANGE) -> Role:
        return Role(nodes, CARRY, 3, Rate(hits, 48), Rate(0, 48), 1e-9, way=way)

    halves, misfit = together(first, second, hits=48), together(first, third, hits=28)
    assert does_better(halves, misfit)
    assert not does_better(misfit, halves)
    assert not does_better(halves, together(first, third, hits=46))
    assert not does_better(halves, together(third, Node(4, 1, 0), hits=28))
    assert not does_better(together(first, second, third, hits=48), misfit)
    assert not does_better(halves, together(first, third, hits=28, way=Way.DIFFERENCE))
    assert without_misfits([misfit, halves, together(third, hits=20)], ADDITION, TASK.layout) == [
        halves,
        together(third, hits=20),
    ]


def test_a_set_that_brings_a_tokens_parts_to_its_writer_is_not_its_writer() -> None:
    def writes(*nodes: Node, hits: int = 48, variable: Variable = DIGIT) -> Role:
        return Role(nodes, variable, 3, Rate(hits, 48), Rate(0, 48), 1e-9)

    bringers, writer = writes(Node(4, 0, 0), Node(PLACE, 0, 1)), writes(Node(PLACE, 1, None))
    assert without_misfits([bringers, writer], ADDITION, TASK.layout) == [writer]
    assert without_misfits([bringers, writes(Node(PLACE, 1, None), hits=30)], ADDITION, TASK.layout)[0] == bringers, (
        "it has a part alone"
    )
    beside = writes(Node(PLACE, 0, 0), Node(PLACE, 1, None))
    assert without_misfits([beside, writer], ADDITION, TASK.layout) == [beside, writer], "the writer is one of them"
    carries = [writes(*each.nodes, variable=CARRY) for each in (bringers, writer)]
    assert without_misfits(carries, ADDITION, TASK.layout) == carries, "others than tokens may be handed on"
    early = writes(Node(PLACE, 0, None), hits=30)
    part = writes(Node(PLACE, 0, None), variable=SUM)
    assert without_misfits([early, part, writer], ADDITION, TASK.layout) == [part, writer], (
        "it has a part, and the token in part"
    )
    assert without_misfits([early, writer], ADDITION, TASK.layout) == [early, writer]
    whole = writes(Node(PLACE, 0, None))
    assert without_misfits([whole, part, writer], ADDITION, TASK.layout) == [whole, part, writer], (
        "it may have made the token"
    )


def test_a_set_with_a_node_behind_its_token_was_found_for_another() -> None:
    """A digit is predicted before that node has read anything."""
    within, behind = (
        Role((Node(3, 0, 0), Node(at, 0, 0)), CARRY, 3, Rate(48, 48), Rate(0, 48), 1e-9) for at in (PLACE, PLACE + 1)
    )
    assert without_misfits([within, behind], ADDITION, TASK.layout) == [within]
