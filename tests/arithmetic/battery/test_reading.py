"""Probes and axes: what can be read of a carry, where it was planted, and what merely looks shared."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.algorithms import answers, subtasks
from carrylens.arithmetic.battery import early_readings
from carrylens.arithmetic.battery.axes import SHARED, Turned, angles, judge_angles
from carrylens.arithmetic.battery.carry_probes import first_places, read_carry
from carrylens.arithmetic.battery.columns import Branch, own_carry, pure_pairs
from carrylens.arithmetic.battery.early_readings import PLANE, WHOLE, early_reading
from carrylens.arithmetic.battery.probes import asked_for, fit_probe, untrained_twin
from carrylens.arithmetic.battery.states import levels_of, read_hooks
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.planted.dials import Dials, Timing
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.tokens import encode
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.model.transformer import Block


def test_a_carry_resolved_at_the_answer_is_read_there_first() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3))
    assert outcome.verdict is Verdict.SUPPORTED
    assert [row[1:5] for row in outcome.rows] == [
        ("A3", "L1 behind heads", "3", "A3"),
        ("A4", "L1 behind heads", "2", "A4"),
    ]
    lags = {each.name.split()[2]: each for each in outcome.estimates if each.name.startswith("lag of")}
    assert lags["SV[2]"].low <= lags["SV[2]"].value == lags["SV[2]"].high == 2
    assert (lags["SV[1]"].value, lags["SV[1]"].null) == (3, 4)  # the twin has not read it by its reader's place
    pooled, *each = (one for one in outcome.estimates if "separation" in one.name)
    assert pooled.name == "carry-axis separation at 3 digits, add"
    assert np.isclose(pooled.value, np.mean([one.value for one in each]))
    assert pooled.low > pooled.null_high


def test_transfers_are_facts_that_count_each_question_once_beside_measured_nulls() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.ADD, 3))
    asked = {str(fact.about["carry"]): fact.effect.n for fact in outcome.facts if "position" in fact.about}
    moved = [fact for fact in outcome.facts if "transfer" in fact.about]
    assert [fact.about["null"] for fact in moved] == ["shuffled labels", "untrained twin"] * 2
    across, deeper = moved[0], moved[2]
    assert "probe" in across.about
    assert across.effect.n == across.null.n == sum(asked.values())
    assert deeper.about["carry"] == "SV[2]"
    assert deeper.effect.n == deeper.null.n == asked["SV[2]"] // 3
    for fact in (across, deeper):
        assert fact.effect.value == 1.0
        assert fact.p < 1e-4
        assert fact.null.hits != fact.null.n // 2  # counted, not supposed


def test_the_paper_gives_no_lag_of_a_borrow() -> None:
    outcome = outcome_of("probes", planted_subject(Operation.SUB, 5), replace(SMALL, n_draws=1, n_train=96))
    (lag,) = (each for each in outcome.beside_paper if each.what.startswith("lag of MV"))
    assert lag.agrees is None


def test_the_first_place_is_found_again_in_resampled_questions() -> None:
    random = np.random.default_rng(3)
    truth = np.stack([random.random((200, 2)) < rate for rate in (0.5, 0.94, 1.0)], axis=1)
    twin = random.random((200, 3, 2)) < 0.5
    never = np.zeros_like(truth)
    weights = random.multinomial(200, np.full(200, 1 / 200), size=300)
    found = first_places(truth, twin, weights)
    assert set(found) == {1, 2}  # a place that is nine of ten in some samples and not in others
    assert set(first_places(truth, truth, weights)) == {3}
    assert set(first_places(never, twin, weights)) == {3}
    sure = np.stack([truth[:, 0], truth[:, 2]], axis=1)
    assert set(first_places(sure, twin[:, :2], weights)) == {1}


def test_probes_of_untrained_weights_read_no_more_than_those_of_a_twin() -> None:
    outcome = outcome_of("probes", ungated_subject(Operation.MIX))
    assert {row[1] for row in outcome.rows} == {"none"}
    twins = [fact for fact in outcome.facts if fact.about["null"] == "untrained twin"]
    assert min(holm([fact.p for fact in twins])) > THRESHOLDS.level
    for each in outcome.estimates:
        assert each.low <= each.null_high


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
    assert block.mlp is not None
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
        along = [
            f for f in outcome.facts if {f.about["pairs of"], f.about["along the axis of"]} == set(SHARED.split("-"))
        ]
        assert len(along) == 2
        assert all((fact.p < 1e-6) == (verdict is Verdict.SUPPORTED) for fact in along)
        assert not outcome.beside_paper  # the paper's figures are of 6 digits


def test_all_principal_angles_are_given_beside_those_of_unrelated_differences() -> None:
    random, directions = np.random.default_rng(5), np.eye(20)

    def spread(*rows: int) -> Turned:
        mixed = random.standard_normal((80, len(rows))) @ directions[list(rows)]
        noise = random.standard_normal((80, 20))
        return Turned(mixed + 5 * directions[rows[0]], 0.1 * noise, noise)

    three = {Branch.ADD: spread(5, 6, 7), Branch.POSITIVE: spread(0, 1, 2), Branch.NEGATIVE: spread(0, 1, 3)}
    found = {angle.name: angle.principal for angle in angles(2, three, SMALL)}
    assert [round(each.value, 2) for each in found[SHARED]] == [1.0, 1.0, 0.0]
    assert [round(each.value, 2) for each in found["add-positive"]] == [0.0, 0.0, 0.0]
    assert all(each.null_high < 0.95 for each in found[SHARED])
    one = {
        branch: Turned(np.outer(np.ones(40), directions[0]), three[branch].null, three[branch].null)
        for branch in Branch
    }
    assert [len(angle.principal) for angle in angles(2, one, SMALL)] == [1, 1, 1]  # rounding spans nothing


def test_untrained_weights_have_no_shared_axis() -> None:
    outcome = outcome_of("axes", ungated_subject(Operation.MIX))
    assert outcome.verdict is not Verdict.SUPPORTED
    assert min(holm([fact.p for fact in outcome.facts])) > THRESHOLDS.level
    assert all(each.low <= each.null_high for each in outcome.estimates if each.name.startswith("|cos|"))


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


def test_what_is_read_early_is_used_where_the_plant_uses_it() -> None:
    tail = outcome_of("probes", planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)))
    swapped = {str(fact.about["swapped"]): fact for fact in tail.facts if "swapped" in fact.about}
    assert swapped.keys() == {PLANE, WHOLE}
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in swapped.values())
    plain = outcome_of("probes", planted_subject(Operation.ADD, 3))
    assert not [fact for fact in plain.facts if "swapped" in fact.about]


def test_a_plane_that_says_nothing_of_the_carry_turns_nothing() -> None:
    subject, column = planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL)), 1
    asked = asked_for(subject, Branch.ADD, column, SMALL)
    carry = read_carry(subject, untrained_twin(subject, SMALL), Branch.ADD, column, asked, SMALL)
    reading = early_reading(subject, carry, asked, SMALL)
    assert reading is not None
    random = np.linalg.qr(np.random.default_rng(1).standard_normal((subject.model.config.d_model, 2)))[0].T
    other = early_readings._swapped(subject, carry, reading.site, random, SMALL)
    assert reading.plane.effect.value == other.whole.effect.value == 1
    assert other.plane.effect.interval[1] < reading.plane.effect.interval[0]
