"""Restoration: nodes left out of a map on purpose are named, read and swapped; a complete map lacks nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import torch

from battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from battery.ungated import UngatedSubject, ungated_subject
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.adding import alike_nodes
from carrylens.battery.columns import Branch
from carrylens.battery.restoration import _beside_curve, _Curve, _Restored, _says
from carrylens.battery.restored_writes import summed_writes, told_by, wanted_at
from carrylens.battery.subject import Subject
from carrylens.battery.tagging import Tagged, tagged_nodes
from carrylens.discovery.node_map import NodeMap, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.interventions.edits import Fill
from carrylens.nodes import Node, all_nodes
from carrylens.planted.dials import Dials
from carrylens.tokens import encode

TINY = replace(SMALL, n_questions=96, n_draws=4, n_train=96)
NOISY = Dials(noise=2)


def mapped(subject: Subject, kept: Collection[Node]) -> Subject:
    hit, none, config = Rate(5, 9), Rate(0, 9), subject.model.config
    nodes = [Usefulness(node, hit if node in kept else none, none, none, (), {}) for node in subject.nodes]
    shape = (config.digits, config.n_layers, config.n_heads)
    found = NodeMap(subject.name, subject.operation, *shape, nodes, ())
    return Subject(subject.name, subject.model, subject.operation, found)


def test_heads_left_out_of_a_map_are_named_and_seen_to_deliver_the_carry() -> None:
    subject = planted_subject(Operation.ADD, 2, NOISY)
    useful = tagged_nodes(subject, TINY).nodes
    left_out = {node for node in useful if node.layer == 1 and not node.is_mlp}
    assert left_out
    outcome = outcome_of("restoration", mapped(subject, useful - left_out), TINY)
    assert outcome.verdict is Verdict.SUPPORTED
    back = outcome.facts[0]
    told = [fact for fact in outcome.facts if "what" in fact.about]
    assert back.about["added"] == [str(node) for node in sorted(left_out)]
    assert back.effect.value == 1
    assert back.null.value < 0.5
    assert {fact.about["effect"]: fact.effect.value for fact in told} == {
        "it is read off their write": 1.0,
        "swapped together": 1.0,
        "swapped with all heads of their layers": 1.0,
    }
    assert all(fact.null.hits == 0 for fact in told if fact.about["null"] == "same carry")
    assert all(fact.null.value < 0.8 for fact in told if fact.about["null"] == "shuffled labels")
    assert "in 1.00 (shuffled labels 0." in outcome.says
    assert "they turn its digits in 1.00 (null 0.00)" in outcome.says


def test_the_curve_is_saved_as_facts() -> None:
    subject = planted_subject(Operation.ADD, 2, NOISY)
    useful = tagged_nodes(subject, TINY).nodes
    left_out = {node for node in useful if node.layer == 1 and not node.is_mlp}
    outcome = outcome_of("restoration", mapped(subject, useful - left_out), TINY)
    curve = [fact for fact in outcome.facts if "n_added" in fact.about]
    assert [fact.about["n_added"] for fact in curve] == [0, 1, 2, 5, 10, 20, 40]
    assert outcome.figure is not None
    best, random = outcome.figure.series
    assert best.y == tuple(fact.effect.value for fact in curve)
    assert random.y[1:] == tuple(fact.null.value for fact in curve[1:])
    assert curve[0].null.n == 0
    assert curve[0].effect.value < 0.9 <= curve[-1].effect.value


def test_a_complete_map_lacks_nothing() -> None:
    outcome = outcome_of("restoration", planted_subject(Operation.ADD, 2, NOISY), TINY)
    assert outcome.verdict is Verdict.UNTESTED
    assert "nothing is missing" in outcome.says


def test_a_map_that_lacks_nearly_all_is_not_restored_by_a_few() -> None:
    subject = planted_subject(Operation.ADD, 3)
    kept = sorted(tagged_nodes(subject, TINY).nodes)[:1]
    outcome = outcome_of("restoration", mapped(subject, kept), TINY)
    assert outcome.verdict is Verdict.REFUTED


def test_a_few_failures_are_too_few_to_test_and_not_nothing() -> None:
    right = np.arange(40) >= 3
    few = _Restored(Branch.ADD, _Curve(Fill.MEAN, (0, 1), [right, right], [right, right]), None, (Node(1, 0, 0),), [])
    assert "3 of 40 that fail are too few to test" in _says([few], Tagged({Node(0, 0, 0): 1}, "a map"))


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
    curve = _Curve(Fill.MEAN, (0, 10), best, null)
    row = _beside_curve(Branch.NEGATIVE, curve)
    assert (row.ours, row.agrees) == ("1.00 (random 0.50), none 0.50", True)
    assert _beside_curve(Branch.POSITIVE, _Curve(Fill.MEAN, (0, 10), null, null)).agrees is False
    few = _beside_curve(Branch.POSITIVE, _Curve(Fill.MEAN, (0,), [right | True], [right | True]))
    assert (few.ours, few.agrees) == ("1.00 with none added: too few fail", None)


def test_the_sign_is_looked_for_where_it_is_read_and_made() -> None:
    subject = planted_subject(Operation.SUB, 2)
    for place, whats in {
        "=": ["borrow into A1", "sign"],
        "D'1": ["sign by column 1"],
        "D'0": ["borrow of column 0"],
        "A2": ["borrow into A1"],
        "D1": [],
    }.items():
        assert [each.what for each in wanted_at(subject, Branch.NEGATIVE, subject.position(place))] == whats, place


def test_nodes_that_tell_the_sign_are_read_and_turn_it() -> None:
    subject = planted_subject(Operation.SUB, 2)
    at_equals = [node for node in subject.nodes_at(subject.position("=")) if not node.is_mlp]
    for branch in (Branch.POSITIVE, Branch.NEGATIVE):
        (sign,) = [told for told in told_by(subject, branch, at_equals, TINY) if told.what == "sign"]
        assert (sign.read.value, sign.together.effect.value, sign.together.null.hits) == (1.0, 1.0, 0)
        assert sign.shuffled.value < 0.8


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("restoration", untrained_subject(Operation.ADD), TINY).verdict is Verdict.UNTESTED


def test_random_additions_are_near_others_of_the_same_kind_and_layer() -> None:
    nodes = [Node.parse(name) for name in ("P3L0H0", "P3L0H1", "P8L1MLP")]
    random = np.random.default_rng(0)
    for _ in range(20):
        drawn = alike_nodes(nodes, all_nodes(11, 2, 2), 7, random)
        assert len(drawn) == len(nodes)
        assert Node.parse("P8L1MLP") not in drawn
        assert sorted((node.layer, node.is_mlp) for node in drawn) == [(0, False), (0, False), (1, True)]
        assert all(min(abs(node.position - other.position) for other in nodes) <= 2 for node in drawn)


def test_random_additions_come_from_further_where_nothing_is_near() -> None:
    far = [Node.parse(name) for name in ("P0L0H0", "P9L0H0", "P2L0MLP")]
    drawn = alike_nodes([Node.parse("P4L0H1")], far, 7, np.random.default_rng(0))
    assert drawn == (Node.parse("P0L0H0"),)


def test_the_writes_of_all_heads_add_up_to_what_the_layer_adds() -> None:
    model = untrained_subject(Operation.ADD, 2).model
    questions = Stream(StreamKind.NATURAL, Operation.ADD, 2, 3).take(0, 5)
    with torch.no_grad():
        _, cache = model.run_with_cache(torch.from_numpy(encode(questions, answers(questions))))
    heads = [Node(6, 1, head) for head in range(model.config.n_heads)]
    whole = cache["blocks.1.hook_attn_out"][:, 6] - model.get_parameter("blocks.1.attn.b_O").detach()
    both = whole + cache["blocks.0.hook_mlp_out"][:, 6]
    found = summed_writes(model, questions, [*heads, Node(6, 0, None)])
    np.testing.assert_allclose(found, both.double().numpy(), rtol=1e-4, atol=1e-6)
