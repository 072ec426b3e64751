"""The combiner: steps are told from lines, on curves whose truth is known and on plants of both outcomes."""

from __future__ import annotations

import numpy as np
import pytest

from arithmetic.battery.plants import outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.battery.combiner.curve_fits import LINE_WIDTH, SHARES, fit_curves, stray_steps
from carrylens.arithmetic.battery.combiner.mlp_input import move_input, permuted, read_input
from carrylens.arithmetic.battery.combiner.summarise import DIGIT_TURNS, LOGIT_WIDTH
from carrylens.arithmetic.battery.measures.combiner_layer import senders
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.interventions.edits import edge


def test_a_line_with_noise_is_no_step() -> None:
    random = np.random.default_rng(0)
    noise = 0.02 * random.standard_normal((200, len(SHARES))) * (SHARES > 0) * (SHARES < 1)
    fit = fit_curves(SHARES + noise)
    assert fit.is_step.mean() < 0.02
    assert abs(np.median(fit.width) - LINE_WIDTH) < 0.1


def test_a_step_is_found_where_it_was_made() -> None:
    for threshold in (0.3, 0.5, 0.75):
        curves = 1 / (1 + np.exp(-40 * (SHARES - threshold)))[None]
        fit = fit_curves(curves)
        assert fit.is_step.all()
        assert abs(fit.threshold[0] - threshold) <= 0.05
        assert fit.width[0] < 0.2


def test_a_plant_that_adds_in_proportion_has_no_step() -> None:
    outcome = outcome_of("combiner", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.REFUTED
    turned = [fact for fact in outcome.facts if fact.about["effect"] == DIGIT_TURNS]
    assert all(fact.effect.value == 1 for fact in turned)
    assert all(fact.null.hits == 0 for fact in turned if "same carry" in str(fact.about["null"]))
    assert all(fact.null.value < 0.5 for fact in turned)


def test_a_plant_whose_copies_vote_has_one() -> None:
    outcome = outcome_of("combiner", planted_subject(Operation.ADD, 2, Dials(redundancy=3)))
    assert outcome.verdict is Verdict.SUPPORTED
    width = next(each for each in outcome.estimates if LOGIT_WIDTH in each.name)
    assert width.high < LINE_WIDTH / 2


@pytest.mark.parametrize("layer", [0, 1])
def test_moving_the_input_by_hand_agrees_with_the_engine(layer: int) -> None:
    subject, digit = untrained_subject(Operation.MIX), 2
    pairs = deciding_pairs(Branch.POSITIVE, 3, digit, 0, 12, seed=3)
    place, token = subject.predicting(digit), subject.token(digit)
    base, source = (read_input(subject, place, layer, side) for side in (pairs.base, pairs.source))
    moved = move_input(subject, base, source.written - base.written, np.array([0.4, 1.0]))
    hook = f"blocks.{layer}.hook_mlp_out"
    edits = [edge(senders(subject, place, layer), f"P{place}L{layer}MLP", share=share) for share in (0.4, 1.0)]
    outcomes = subject.engine.run(edits, pairs.base, pairs.source, logits=True, keep=[hook])
    kept = outcomes.activations[hook]
    assert outcomes.logits is not None
    assert np.allclose(moved.logits, outcomes.logits[:, :, token], atol=1e-5)
    assert np.allclose(moved.output, kept.values[:, :, place - kept.positions.start], atol=1e-5)
    assert not np.allclose(moved.logits[0], moved.logits[1], atol=1e-3)


def test_a_permuted_direction_has_the_length_of_the_first_and_not_its_way() -> None:
    random = np.random.default_rng(2)
    ways = random.standard_normal((50, 30))
    others = permuted(ways, random)
    assert np.allclose(np.linalg.norm(ways, axis=1), np.linalg.norm(others, axis=1))
    assert np.abs((ways * others).sum(1) / (ways**2).sum(1)).mean() < 0.3


def test_a_null_steps_only_if_it_goes_half_of_the_way() -> None:
    step = 1 / (1 + np.exp(-40 * (SHARES - 0.5)))
    assert list(stray_steps(np.stack([step, 0.6 * step, 0.3 * step, -step, SHARES]))) == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_plant_turns_along_its_carry_and_seldom_along_a_permuted_direction() -> None:
    outcome = outcome_of("combiner", planted_subject(Operation.ADD, 2, Dials(redundancy=3)))
    stray = [fact for fact in outcome.facts if "permuted" in str(fact.about["null"])]
    assert len(stray) == 3
    assert all(fact.effect.value == 1 and fact.null.value < 0.1 for fact in stray)
    change = next(each for each in outcome.estimates if "permuted" in each.name)
    assert change.null_high < change.low


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("combiner", untrained_subject(Operation.ADD)).verdict is Verdict.UNTESTED
