"""Truths made by hand, with scores worked out by hand; thresholds; what is saved."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmark.relay import CARRIERS, N, X, Z, relay_input, relay_task, relay_truth
from carrylens.benchmark.known_truth import KnownTruth, TrueGroup
from carrylens.benchmark.match_counts import MatchCounts, summed
from carrylens.benchmark.method_interface import Found, FoundRole
from carrylens.benchmark.saved_results import SavedResults
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.benchmark.thresholds import DevScores, choose_threshold
from carrylens.nodes import Node, parse_nodes

CAUSAL = relay_task().causal
TWO_COPIES = TrueGroup.of(N[2], "P3L0H0", "P3L0H1")
SHARED = TrueGroup.of("N[1]", "P4L0H0 + P4L0H1", brings_inputs=True)


def report(*roles: FoundRole, groups: tuple[str, ...] = ()) -> Found:
    return Found(roles, frozenset(map(parse_nodes, groups)))


def test_roles_and_sets_follow_from_groups() -> None:
    truth = KnownTruth((TWO_COPIES, SHARED))
    assert truth.roles[Node(3, 0, 1)] == {N[2]}
    assert truth.redundant_sets == {TWO_COPIES.nodes, SHARED.nodes}
    assert {node for node, _ in truth.input_roles} == SHARED.nodes


def test_a_node_that_also_makes_a_variable_does_more_than_bring_inputs() -> None:
    truth = KnownTruth((SHARED, TrueGroup.of(N[1], "P4L0H0")))
    assert truth.input_roles == {(Node(4, 0, 1), N[1])}


def test_the_truth_scores_full_marks() -> None:
    truth = KnownTruth((TWO_COPIES, SHARED))
    told = report(*(FoundRole.of(*each) for each in truth.held), groups=("P3L0H0 P3L0H1", "P4L0H0 P4L0H1"))
    result = score_roles(truth, CAUSAL, told)
    assert result.roles == MatchCounts(4, 4, 4)
    assert result.made == MatchCounts(2, 2, 2)
    assert result.groups == MatchCounts(2, 2, 2)
    assert (result.wrong, result.missed, result.wrong_groups, result.missed_groups) == ((), (), (), ())


def test_wrong_and_missed_roles_are_named_and_only_whole_groups_count() -> None:
    told = report(FoundRole.of(Node(3, 0, 0), N[2]), FoundRole.of(Node(0, 0, 0), N[1]), groups=("P3L0H0 P4L0H0",))
    result = score_roles(KnownTruth((TWO_COPIES,)), CAUSAL, told)
    assert result.roles == MatchCounts(n_true=2, n_found=2, n_both=1)
    assert (result.wrong, result.missed) == (("P0L0H0 N[1]",), ("P3L0H1 N[2]",))
    assert (result.wrong_groups, result.missed_groups) == (("P3L0H0 + P4L0H0",), ("P3L0H0 + P3L0H1",))


def test_variables_that_no_question_tells_apart_count_once() -> None:
    """X[2], N[2] and Z[2] differ in how a value is called, and an interchange of any does the same."""
    node = Node(3, 0, 0)
    result = score_roles(relay_truth(), CAUSAL, report(*(FoundRole.of(node, each) for each in (X[2], N[2], Z[2]))))
    assert (result.roles.n_found, result.roles.n_both) == (1, 1)
    assert (result.strict.n_found, result.strict.n_both) == (3, 1)
    elsewhere = score_roles(
        relay_truth(), CAUSAL, report(*(FoundRole.of(Node(4, 0, 0), each) for each in (N[2], Z[2])))
    )
    assert (elsewhere.roles.n_found, elsewhere.roles.n_both) == (1, 0)


def test_a_single_input_is_neither_hit_nor_error_and_any_other_is_an_error() -> None:
    truth = KnownTruth((SHARED,), single_inputs=frozenset({(Node(4, 0, 0), X[0])}))
    assert score_roles(truth, CAUSAL, report(FoundRole.of(Node(4, 0, 0), X[0]))).roles.n_found == 0
    other = score_roles(truth, CAUSAL, report(FoundRole.of(Node(4, 0, 1), X[0])))
    assert (other.roles.n_found, other.roles.n_both) == (1, 0)


def test_a_reported_decoy_is_counted() -> None:
    result = score_roles(
        relay_truth(), CAUSAL, report(FoundRole.of(Node(3, 0, 1), N[2]), FoundRole.of(Node(3, 0, 0), N[2]))
    )
    assert result.decoys.n_found == 1


def test_results_come_back_from_json_as_they_were() -> None:
    told = report(FoundRole.of(Node(3, 0, 0), N[2], 0), FoundRole.of(Node(3, 0, None), Z[1]), groups=("P3L0H0 P4L0H0",))
    result = score_roles(relay_truth(), CAUSAL, told)
    assert CircuitScore.from_plain(json.loads(json.dumps(result.plain()))) == result
    assert Found.from_plain(json.loads(json.dumps(told.plain()))) == told


def test_counts_add_up() -> None:
    assert summed([MatchCounts(1, 2, 1), MatchCounts(3, 0, 0)]) == MatchCounts(4, 2, 1)
    assert summed([]) == MatchCounts(0, 0, 0)


def test_the_threshold_is_the_one_that_parts_true_from_false() -> None:
    scores = {(node, variable): 0.8 for variable, node in CARRIERS.items()}
    scores |= {(Node(at, 0, 1), N[1]): 0.3 + at / 100 for at in range(3)}
    chosen = choose_threshold([DevScores(Found(role_scores=scores), relay_truth(), CAUSAL)])
    assert 0.32 < chosen.value < 0.8
    assert chosen.balance == pytest.approx(1.0)


def test_a_threshold_is_judged_by_what_the_scorer_says_of_the_roles_above_it() -> None:
    random, truth = np.random.default_rng(0), relay_truth()
    places = [(node, variable) for node in relay_input().nodes for variable in CAUSAL.variables]
    known = [FoundRole.of(node, variable) for variable, node in CARRIERS.items()][:1]
    for given in ([], known):
        found = Found(given, role_scores={place: float(random.random()) for place in places})
        chosen = choose_threshold([DevScores(found, truth, CAUSAL)])
        slow = score_roles(truth, CAUSAL, found.above(chosen.value)).roles
        assert chosen.balance == 2 * slow.n_both / (slow.n_true + slow.n_found)


def test_what_is_saved_is_not_computed_again_unless_the_arguments_differ(tmp_path: Path) -> None:
    results, calls = SavedResults(tmp_path), []

    def compute() -> dict[str, object]:
        calls.append(1)
        return {"answer": len(calls)}

    assert [results.once("a/b", {"n": n}, compute)["answer"] for n in (1, 1, 2, 2)] == [1, 1, 2, 2]
    (tmp_path / "a" / "b.json").write_text("half a fi")
    assert results.once("a/b", {"n": 2}, compute) == {"answer": 3}
    assert SavedResults().once("a/b", {"n": 2}, compute) == {"answer": 4}
