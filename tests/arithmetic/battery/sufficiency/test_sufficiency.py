"""Sufficiency: useful nodes that suffice and such that do not; sets matched by position; the paper's own model.

In a mixed plant the heads that fetch the operator are left out: means of one branch tell the operation without them.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from arithmetic.battery.plants import SMALL, arithmetic_map, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.useful_nodes import BY_ABLATION, BY_MAP, find_useful_nodes
from carrylens.arithmetic.battery.outcome import Outcome, SeriesKind
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.natural_questions import reference_questions
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.sufficiency.matched_sets import matched_set, sequence_parts
from carrylens.arithmetic.battery.sufficiency.measure import FILLS, KeptBranch
from carrylens.arithmetic.battery.sufficiency.summarise import OWN_BRANCH, beside_branch, kept_row
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import Usefulness
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill
from carrylens.nodes import Node, all_nodes

PLAIN, COPIES = Dials(), Dials(redundancy=3)


def test_a_plain_plant_is_kept_by_its_useful_nodes() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.SUB, 2, PLAIN))
    assert outcome.verdict is Verdict.SUPPORTED
    whole = [fact for fact in outcome.facts if "fill" in fact.about]
    assert len(whole) == 2 * len(FILLS)
    assert all(fact.effect.value == 1 and fact.null.value < 0.3 for fact in whole)


def test_nodes_that_only_matter_together_are_missed_one_by_one() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.ADD, 2, COPIES))
    assert outcome.verdict is Verdict.REFUTED


@pytest.mark.parametrize(("operation", "shares"), [("add", [90]), ("sub", [45, 45]), ("mix", [30, 30, 30])])
def test_what_ablated_nodes_write_is_of_all_branches_alike(operation: str, shares: list[int]) -> None:
    drawn = reference_questions(planted_subject(Operation(operation), 2, PLAIN), 90, seed=4)
    assert list(Counter(np.where(is_negative(drawn), 2, drawn.minus)).values()) == shares
    assert reference_questions(planted_subject(Operation.SUB, 2, PLAIN), 90, seed=5).text() != drawn.text()


def without_operator(operation: Operation) -> Subject:
    subject = planted_subject(operation, 2, PLAIN)
    useful = find_useful_nodes(ExperimentContext(subject, SMALL)).nodes
    return mapped(subject, [node for node in useful if (node.layer, node.head) != (0, 3)])  # they fetch the operator


def test_a_circuit_that_is_not_told_the_operator_does_not_suffice_though_means_of_one_branch_hide_that() -> None:
    outcome = outcome_of("sufficiency", without_operator(Operation.MIX))
    assert outcome.verdict is Verdict.REFUTED
    whole = {(f.about["branch"], f.about["fill"]): f.effect for f in outcome.facts if "fill" in f.about}
    # Another question has the same operator in a third, or in two thirds, of the reference.
    for branch, share in (("add", 1 / 3), ("positive", 2 / 3), ("negative", 2 / 3)):
        assert (whole[branch, "mean"].value, whole[branch, "class-mean"].value) == (0, 1)
        assert whole[branch, "resample"].interval[0] < share < whole[branch, "resample"].interval[1]
    own = [fact for fact in outcome.facts if fact.about.get("reference") == OWN_BRANCH]
    assert [(fact.about["branch"], fact.about["rest"], fact.effect.value) for fact in own] == [
        (branch, rest, 1.0) for branch in ("add", "positive", "negative") for rest in ("mean", "resample")
    ]
    assert all(fact.null.n for fact in own)
    assert outcome.figure is not None
    rivals = [each for each in outcome.figure.series if each.kind is SeriesKind.RIVAL]
    assert [each.y for each in rivals if "own" in each.label] == [(1.0,)] * 3, "each branch's own mean hides it"
    assert len(rivals) == 2 * 3
    assert {len(row) for row in outcome.rows} == {len(outcome.headers)}


def test_a_mixed_circuit_that_is_told_the_operator_suffices() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.MIX, 2, PLAIN))
    assert outcome.verdict is Verdict.SUPPORTED


def test_where_there_is_one_branch_no_other_reference_is_asked() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.ADD, 2, PLAIN))
    assert not [fact for fact in outcome.facts if fact.about.get("reference") == OWN_BRANCH]
    assert {len(row) for row in outcome.rows} == {len(outcome.headers)}


def test_every_token_and_the_curve_are_facts_too() -> None:
    outcome = outcome_of("sufficiency", planted_subject(Operation.ADD, 2, PLAIN))
    tokens = [fact for fact in outcome.facts if "token" in fact.about]
    assert Counter(fact.about["token"] for fact in tokens) == Counter(["sign", "A2", "A1", "A0"] * len(FILLS))
    (whole,) = [fact for fact in outcome.facts if fact.about.get("fill") == "mean"]
    assert all(whole.effect.hits <= fact.effect.hits for fact in tokens if fact.about["rest"] == "mean")
    assert any(whole.null.hits < fact.null.hits for fact in tokens if fact.about["rest"] == "mean")
    curve = [fact for fact in outcome.facts if "curve" in fact.about]
    kept = [int(str(fact.about["kept"])) for fact in curve]
    assert kept == sorted(kept)
    assert (curve[-1].effect, curve[-1].null) == (whole.effect, whole.null)
    assert curve[0].effect.value < 0.5
    assert outcome.figure is not None
    assert outcome.figure.series[0].y == tuple(fact.effect.value for fact in curve)


def beside(operation: Operation, digits: int) -> tuple[Outcome, list[tuple[str, str]]]:
    outcome = outcome_of("sufficiency", planted_subject(operation, digits, PLAIN))
    return outcome, [(each.what, each.paper) for each in outcome.beside_paper]


def test_the_papers_figures_stand_beside_models_of_the_same_operation_and_digits() -> None:
    outcome, rows = beside(Operation.ADD, 5)
    assert [paper for _, paper in rows] == ["0.943 (add d5)", "0.623 (add d5)", "0.000 (add d5)"]
    assert all(what.startswith(kept_row(Branch.ADD)) for what, _ in rows)
    assert [Fill.RESAMPLE.value in what for what, _ in rows] == [False, True, False]
    assert ["random" in what for what, _ in rows] == [False, False, True]
    by_fill = {fact.about["fill"]: fact for fact in outcome.facts if "fill" in fact.about}
    ours = [by_fill["mean"].effect, by_fill["resample"].effect, by_fill["mean"].null]
    assert [each.ours for each in outcome.beside_paper] == [str(rate) for rate in ours]
    assert [each.agrees for each in outcome.beside_paper] == [
        rate.interval[0] <= paper <= rate.interval[1] for rate, paper in zip(ours, (0.943, 0.623, 0.0), strict=True)
    ]


def test_signs_stand_beside_the_papers_in_mixed_models() -> None:
    some, sign = [Rate(9, 10)] * 3, Rate(7, 10)
    kept = KeptBranch(Branch.NEGATIVE, 0.5, some, some, [[sign, *some]] * 3, [some] * 3, some[:2], some[:2], some, some)
    row = beside_branch(kept, untrained_subject(Operation.MIX, 6))[-1]
    assert row.paper == "1.00 (mix d6)"
    assert "sign" in row.what
    assert (row.ours, row.agrees) == (str(sign), False)


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.SUB])
def test_other_models_are_not_held_to_them(operation: Operation) -> None:
    outcome, rows = beside(operation, 2)
    assert outcome.facts
    assert rows == []


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("sufficiency", untrained_subject(Operation.ADD)).verdict is Verdict.UNTESTED


def test_past_the_gate_nodes_of_untrained_weights_keep_no_more_than_random_ones() -> None:
    plain = ungated_subject(Operation.ADD, 2)
    outcome = outcome_of("sufficiency", mapped(plain, plain.nodes[::3]))
    assert outcome.facts
    assert outcome.verdict is not Verdict.SUPPORTED
    assert all(fact.p > 0.05 for fact in outcome.facts if "fill" in fact.about)


def mapped(subject: Subject, kept: tuple[Node, ...] | list[Node]) -> Subject:
    hit, none, config = Rate(5, 9), Rate(0, 9), subject.model.config
    nodes = [Usefulness(node, hit if node in kept else none, none, none, (), {}) for node in subject.nodes]
    shape = (digits_of(config), config.n_layers, config.n_heads)
    return type(subject)(
        subject.name, subject.model, subject.operation, arithmetic_map("", Operation.ADD, shape, nodes)
    )


def test_a_map_says_which_nodes_are_tagged() -> None:
    subject = planted_subject(Operation.ADD, 2, PLAIN)
    alone = find_useful_nodes(ExperimentContext(subject, SMALL))
    kept = sorted(alone.nodes)[:3]
    by_map = find_useful_nodes(ExperimentContext(mapped(subject, kept), SMALL))
    assert (by_map.by, alone.by) == (BY_MAP, BY_ABLATION)
    assert by_map.nodes == frozenset(kept)


def parsed(names: str) -> list[Node]:
    return [Node.parse(name) for name in names.split()]


def test_heads_are_matched_by_position_and_mlps_by_the_part_of_the_sequence() -> None:
    nodes, among, part = parsed("P1L0H0 P4L0MLP P9L1H0 P9L1H1 P10L1MLP"), all_nodes(12, 2, 3), sequence_parts(3)
    drawn_sets = [matched_set(nodes, among, 3, np.random.default_rng(seed)) for seed in range(30)]
    for drawn in drawn_sets:
        heads = sorted((node.position, node.layer) for node in drawn if not node.is_mlp)
        assert heads == [(1, 0), (9, 1), (9, 1)]
        mlps = sorted((part[node.position], node.layer) for node in drawn if node.is_mlp)
        assert mlps == [(2, 0), (4, 1)]
    assert len({tuple(drawn) for drawn in drawn_sets}) > 10


def test_where_a_position_leaves_no_choice_its_part_does_or_else_its_side_of_the_equals_sign() -> None:
    among, part = all_nodes(12, 2, 3), sequence_parts(3)
    everywhere = [matched_set(parsed("P5L0H0 P5L0H1 P5L0H2"), among, 3, np.random.default_rng(s)) for s in range(30)]
    assert {part[node.position] for drawn in everywhere for node in drawn} == {2}
    assert {node.position for drawn in everywhere for node in drawn} == {4, 5, 6}
    equals = [matched_set(parsed("P7L0MLP"), among, 3, np.random.default_rng(seed)) for seed in range(30)]
    assert {node.position for drawn in equals for node in drawn} == {7, 8, 9, 10, 11}


def test_no_node_is_drawn_twice_and_too_few_are_all_taken() -> None:
    among, every = all_nodes(12, 2, 3), all_nodes(12, 2, 3)
    assert sorted(matched_set(every, among, 3, np.random.default_rng(0))) == sorted(among)
    few = parsed("P2L0H0 P11L0H1")
    assert matched_set(parsed("P4L0H0 P5L0H0 P6L0H2"), few, 3, np.random.default_rng(0)) == tuple(few)
