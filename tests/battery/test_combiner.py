"""The combiner: steps are told from lines, on curves whose truth is known and on plants of both outcomes."""

from __future__ import annotations

import numpy as np

from battery.plants import outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.questions import Operation
from carrylens.battery.combiner import LINE_WIDTH, SHARES, fit_curves
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Dials


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
    turned = [fact for fact in outcome.facts if fact.about["effect"] == "the digit turns"]
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in turned)


def test_a_plant_whose_copies_vote_has_one() -> None:
    outcome = outcome_of("combiner", planted_subject(Operation.ADD, 2, Dials(redundancy=3)))
    assert outcome.verdict is Verdict.SUPPORTED
    width = next(each for each in outcome.estimates if "width of the logit" in each.name)
    assert width.high < LINE_WIDTH / 2


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("combiner", untrained_subject(Operation.ADD)).verdict is Verdict.UNTESTED
