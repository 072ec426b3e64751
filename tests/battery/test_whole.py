"""The whole algorithm: exact on planted circuits, beaten by the rival where the rival was planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from battery.plants import SMALL, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import Operation
from carrylens.battery.alignment import Moved, predict, random_pairs, sites_of
from carrylens.battery.outcome import Outcome
from carrylens.discovery.swaps import answer_tokens
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Dials, one_layer


def held(outcome: Outcome, site: str) -> str:
    return next(row[1] for row in outcome.rows if row[0] == site)


FEW = replace(SMALL, n_draws=8)


def test_a_planted_algorithm_predicts_every_answer() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.SUB, 2), FEW)
    assert outcome.verdict is Verdict.SUPPORTED
    assert outcome.facts[0].effect.value == 1
    assert outcome.facts[0].null.value < 0.5
    assert held(outcome, "D'0") == "MB[0], NB[0]"


def test_values_held_a_place_late_are_found_there() -> None:
    outcome = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2, Dials(delay=1)), FEW)
    assert outcome.facts[0].effect.value == 1
    assert held(outcome, "D'0") == "ST[1]"


def test_scrubbing_keeps_the_answer_and_scrambling_loses_it() -> None:
    scrubbed = outcome_of("whole-algorithm", planted_subject(Operation.ADD, 2), FEW).facts[-1]
    assert scrubbed.effect.value == 1
    assert scrubbed.null.value < 0.2


def test_a_planted_rival_beats_the_left_to_right_account() -> None:
    outcome = outcome_of("whole-algorithm", subject_of(one_layer(3)), FEW)
    assert outcome.verdict is Verdict.REFUTED
    duel = next(fact for fact in outcome.facts if fact.about.get("against") == "one-layer add")
    assert duel.null.hits == duel.effect.n
    assert duel.effect.hits == 0


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("whole-algorithm", untrained_subject(Operation.ADD, 2), FEW).verdict is Verdict.UNTESTED


def test_a_site_that_holds_nothing_predicts_the_right_answer() -> None:
    subject = planted_subject(Operation.ADD, 2)
    model = algorithm(Operation.ADD, 2)
    base, (source,) = random_pairs(Operation.ADD, 2, 16, 1, seed=4)
    moved = [Moved(sites_of(subject)[0], (), model.run(source))]
    assert np.array_equal(predict(model, base, model.run(base), moved), answer_tokens(base))
