"""Restoration: nodes left out of a map on purpose are named, read and interchanged; a complete map lacks nothing.

Random additions hold none of the chosen nodes, and where they restore most, too, nothing is supported.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from arithmetic.battery.plants import SMALL, arithmetic_map, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import UngatedSubject, ungated_subject
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.useful_nodes import find_useful_nodes
from carrylens.arithmetic.battery.restoration import restored_writes
from carrylens.arithmetic.battery.restoration.measure import RestorationCurve
from carrylens.arithmetic.battery.restoration.node_ranking import KeptNodes, RankedNodes, similar_nodes
from carrylens.arithmetic.battery.restoration.restored_answers import RestoredAnswers, judge_restored
from carrylens.arithmetic.battery.restoration.restored_writes import (
    read_restored_writes,
    readable_at,
    summed_writes,
    unseen_pairs,
)
from carrylens.arithmetic.battery.restoration.summarise import (
    BACK_ONLY_WITH,
    NODES_DRAWN,
    READ_OFF,
    TOO_FEW_FAIL,
    TURNED_TOGETHER,
    TURNED_WITH_LAYER,
    beside_curve,
)
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import Usefulness
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes

TINY = replace(SMALL, n_questions=96, n_draws=4, n_train=96)
NOISY = Dials(noise=2)


def mapped(subject: Subject, kept: Collection[Node]) -> Subject:
    hit, none, config = Rate(5, 9), Rate(0, 9), subject.model.config
    nodes = [Usefulness(node, hit if node in kept else none, none, none, (), {}) for node in subject.nodes]
    shape = (digits_of(config), config.n_layers, config.n_heads)
    found = arithmetic_map(subject.name, subject.operation, shape, nodes)
    return Subject(subject.name, subject.model, subject.operation, found)


def test_heads_left_out_of_a_map_are_named_and_seen_to_deliver_the_carry() -> None:
    subject = planted_subject(Operation.ADD, 2, NOISY)
    useful = find_useful_nodes(ExperimentContext(subject, TINY)).nodes
    left_out = {node for node in useful if node.layer == 1 and not node.is_mlp}
    assert left_out
    outcome = outcome_of("restoration", mapped(subject, useful - left_out), TINY)
    assert outcome.verdict is Verdict.SUPPORTED
    back = outcome.facts[0]
    told = [fact for fact in outcome.facts if "what" in fact.about]
    assert set(back.about["added"]) == set(map(str, left_out))  # type: ignore[call-overload]
    assert back.effect.value == 1
    assert back.null.value < 0.5
    assert {fact.about["effect"]: fact.effect.value for fact in told} == {
        READ_OFF: 1.0,
        TURNED_TOGETHER: 1.0,
        TURNED_WITH_LAYER: 1.0,
    }
    assert all(fact.null.hits == 0 for fact in told if fact.about["null"] == "same carry")
    assert all(fact.null.value < 0.8 for fact in told if fact.about["null"] == "shuffled labels")


def left_out_heads(subject: Subject) -> tuple[Subject, list[Node]]:
    useful = find_useful_nodes(ExperimentContext(subject, TINY)).nodes
    left_out = sorted(node for node in useful if node.layer == 1 and not node.is_mlp)
    return mapped(subject, useful - set(left_out)), left_out


def test_no_random_addition_holds_a_chosen_node(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, left_out = left_out_heads(planted_subject(Operation.ADD, 2, NOISY))
    drawn: list[set[Node]] = []
    plain = KeptNodes.right_each

    def watched(self: KeptNodes, plans, asked):  # type: ignore[no-untyped-def]
        drawn.extend(set(nodes) for plan in plans for nodes in plan)
        return plain(self, plans, asked)

    monkeypatch.setattr(KeptNodes, "right_each", watched)
    outcome = outcome_of("restoration", subject, TINY)
    assert set(outcome.facts[0].about["added"]) == set(map(str, left_out))  # type: ignore[call-overload]
    assert len(left_out) > 1
    assert any(len(nodes) == 1 for nodes in drawn)
    assert not any(nodes & set(left_out) for nodes in drawn)
    tagged = find_useful_nodes(ExperimentContext(subject, TINY)).nodes
    assert not any(nodes & tagged for nodes in drawn)


def test_each_failing_question_has_random_sets_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, _ = left_out_heads(planted_subject(Operation.ADD, 2, NOISY))
    counts: list[tuple[int, int]] = []
    plain = KeptNodes.right_each

    def watched(self: KeptNodes, plans, asked):  # type: ignore[no-untyped-def]
        counts.extend((len(plan), len(asked)) for plan in plans)
        return plain(self, plans, asked)

    monkeypatch.setattr(KeptNodes, "right_each", watched)
    outcome = outcome_of("restoration", subject, TINY)
    n_lost = outcome.facts[0].effect.n
    assert counts[-2:] == [(n_lost, n_lost)] * 2


def test_the_difference_is_told_with_an_interval_beside_that_of_two_random_sets() -> None:
    subject, _ = left_out_heads(planted_subject(Operation.ADD, 2, NOISY))
    outcome = outcome_of("restoration", subject, TINY)
    (gap,) = outcome.estimates
    assert gap.value == pytest.approx(outcome.facts[0].effect.value - outcome.facts[0].null.value)
    assert 0 < gap.low <= gap.value <= gap.high
    assert gap.null_low <= 0 <= gap.null_high
    alone = outcome.facts[0].about[BACK_ONLY_WITH]
    assert isinstance(alone, list)
    assert alone[0] - alone[1] == outcome.facts[0].effect.hits - outcome.facts[0].null.hits
    assert sum(outcome.facts[0].about[NODES_DRAWN].values()) > 0  # type: ignore[attr-defined]


def test_heads_that_fetch_the_operator_are_missing_and_named() -> None:
    subject = planted_subject(Operation.MIX, 2, Dials())
    useful = find_useful_nodes(ExperimentContext(subject, TINY)).nodes
    fetch = {node for node in useful if (node.layer, node.head) == (0, 3)}
    outcome = outcome_of("restoration", mapped(subject, useful - fetch), TINY)
    added = {fact.about["branch"]: set(fact.about["added"]) for fact in outcome.facts if "added" in fact.about}  # type: ignore[call-overload]
    assert added.keys() == {"add", "positive", "negative"}
    assert all(nodes & set(map(str, fetch)) for nodes in added.values())
    assert outcome.verdict is Verdict.SUPPORTED


def brought(n: int, both: int, only_chosen: int, only_random: int) -> RestoredAnswers:
    at = np.arange(n)
    chosen = at < both + only_chosen
    random = (at < both) | ((at >= both + only_chosen) & (at < both + only_chosen + only_random))
    return RestoredAnswers("add", chosen, random, random[::-1])


def test_the_verdict_is_right_on_counts() -> None:
    for counts, verdict in {
        (40, 10, 30, 0): Verdict.SUPPORTED,
        (40, 24, 10, 0): Verdict.SUPPORTED,  # 34 and 24: the pairs tell, the two rates alone would not
        (40, 16, 16, 6): Verdict.INCONCLUSIVE,
        (40, 36, 4, 0): Verdict.REFUTED,  # random ones restore most, too
        (400, 300, 100, 0): Verdict.REFUTED,
        (40, 20, 0, 0): Verdict.REFUTED,  # no better
        (40, 0, 5, 0): Verdict.REFUTED,
        (8, 4, 0, 0): Verdict.INCONCLUSIVE,
        (0, 0, 0, 0): Verdict.UNTESTED,
    }.items():
        assert judge_restored([brought(*counts)]) == [verdict], counts


def test_chosen_nodes_that_are_no_better_are_seldom_taken_for_better() -> None:
    random = np.random.default_rng(1)
    runs = [RestoredAnswers("", *(random.random((3, 60)) < 0.5)) for _ in range(300)]
    assert sum(each.p <= 0.05 for each in runs) <= 0.05 * 300 + 10
    assert sum(each.difference.low <= 0 <= each.difference.high for each in runs) >= 0.9 * 300


def test_just_any_bring_back_most_where_random_ones_surely_do() -> None:
    assert brought(40, 36, 4, 0).just_any
    assert not brought(40, 4, 36, 0).just_any


def test_no_pair_is_scored_that_was_fitted_on() -> None:
    fitted, other = (deciding_pairs(Branch.ADD, 2, 2, 1, 40, seed) for seed in (1, 2))
    seen = {*fitted.base.text(), *fitted.source.text()}
    assert seen & {*other.base.text(), *other.source.text()}
    (left,) = unseen_pairs([other, fitted], [fitted])
    assert 0 < len(left) < len(other)
    assert not seen & {*left.base.text(), *left.source.text()}


def test_what_is_read_off_writes_is_scored_on_other_questions_for_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = planted_subject(Operation.SUB, 2)
    nodes = [node for place in ("=", "A2") for node in subject.nodes_at(subject.position(place)) if node.layer == 0]
    asked: list[set[str]] = []

    def watched(model: Transformer, questions: Questions, some: Sequence[Node]) -> NDArray[np.float64]:
        asked.append(set(questions.text()))
        return summed_writes(model, questions, some)

    monkeypatch.setattr(restored_writes, "summed_writes", watched)
    told = read_restored_writes(ExperimentContext(subject, TINY), Branch.NEGATIVE, nodes)
    fitted, scored = asked[::2], asked[1::2]
    assert len(fitted) == len(scored) == len(told)
    assert not any(one & other for one, other in zip(fitted, scored, strict=True))
    here, there = (at for at, each in enumerate(told) if each.what == "borrow into A1")
    assert fitted[here] != fitted[there]
    assert scored[here] != scored[there]


def test_the_curve_is_saved_as_facts() -> None:
    subject = planted_subject(Operation.ADD, 2, NOISY)
    useful = find_useful_nodes(ExperimentContext(subject, TINY)).nodes
    left_out = {node for node in useful if node.layer == 1 and not node.is_mlp}
    outcome = outcome_of("restoration", mapped(subject, useful - left_out), TINY)
    curve = [fact for fact in outcome.facts if "n_added" in fact.about]
    assert [fact.about["n_added"] for fact in curve] == [0, 1, 2, 5, 10, 20]  # half are left to draw from
    assert outcome.figure is not None
    best, random = outcome.figure.series
    assert best.y == tuple(fact.effect.value for fact in curve)
    assert random.y[1:] == tuple(fact.null.value for fact in curve[1:])
    assert curve[0].null.n == 0
    assert curve[0].effect.value < 0.9 <= curve[-1].effect.value


def test_a_complete_map_lacks_nothing() -> None:
    outcome = outcome_of("restoration", planted_subject(Operation.ADD, 2, NOISY), TINY)
    assert outcome.verdict is Verdict.UNTESTED
    assert not [fact for fact in outcome.facts if "added" in fact.about]
    assert outcome.facts[0].effect.value == 1


def test_a_map_that_lacks_nearly_all_is_not_restored_by_a_few() -> None:
    subject = planted_subject(Operation.ADD, 3)
    kept = sorted(find_useful_nodes(ExperimentContext(subject, TINY)).nodes)[:1]
    outcome = outcome_of("restoration", mapped(subject, kept), TINY)
    assert outcome.verdict is Verdict.REFUTED


def test_a_few_failures_are_too_few_to_test_and_not_nothing() -> None:
    right = np.arange(40) >= 3
    few = RestorationCurve(Fill.MEAN, (0, 1), [right, right], [right, right])
    assert (few.lost, few.tells) == (3, False)
    many = RestorationCurve(Fill.MEAN, (0, 1), [~right, right], [~right, right])
    assert (many.lost, many.tells) == (37, True)


def test_past_the_gate_nothing_restores_untrained_weights() -> None:
    plain = ungated_subject(Operation.ADD, 2)
    subject = UngatedSubject(plain.name, plain.model, Operation.ADD, mapped(plain, plain.nodes[::3]).map)
    outcome = outcome_of("restoration", subject, TINY)
    back = [fact for fact in outcome.facts if "added" in fact.about]
    told = [fact for fact in outcome.facts if fact.about.get("effect") == "swapped together"]
    assert back
    assert outcome.verdict is not Verdict.SUPPORTED
    assert all(fact.p > 0.05 for fact in (*back, *told))


def test_the_paper_is_held_to_its_own_fill_and_model() -> None:
    right = np.arange(40) >= 20
    best, null = [right, right | True], [right, right]
    curve = RestorationCurve(Fill.MEAN, (0, 10), best, null)
    row = beside_curve(Branch.NEGATIVE, curve)
    assert (row.ours, row.agrees) == ("1.00 (random 0.50), none 0.50", True)
    assert beside_curve(Branch.POSITIVE, RestorationCurve(Fill.MEAN, (0, 10), null, null)).agrees is False
    few = beside_curve(Branch.POSITIVE, RestorationCurve(Fill.MEAN, (0,), [right | True], [right | True]))
    assert (few.ours, few.agrees) == (f"1.00 {TOO_FEW_FAIL}", None)


def test_the_sign_is_looked_for_where_it_is_read_and_made() -> None:
    subject = planted_subject(Operation.SUB, 2)
    for place, whats in {
        "=": ["borrow into A1", "sign"],
        "D'1": ["sign by column 1"],
        "D'0": ["borrow of column 0"],
        "A2": ["borrow into A1"],
        "D1": [],
    }.items():
        assert [each.what for each in readable_at(subject, Branch.NEGATIVE, subject.position(place))] == whats, place


def test_nodes_that_tell_the_sign_are_read_and_turn_it() -> None:
    subject = planted_subject(Operation.SUB, 2)
    at_equals = [node for node in subject.nodes_at(subject.position("=")) if not node.is_mlp]
    for branch in (Branch.POSITIVE, Branch.NEGATIVE):
        (sign,) = [
            told
            for told in read_restored_writes(ExperimentContext(subject, TINY), branch, at_equals)
            if told.what == "sign"
        ]
        assert (sign.read.value, sign.together.effect.value, sign.together.null.hits) == (1.0, 1.0, 0)
        assert sign.shuffled.value < 0.8


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("restoration", untrained_subject(Operation.ADD), TINY).verdict is Verdict.UNTESTED


def test_random_additions_are_near_others_of_the_same_kind_and_layer() -> None:
    nodes = [Node.parse(name) for name in ("P3L0H0", "P3L0H1", "P8L1MLP")]
    random = np.random.default_rng(0)
    for _ in range(20):
        found = similar_nodes(nodes, all_nodes(11, 2, 2), 7, random)
        drawn = found.nodes
        assert found.nearness == (3, 0, 0, 0)
        assert not set(drawn) & set(nodes)
        assert len(drawn) == len(nodes)
        assert sorted((node.layer, node.is_mlp) for node in drawn) == [(0, False), (0, False), (1, True)]
        assert all(min(abs(node.position - other.position) for other in nodes) <= 2 for node in drawn)


def test_random_additions_come_from_further_where_nothing_is_near() -> None:
    far = [Node.parse(name) for name in ("P0L0H0", "P9L0H0", "P2L0MLP")]
    drawn = similar_nodes([Node.parse("P4L0H1")], far, 7, np.random.default_rng(0))
    assert (drawn.nodes, drawn.nearness) == ((Node.parse("P0L0H0"),), (0, 1, 0, 0))
    many = [Node.parse(f"P4L0H{head}") for head in range(1, 4)]
    drawn = similar_nodes(many, far, 7, np.random.default_rng(0))
    assert (set(drawn.nodes), drawn.nearness) == (set(far), (0, 1, 1, 1))


def test_random_additions_to_a_part_of_the_chosen_hold_none_of_the_others_chosen() -> None:
    ranked = tuple(Node(position, 0, head) for position in range(4) for head in range(2))
    best = RankedNodes(ranked, (0, 1, 4), 4)
    drawn = {node for seed in range(20) for node in best.alike(1, 7, np.random.default_rng(seed)).nodes}
    assert drawn == {node for node in ranked[4:] if node.position <= 2}
    assert set(best.alike(4, 7, np.random.default_rng(0)).nodes) == set(ranked[4:])


def test_the_writes_of_all_heads_add_up_to_what_the_layer_adds() -> None:
    model = untrained_subject(Operation.ADD, 2).model
    questions = Population(PopulationKind.NATURAL, Operation.ADD, 2).draw(3, 0, 5)
    with torch.no_grad():
        _, cache = model.run_with_cache(torch.from_numpy(encode(questions, answers(questions))))
    heads = [Node(6, 1, head) for head in range(model.config.n_heads)]
    whole = cache["blocks.1.hook_attn_out"][:, 6] - model.get_parameter("blocks.1.attn.b_O").detach()
    both = whole + cache["blocks.0.hook_mlp_out"][:, 6]
    found = summed_writes(model, questions, [*heads, Node(6, 0, None)])
    np.testing.assert_allclose(found, both.double().numpy(), rtol=1e-4, atol=1e-6)
