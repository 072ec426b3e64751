"""Probes and axes: what can be read of a carry, where it was planted, and what merely looks shared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.algorithms import answers, subtasks
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.axes import SHARED, Turned, angles, judge_angles
from carrylens.battery.columns import Branch, own_carry, pure_pairs
from carrylens.battery.probes import fit_probe
from carrylens.battery.states import levels_of, read_hooks
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Dials, Timing
from carrylens.tokens import encode


def test_a_carry_resolved_at_the_answer_is_read_there_first() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3))
    assert outcome.verdict is Verdict.SUPPORTED
    assert [row[1:5] for row in outcome.rows] == [
        ("A3", "L1 behind heads", "3", "A3"),
        ("A4", "L1 behind heads", "2", "A4"),
    ]


def test_a_carry_resolved_at_the_tail_is_read_too_early() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)))
    assert outcome.verdict is Verdict.REFUTED
    assert {row[1] for row in outcome.rows} == {"="}
    assert {row[3] for row in outcome.rows} == {"1"}


def test_reading_a_few_places_agrees_with_a_full_pass() -> None:
    subject, places = untrained_subject(Operation.MIX), [9, 4]
    asked = Stream(StreamKind.NATURAL, Operation.MIX, 3, 1).take(0, 9)
    hooks = [*levels_of(2), "blocks.0.hook_resid_pre", "blocks.1.hook_resid_pre", "blocks.1.mlp.hook_post"]
    read = read_hooks(subject.model, asked, places, hooks)
    _, cache = subject.model.run_with_cache(torch.from_numpy(encode(asked, answers(asked))))
    for hook, mine in zip(hooks, read, strict=True):
        assert np.allclose(mine, cache[hook][:, places].detach().numpy(), atol=1e-5)


def test_a_probe_finds_a_direction_and_not_noise() -> None:
    random = np.random.default_rng(1)
    labels = random.choice((-1.0, 1.0), 400)
    states = random.standard_normal((400, 12))
    states[:, 3] += 4 * labels
    probe = fit_probe(states[:200], labels[:200])
    assert probe.right(states[200:], labels[200:]).mean() > 0.97
    noise = random.standard_normal((400, 12))
    assert abs(fit_probe(noise[:200], labels[:200]).right(noise[200:], labels[200:]).mean() - 0.5) < 0.15


@pytest.mark.parametrize("branch", list(Branch))
def test_pure_pairs_turn_one_branch_alone(branch: Branch) -> None:
    pairs = pure_pairs(branch, 4, 3, 1, 30, seed=2)
    assert len(pairs) == 30
    base, source = subtasks(pairs.base), subtasks(pairs.source)
    for each in Branch:
        differs = base[each.resolved[2]] != source[each.resolved[2]]
        assert differs.all() if each is branch else not differs.any()
    assert np.array_equal(own_carry(pairs, pairs.source), source[branch.resolved[2]])


def test_borrows_of_two_heads_look_shared_only_when_they_turn_together() -> None:
    outcome = outcome_of("axes", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is not Verdict.SUPPORTED
    shown = {row[1]: float(row[2].split()[0]) for row in outcome.rows}
    assert shown[f"{SHARED}, turned together"] > 0.85
    assert shown[SHARED] < 0.7


def turned(direction: np.ndarray, seed: int) -> Turned:
    random = np.random.default_rng(seed)
    return Turned(direction + 0.1 * random.standard_normal((60, 20)), 0.1 * random.standard_normal((60, 20)))


def test_a_shared_borrow_axis_is_supported_and_one_axis_for_all_is_not() -> None:
    one, other = np.eye(20)[:2]
    shared = {Branch.ADD: turned(one, 1), Branch.POSITIVE: turned(other, 2), Branch.NEGATIVE: turned(other, 3)}
    assert judge_angles(angles(2, shared, SMALL)) is Verdict.SUPPORTED
    same = {branch: turned(one, seed) for seed, branch in enumerate(Branch)}
    assert judge_angles(angles(2, same, SMALL)) is Verdict.REFUTED
    apart = {branch: turned(np.eye(20)[seed], seed) for seed, branch in enumerate(Branch)}
    assert judge_angles(angles(2, apart, SMALL)) is Verdict.REFUTED


@pytest.mark.parametrize("name", ["probes", "axes"])
def test_untrained_weights_are_not_tested(name: str) -> None:
    assert outcome_of(name, untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def test_a_model_that_only_adds_has_no_axes_to_compare() -> None:
    assert outcome_of("axes", planted_subject(Operation.ADD, 2)).verdict is Verdict.UNTESTED
