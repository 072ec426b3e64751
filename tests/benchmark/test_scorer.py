"""The scorer on truths of models trained under an alignment, areas under ROC curves, averages, the leaderboard."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.relay import CARRIERS, INDICES, N, Z, relay_circuit, relay_input, relay_task, relay_truth
from carrylens.benchmark.averages import Averaged, averaged, brier, calibration_error, reliability_of
from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkModel
from carrylens.benchmark.known_truth import KnownTruth, TrueEdge, TrueGroup
from carrylens.benchmark.leaderboard import Signature, leaderboard_of
from carrylens.benchmark.match_counts import MatchCounts, auroc
from carrylens.benchmark.method_interface import DiscoveryMethod, Found, FoundRole
from carrylens.benchmark.method_runs import jaccard, method_records
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.scores import edge_auroc, node_auroc, score_roles, stated_roles
from carrylens.claims.hypothesis import Hypothesis
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

CAUSAL = relay_task().causal
SITE = TrueGroup.of("N[2]", "P3L0H0 + P3L0H1", as_whole=True)
SIGNED = Signature("x", {}, True, [0], [], {})


def test_any_node_of_a_site_known_as_a_whole_finds_the_site_once() -> None:
    truth = KnownTruth((SITE,))
    for nodes in (["P3L0H0"], ["P3L0H1"], ["P3L0H0", "P3L0H1"]):
        result = score_roles(truth, CAUSAL, Found([FoundRole.of(node, "N[2]") for node in nodes]))
        assert result.roles == result.strict == MatchCounts(1, 1, 1), nodes
    other = score_roles(truth, CAUSAL, Found([FoundRole.of("P3L0H0", "N[1]"), FoundRole.of("P4L0H0", "N[2]")]))
    assert other.roles == MatchCounts(1, 2, 0)
    assert other.missed == ("P3L0H0 + P3L0H1 N[2]",)


def test_variables_that_a_method_was_not_told_of_are_not_asked() -> None:
    truth = KnownTruth((SITE, TrueGroup.of("SU[1]", "P4L0H0")))
    assert score_roles(truth, CAUSAL, Found()).roles == MatchCounts(1, 0, 0)


def test_an_area_under_the_curve_is_the_share_of_pairs_in_order() -> None:
    random = np.random.default_rng(0)
    true, false = random.integers(0, 5, 20).tolist(), random.integers(0, 4, 30).tolist()
    pairs = [(one > other) + 0.5 * (one == other) for one in true for other in false]
    assert auroc(true, false) == pytest.approx(np.mean(pairs))
    assert auroc([], false) is None


def test_node_scores_are_ranked_against_idle_nodes_and_decoys() -> None:
    nodes, truth = relay_input().nodes, relay_truth()
    carriers = set(CARRIERS.values())
    right = Found(node_scores={node: float(node in carriers) for node in nodes})
    assert node_auroc(truth, nodes, right) == 1.0
    one_missed = Found(node_scores={node: float(node in list(carriers)[:2]) for node in nodes})
    assert node_auroc(truth, nodes, one_missed) == pytest.approx(2 / 3 + 1 / 6)
    by_role = Found(role_scores={(node, N[2]): 0.5 for node in carriers})
    assert node_auroc(truth, nodes, by_role) == 1.0, "what is not scored counts as the lowest"
    sure = Found([FoundRole.of(node, N[2], confidence=0.9) for node in carriers])
    assert node_auroc(truth, nodes, sure) == 1.0
    assert node_auroc(truth, nodes, Found()) is None


def test_a_site_known_as_a_whole_is_ranked_by_its_best_node_and_only_idle_nodes_stand_against_it() -> None:
    idle = frozenset({Node(0, 0, 0), Node(1, 0, 0)})
    truth = KnownTruth((SITE,), idle=idle)
    scores = {Node(3, 0, 0): 0.0, Node(3, 0, 1): 0.6, Node(0, 0, 0): 0.5, Node(1, 0, 0): 0.7, Node(5, 0, 0): 0.9}
    assert node_auroc(truth, relay_input().nodes, Found(node_scores=scores)) == 0.5


def test_edges_are_ranked_against_all_other_edges() -> None:
    given, edges = relay_input(), tuple(TrueEdge(node, None, "logits", v) for v, node in CARRIERS.items())
    truth = KnownTruth(relay_truth().groups, edges)
    right = {f"{edge.sender}->logits": 1.0 for edge in edges}
    assert edge_auroc(truth, given, Found(edge_scores=right)) == 1.0  # type: ignore[arg-type]
    assert edge_auroc(truth, given, Found(edge_scores=dict.fromkeys(given.edges, 1.0))) == 0.5


def test_a_set_is_true_if_all_of_it_is_and_is_kept_apart() -> None:
    roles = [
        FoundRole.of("P3L0H0", N[2], confidence=0.9),
        FoundRole.of("P3L0H0 + P3L0H1", N[2], confidence=0.8),
        FoundRole.of("P4L0H0", N[1]),
    ]
    one, other = stated_roles(relay_truth(), CAUSAL, Found(roles))
    assert (one.confidence, one.true, one.is_set) == (0.9, True, False)
    assert (other.confidence, other.true, other.is_set) == (0.8, False, True)


def test_rotations_of_a_circuit_count_as_one() -> None:
    found = averaged([("a", 0.0), ("a", 0.0), ("a", 0.0), ("b", 1.0), ("c", None)])
    assert found is not None
    assert (found.value, found.n) == (0.5, 2)
    assert (found.low, found.high) == (0.0, 1.0)
    assert averaged([("c", None)]) is None


def test_bootstrap_intervals_cover() -> None:
    random, covered = np.random.default_rng(1), 0
    for _ in range(200):
        found = averaged((str(at), float(value)) for at, value in enumerate(random.random(40)))
        assert found is not None
        covered += found.low <= 0.5 <= found.high
    assert 176 <= covered <= 200


def test_confidence_that_is_true_so_often_has_no_calibration_error_and_a_lie_has() -> None:
    random = np.random.default_rng(0)
    stated = random.choice([0.15, 0.55, 0.95], 6000)
    true = (random.random(6000) < stated).astype(np.float64)
    assert calibration_error(stated, true) < 0.02
    assert calibration_error(np.full(6000, 0.95), true) > 0.3
    assert brier(stated, true) == pytest.approx(np.mean([p * (1 - p) for p in (0.15, 0.55, 0.95)]), abs=0.01)
    cases = [(str(at % 20), float(p), bool(t)) for at, (p, t) in enumerate(zip(stated, true, strict=True))]
    found = reliability_of(cases)
    assert found is not None
    assert found.brier.low < found.brier.value < found.brier.high
    assert found.calibration_error.n == 20
    assert reliability_of([]) is None


def test_stability_is_one_for_a_method_that_always_says_the_same_and_less_for_one_that_guesses() -> None:
    def steady(_given: object) -> Found:
        return Found([FoundRole.of("P3L0H0", N[2])])

    def guess(given: Any) -> Found:
        return Found([FoundRole.of("P3L0H0", N[2]), FoundRole.of(given.nodes[given.seed], N[0])])

    methods = [DiscoveryMethod("steady", steady), DiscoveryMethod("guess", guess)]
    run = BenchmarkRun([relay_circuit()], methods=methods, repeated=[relay_circuit()], n_seeds=10)
    records = {each["method"]: each for each in method_records(run) if each["part"] == "stability"}
    assert (records["steady"]["jaccard"], records["guess"]["jaccard"]) == (1.0, pytest.approx(1 / 3))
    assert records["guess"]["n_seeds"] == 10
    assert jaccard(set(), set()) is None


def test_verdicts_are_asked_for_with_the_first_seed_alone_as_only_roles_are_compared_between_seeds() -> None:
    known, told = relay_circuit().build(), list[tuple[int, int]]()
    judged = replace(known, hypotheses=(Hypothesis("relay", known.causal, ("N",)),))
    model = BenchmarkModel("relay", lambda: judged)

    def look(given: Any) -> Found:
        told.append((given.seed, len(given.hypotheses)))
        return Found()

    list(method_records(BenchmarkRun([model], methods=[DiscoveryMethod("look", look)], repeated=[model], n_seeds=3)))
    assert sorted(set(told)) == [(0, 1), (1, 0), (2, 0)]


def test_what_was_found_under_another_hypothesis_is_not_taken_over(tmp_path: Path) -> None:
    known, told = relay_circuit().build(), list[tuple[str, ...]]()

    def look(given: Any) -> Found:
        told.append(given.hypotheses[0].required)
        return Found()

    for required in (("N",), ("N",), ("Z",)):
        judged = replace(known, hypotheses=(Hypothesis("relay", known.causal, required),))
        model = BenchmarkModel("relay", partial(lambda judged: judged, judged))
        run = BenchmarkRun([model], methods=[DiscoveryMethod("look", look)], results=SavedResults(tmp_path))
        list(method_records(run))
    assert told == [("N",), ("Z",)]


def record(circuit: str, verdicts: dict[str, list[str]]) -> dict[str, Any]:
    (made,) = method_records(BenchmarkRun([relay_circuit()], methods=[DiscoveryMethod("m", lambda _given: Found())]))
    return {**made, "model": f"{circuit}{len(verdicts)}", "circuit": circuit, "verdicts": verdicts}


def test_a_model_that_is_called_running_what_it_does_not_run_is_counted() -> None:
    records = [
        record("a", {"left": ["runs", "runs"], "right": ["does not run", "runs"]}),
        record(
            "b", {"left": ["runs in part", "runs"], "right": ["does not run", "not settled"], "up": ["runs", "runs"]}
        ),
        record("c", {"left": ["does not run", "does not run"]}),
    ]
    row = leaderboard_of(records, [DiscoveryMethod("m", lambda _given: Found())], SIGNED).of("m", "own")
    assert row.n_false_runs == (2, 4)
    assert row.false_runs is not None
    assert row.false_runs.value == pytest.approx((1 + 0.5 + 0) / 3)
    assert row.verdicts["does not run"] == {"runs": 1, "runs in part": 0, "does not run": 1, "not settled": 1}
    assert row.verdicts["runs in part"]["runs"] == 1
    assert row.precision is None


def test_a_method_of_roles_that_also_scores_nodes_is_seen_to_report_none_in_an_empty_model() -> None:
    full, nothing = relay_circuit().build(), replace(relay_circuit().build(), truth=KnownTruth(()))
    models = [BenchmarkModel("full", lambda: full), BenchmarkModel("nothing", lambda: nothing, suite="empty")]

    def find(given: Any) -> Found:
        found.append(FoundRole.of("P3L0H0", N[2]))
        return Found(found if len(found) == 1 else (), node_scores={"P3L0H0": 1.0})  # type: ignore[dict-item]

    found: list[FoundRole] = []
    method = DiscoveryMethod("mine", find)
    board = leaderboard_of(list(method_records(BenchmarkRun(models, methods=[method]))), [method], SIGNED)
    in_empty = board.of("mine", "empty").roles_in_empty
    assert in_empty is not None
    assert in_empty.value == 0.0


def test_a_row_has_the_scores_of_its_records() -> None:
    def find(_given: object) -> Found:
        wrong = FoundRole.of("P3L0H1", N[2], confidence=0.7)
        return Found([FoundRole.of(node, v, confidence=0.9) for v, node in CARRIERS.items()] + [wrong])

    method = DiscoveryMethod("m", find, told=True)
    records = list(method_records(BenchmarkRun([relay_circuit()], methods=[method])))
    row = leaderboard_of(records, [method], SIGNED).of("m", "own")
    assert row.precision == Averaged(0.75, 0.0, 1.0, 1)
    assert row.recall is not None
    assert row.recall.value == 1.0
    assert row.decoys == (1, 9)
    assert row.nodes_stated is not None
    assert row.nodes_stated.brier.value == pytest.approx((3 * 0.01 + 0.49) / 4)
    assert row.sets_stated is None
    assert {Variable.parse(f"Z[{k}]") for k in INDICES} == {Z[k] for k in INDICES}
