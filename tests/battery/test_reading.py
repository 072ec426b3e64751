"""Probes and axes: what can be read of a carry, where it was planted, and what merely looks shared."""

from __future__ import annotations

from copy import deepcopy

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
from carrylens.battery.subject import Subject
from carrylens.hypothesis.verdicts import Verdict
from carrylens.model.transformer import Block
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


def leaning_borrows(cos: float) -> Subject:
    """A plant of the same function in which the negative borrow's direction has that cosine with the positive one's.

    The last layer's heads write the carries along other directions, and the last MLP reads them accordingly.
    """
    plain = planted_subject(Operation.MIX, 2)
    model = deepcopy(plain.model)
    block = model.blocks[-1]
    assert isinstance(block, Block)
    writes = block.attn.W_O.detach()
    carries, (positive,), (negative,) = ([row for row in writes[head] if row.norm() > 0] for head in range(3))
    every = [*carries, positive, negative]

    def apart(way: torch.Tensor) -> torch.Tensor:
        left = way - (way @ positive) / (positive @ positive) * positive
        return left * (way.norm() / left.norm())

    ways = [(way, apart(way)) for way in carries]
    ways.append((negative, cos * positive + (1 - cos**2) ** 0.5 * apart(negative)))
    turn = torch.eye(len(positive))
    for way, other in ways:
        own = next(int(i) for i in way.nonzero() if all(each[i] == 0 for each in every if each is not way))
        turn[:, own] += (other - way) / way[own]
    block.attn.W_O.data = writes @ turn.T
    block.mlp.W_in.data = torch.linalg.inv(turn).T @ block.mlp.W_in.detach()
    return Subject("leaning", model, Operation.MIX)


def test_planted_borrows_that_share_an_axis_are_told_from_those_that_do_not() -> None:
    asked = Stream(StreamKind.ENRICHED, Operation.MIX, 2, 1).take(0, 200)
    for cos, verdict in ((0.95, Verdict.SUPPORTED), (0.0, Verdict.REFUTED)):
        subject = leaning_borrows(cos)
        assert subject.right(asked).all()
        outcome = outcome_of("axes", subject)
        assert outcome.verdict is verdict
        found = {row[1]: float(row[2].split()[0]) for row in outcome.rows}
        assert (found[SHARED] > 0.7) == (verdict is Verdict.SUPPORTED)
        assert max(found["add-positive"], found["add-negative"]) < 0.5


def test_a_source_that_changes_nothing_is_no_direction() -> None:
    one, other = turned(np.eye(20)[0], 1), turned(np.eye(20)[0], 2)
    still = Turned(other.effect, 1e-7 * other.effect, other.unrelated)
    both = {Branch.ADD: turned(np.eye(20)[1], 3), Branch.POSITIVE: one, Branch.NEGATIVE: still}
    shared = next(angle for angle in angles(2, both, SMALL) if angle.name == SHARED)
    assert shared.cos.null_high < 0.01


def turned(direction: np.ndarray, seed: int) -> Turned:
    random = np.random.default_rng(seed)
    noise = 0.1 * random.standard_normal((3, 60, 20))
    return Turned(direction + noise[0], noise[1], noise[2])


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
