"""Roles are whole or partial, and say where they fail; parts are withheld; unneeded variables are searched."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec import UNSET

from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.planted.dials import Carry, Dials, describe
from carrylens.arithmetic.planted.hostile_suite import hostile_descriptions
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import SC, ST, SV, A
from carrylens.claims.claims import Claim, ClaimKind, claims_of
from carrylens.claims.rules import Judge
from carrylens.claims.search_record import SearchRecord
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.described_roles import describe_roles, named_populations
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.discovery.optional_roles import find_optional
from carrylens.discovery.orders import find_orders
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.evidence.sureness import Extent
from carrylens.interventions.engine import Engine
from carrylens.nodes import parse_nodes
from carrylens.report.terminal.map import map_text
from carrylens.tasks.optional_pairs import OptionalClaim, optional_pairs, unneeded_variables
from discovery.same_maps import assert_same, read_again

TASK = arithmetic_task(Operation.ADD, 2)
QUICK = RoleSettings(n_find=32, n_confirm=48, n_compete=24, level=0.01)


def search_of(planted: Planted) -> SearchContext:
    return SearchContext(Engine(planted.model, TASK, hold=1 << 26), TASK.causal, QUICK)


def described(planted: Planted, nodes: str) -> tuple[SearchContext, list[Role]]:
    search = search_of(planted)
    return search, describe_roles(search, find_roles(search, [(node,) for node in sorted(parse_nodes(nodes))]))


@cache
def gated() -> tuple[Role, ...]:
    """The top digit of the first operand decides between two ways to the carry: at most 2, or above."""
    (description,) = (each.description for each in hostile_descriptions(Operation.ADD, 2, 0) if each.name == "gate-30")
    return tuple(described(plant(description), "P3L0MLP P4L0MLP P6L1MLP")[1])


@cache
def plain() -> tuple[SearchContext, list[Role]]:
    return described(plant(describe(Operation.ADD, 2, Dials())), "P3L0MLP P4L0MLP P7L0MLP P7L1H0 P7L1MLP")


def map_with(roles: tuple[Role, ...], **more: object) -> NodeMap:
    stimuli = {"settings": {"roles": {"n_find": 32, "n_confirm": 48}, "groups": True}}
    return NodeMap("x", TASK, TASK.causal, 2, 2, (), roles, stimuli, **more)  # type: ignore[arg-type]


def test_a_role_behind_a_gate_is_partial_and_says_where_it_fails() -> None:
    partial = [role for role in gated() if role.variable == ST[1] and str(role.nodes[0]) == "P3L0MLP"]
    assert partial
    for role in partial:
        assert role.extent is Extent.PARTIAL
        assert not role.is_whole
        assert role.fails is not UNSET
        assert role.fails.where == "D[1] <= 2"
        assert (role.fails.inside.value, role.fails.outside.value) == (1.0, 0.0)


def test_roles_of_a_plain_circuit_are_whole_and_hold_on_populations() -> None:
    _, roles = plain()
    assert roles
    for role in roles:
        assert role.extent is Extent.WHOLE
        assert role.fails is UNSET
        assert role.populations is not UNSET
        assert (
            [each.population for each in role.populations] == ["natural", "enriched"] == list(named_populations(TASK))
        )
        assert all(each.hit.hits == each.hit.n for each in role.populations)
    shown = [each.hit.n for role in roles if role.populations is not UNSET for each in role.populations]
    assert max(shown) > 48


def test_partial_roles_look_partial_and_survive_json() -> None:
    found = map_with(gated())
    assert_same(read_again(found), found)
    text = map_text(found).plain
    assert "ST1~" in text
    assert "D[1] <= 2" in text
    assert "~ " not in map_text(map_with(tuple(plain()[1]))).plain.split("\n~")[0]


def carried(name: str) -> Claim:
    return next(claim for claim in claims_of(left_to_right(Operation.ADD, 2), TASK.layout) if claim.name == name)


def test_no_claim_is_supported_by_partial_roles_alone() -> None:
    for roles, verdict in ((gated(), Verdict.INCONCLUSIVE), (tuple(plain()[1]), Verdict.SUPPORTED)):
        judging = Judge(left_to_right(Operation.ADD, 2), SearchRecord(map_with(roles)), THRESHOLDS)
        assert judging.find(carried("carried ST[1] for A[2]")).verdict is verdict
    why = Judge(left_to_right(Operation.ADD, 2), SearchRecord(map_with(gated())), THRESHOLDS)
    assert "D[1] <= 2" in why.find(carried("carried ST[1] for A[2]")).why


def test_withholding_a_part_from_its_reader_stops_it() -> None:
    search, roles = plain()
    orders = find_orders(search, roles)
    read = [each for each in orders if each.part_variable in (ST[0], SV[0]) and each.whole_variable == A[1]]
    assert read
    assert all(each.free.value == 1.0 and each.held.value == 0.0 for each in orders)
    found = map_with(tuple(roles), orders=tuple(orders))
    assert_same(read_again(found), found)
    judging = Judge(left_to_right(Operation.ADD, 2), SearchRecord(found), THRESHOLDS)
    claims = [each for each in claims_of(left_to_right(Operation.ADD, 2), TASK.layout) if each.kind is ClaimKind.ORDER]
    tested = [claim for claim in claims if _orders(judging, claim)]
    assert tested
    assert {judging.find(claim).verdict for claim in tested} == {Verdict.SUPPORTED}


def test_an_order_that_withholding_does_not_touch_stays_open() -> None:
    search, roles = plain()
    lie = [each for each in find_orders(search, roles) if each.whole_variable == A[1]]
    unmoved = tuple(type(each)(**{**vars(each), "held": each.free}) for each in lie)
    judging = Judge(left_to_right(Operation.ADD, 2), SearchRecord(map_with(tuple(roles), orders=unmoved)), THRESHOLDS)
    claims = [each for each in claims_of(left_to_right(Operation.ADD, 2), TASK.layout) if each.kind is ClaimKind.ORDER]
    tested = [claim for claim in claims if _orders(judging, claim)]
    assert {judging.find(claim).verdict for claim in tested} == {Verdict.INCONCLUSIVE}


def test_a_binary_carry_is_found_as_an_optional_role_and_in_a_tri_state_circuit_it_is_not() -> None:
    """The binary circuit fetches whether a column carries and whether it is undecided by two heads."""
    assert unneeded_variables(TASK.causal)[SC[1]] == (ST[1],)
    sets = [(node,) for node in sorted(parse_nodes("P3L0H0 P3L0H1 P3L0MLP"))]
    binary = find_optional(search_of(plant(describe(Operation.ADD, 2, Dials(carry=Carry.BINARY)))), sets, [])
    assert {(str(role.variable), str(role.nodes[0]), str(role.read_as)) for role in binary} == {
        ("SC[1]", "P3L0H0", "ST[1]")
    }
    there = [(node,) for node in sorted(parse_nodes("P3L0H0 P3L0MLP"))]
    tri_state = find_optional(search_of(plant(describe(Operation.ADD, 2, Dials()))), there, [])
    assert tri_state == []


def test_optional_pairs_differ_or_agree_in_the_optional_variable_alone() -> None:
    pairs = optional_pairs(TASK.causal, OptionalClaim(SC[1], ST[1], A[2]), 16, 0)
    assert pairs is not None
    for side, differ in zip(pairs, (True, False), strict=True):
        runs = [TASK.causal.run(each, read=[SC[1], ST[1]]) for each in (side.base, side.source)]
        assert ((runs[0][SC[1]] != runs[1][SC[1]]) == differ).all()
        assert (runs[0][ST[1]] != runs[1][ST[1]]).all()


@pytest.mark.parametrize("whole", [True, False])
def test_an_optional_claim_is_judged_by_optional_roles(whole: bool) -> None:
    found = find_optional(
        search_of(plant(describe(Operation.ADD, 2, Dials(carry=Carry.BINARY)))),
        [(n,) for n in parse_nodes("P3L0H0")],
        [],
    )
    hypothesis = left_to_right(Operation.ADD, 2)
    claim = next(each for each in claims_of(hypothesis, TASK.layout) if each.name == "carried SC[1]")
    record = SearchRecord(map_with((), optional=tuple(found) if whole else ()))
    verdict = Judge(hypothesis, record, THRESHOLDS).find(claim).verdict
    assert (verdict is Verdict.UNTESTED) is not whole


def _orders(judging: Judge, claim: Claim) -> object:
    assert claim.variable is not None
    assert claim.reader is not None
    return judging.search.orders(TASK.causal, claim.variable, claim.reader, claim.token)
