"""False roles in models that answer right: what nodes hold instead, and how they are counted."""

from __future__ import annotations

import pytest
import torch

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted.benchmark.circuits import PlantedSetting
from carrylens.arithmetic.variables import D_PRIME, SA, ST, SV, A, D
from carrylens.benchmark import false_roles
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.false_roles import HeldInstead, false_role_records, false_role_summary, held_instead
from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.role_counts import RoleCounts
from carrylens.discovery.node_map import Role
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node, parse_nodes
from carrylens.report.terminal.benchmark import control_text
from carrylens.tasks.variables import Variable

PLAIN, DECOYS, SHARING = (PlantedSetting(dial, Operation.ADD, 2, 0) for dial in ("plain", "decoys", "sharing"))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def kind(setting: PlantedSetting, nodes: str, variable: Variable, token: int) -> HeldInstead | None:
    return held_instead(setting.build(), (tuple(parse_nodes(nodes)), variable, token))


def role(nodes: str, variable: Variable, token: int) -> Role:
    return Role(tuple(sorted(parse_nodes(nodes))), variable, token, Rate(48, 48), Rate(0, 48), 1e-9)


def test_what_a_node_holds_instead_is_known() -> None:
    """P3L0H0 of the plain circuit fetches for ST[1]."""
    assert kind(PLAIN, "P3L0H0", ST[1], 1) is None
    assert kind(PLAIN, "P3L0H0", SA[1], 2) == HeldInstead.SAME_INPUTS
    assert kind(PLAIN, "P3L0H0", D[1], 2) == HeldInstead.SAME_INPUTS
    assert kind(PLAIN, "P3L0H0", A[0], 3) == HeldInstead.OTHER_INPUTS
    assert kind(PLAIN, "P0L1MLP", ST[1], 1) == HeldInstead.IDLE


def test_variables_that_no_question_tells_apart_count_as_held() -> None:
    (node,) = [n for n, held in PLAIN.build().truth.roles.items() if ST[0] in held and not n.is_mlp]
    assert kind(PLAIN, str(node), SV[0], 2) is None


def test_decoys_hold_nothing_that_counts_and_halves_hold_their_digit() -> None:
    decoy = next(node for node, held in DECOYS.build().truth.decoys.items() if ST[1] in held)
    assert kind(DECOYS, str(decoy), ST[1], 1) == HeldInstead.DECOY
    halves = [kind(SHARING, name, each, 2) for name in ("P7L0H0", "P7L0H1") for each in (D[1], D_PRIME[1])]
    assert [halves.count(None), halves.count(HeldInstead.SAME_INPUTS)] == [2, 2]


def test_a_set_is_as_near_as_its_nearest_member() -> None:
    assert kind(PLAIN, "P0L1MLP + P3L0H0", SA[1], 2) == HeldInstead.SAME_INPUTS
    assert kind(PLAIN, "P0L1MLP + P3L0H0", ST[1], 1) is None


def test_a_search_that_errs_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One true role, and two false ones of an idle node and of a decoy."""
    decoy = next(node for node, held in DECOYS.build().truth.decoys.items() if ST[1] in held)
    roles = (role("P3L0H0", ST[1], 1), role("P0L1MLP", ST[1], 1), role(str(decoy), ST[1], 1))
    weighed = frozenset((each.nodes, each.variable, each.token) for each in roles)
    tested = weighed | {((Node(0, 1, 0),), ST[1], 1)}

    def erring(given: Given) -> RoleCounts:
        return RoleCounts(tested, tested, weighed, roles, Rate(96, 96), 0.01)

    monkeypatch.setattr(false_roles, "count_roles", erring)
    (record,) = false_role_records(BenchmarkRun(circuits=[DECOYS]))
    rows = {row["kind"]: row for row in false_role_summary([record])}
    counted = [(kind, *(row[name] for name in ("tested", "weighed", "confirmed"))) for kind, row in rows.items()]
    assert counted == [("idle", 2, 1, 1), ("decoys", 1, 1, 1), ("all", 3, 2, 2)]
    assert (rows["all"]["roles"]["hits"], rows["all"]["roles"]["n"]) == (2, 2), "of those that could be confirmed"
    assert rows["all"]["circuits"]["hits"] == 1
    assert (rows["all"]["all_confirmed"], rows["all"]["bound"]) == (3, 0.06)
    assert [each["true"] for each in record["cases"]] == [True, False, False]
    assert "2 of 3" in control_text([record, *rows.values()]), "of all roles confirmed"


def test_a_circuit_that_answers_right_has_no_role_where_it_holds_nothing_of_the_variable() -> None:
    (record,) = false_role_records(BenchmarkRun(circuits=[PLAIN], quick=True))
    assert record["right"]["hits"] == record["right"]["n"] > 30
    for name in ("idle", "other columns"):
        assert record["kinds"][name]["tested"] > 30 > record["kinds"][name]["weighed"]
        assert record["kinds"][name]["found"] == []
    assert sum(each["true"] for each in record["cases"]) > 10
