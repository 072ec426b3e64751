"""A map held against the truth, with scores worked out by hand."""

from __future__ import annotations

from carrylens.arithmetic.planted.comparison import compare
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import SA, ST
from carrylens.benchmark.match_counts import MatchCounts
from carrylens.nodes import Node, parse_nodes


def truth_of(dials: Dials) -> Truth:
    return plant(describe(Operation.ADD, 2, dials)).truth


def test_the_truth_fits_itself() -> None:
    truth = truth_of(Dials(redundancy=2, sharing=True))
    found = compare(truth, truth.roles, known_truth(truth).redundant_sets)
    assert found.roles.precision == found.roles.recall == found.nodes.recall == found.groups.recall == 1.0
    assert all(score.precision == score.recall == 1.0 for score in found.by_variable.values())


def test_scores_count_what_is_right_by_role_and_by_node() -> None:
    truth = truth_of(Dials())
    # Two digits: ST at P3 and P4, SA at P7 and P8, each a head and an MLP; SV at P6 and P7; A at P6, P7 and P8.
    assert len(truth.roles) == 8 + 2 + 3
    found = compare(truth, {Node.parse("P3L0H0"): {ST[1], SA[1]}, Node.parse("P0L0H0"): {ST[1]}, Node(5, 0, 0): ()})
    assert found.roles == MatchCounts(n_true=13, n_found=3, n_both=1)
    assert found.nodes == MatchCounts(n_true=13, n_found=2, n_both=1)
    assert found.by_variable["ST"] == MatchCounts(n_true=4, n_found=2, n_both=1)
    assert found.by_variable["SA"].recall == 0.0
    assert found.groups == MatchCounts(0, 0, 0)
    assert found.groups.precision is None
    assert found.groups.recall is None


def test_a_group_counts_only_if_all_of_it_was_found() -> None:
    truth = truth_of(Dials(redundancy=3))
    whole = parse_nodes("P3L0H0 P3L0H1 P3L0H2")
    assert whole in known_truth(truth).redundant_sets
    assert compare(truth, {}, [whole]).groups.n_both == 1
    assert compare(truth, {}, [parse_nodes("P3L0H0 P3L0H1")]).groups == MatchCounts(
        len(known_truth(truth).redundant_sets), 1, 0
    )


def test_a_decoy_that_was_taken_for_a_role_is_named() -> None:
    truth = truth_of(Dials(decoys=1))
    decoy = next(iter(truth.decoys))
    found = compare(truth, {decoy: truth.decoys[decoy]})
    assert found.decoys.n_found == 1
    assert found.roles.precision == 0.0
