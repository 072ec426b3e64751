"""Lenses: what they show of a plant, whose digits are made in the last layer, and of vectors made for them.

A plant guesses no sign before it has read both operands; a guess that is there is judged on counts.
"""

from __future__ import annotations

import numpy as np

from battery.plants import outcome_of, planted_subject, untrained_subject
from carrylens.arithmetic.questions import Operation
from carrylens.battery.dictionary import best_units, correlation, fit_dictionary, random_dictionary
from carrylens.battery.first_guess import Guess, judge_guesses
from carrylens.battery.lenses import Reading, judge_readings, judge_units
from carrylens.battery.outcome import Estimate
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict


def test_planted_digits_are_read_in_the_last_layer_of_their_place_alone() -> None:
    outcome = outcome_of("lenses", planted_subject(Operation.ADD, 2))
    read = {row[0]: row for row in outcome.rows if row[0].endswith("logit lens")}
    assert read["A1, logit lens"][1] == "A2, L1 behind MLP"
    assert read["A0, logit lens"][2] == "1.00"
    assert "Logit lens SUPPORTED" in outcome.says
    assert not any(row[0] == "sign guessed" for row in outcome.rows)


def test_a_plant_guesses_no_sign() -> None:
    outcome = outcome_of("lenses", planted_subject(Operation.SUB, 2))
    assert "sign SUPPORTED" not in outcome.says
    assert outcome.verdict is not Verdict.SUPPORTED


def superposed(seed: int, n: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    on = random.random((n, 24)) < 0.05
    directions = np.random.default_rng(0).standard_normal((24, 16))
    return (on @ directions).astype(np.float32), on


def test_features_tell_what_is_superposed_better_than_random_directions() -> None:
    (fit, labels), (test, truth) = superposed(1), superposed(2)
    every = np.arange(len(test))
    scores: dict[str, list[float]] = {"ours": [], "chance": []}
    for seed in (3, 4, 5):
        for name, make in (("ours", fit_dictionary), ("chance", random_dictionary)):
            made = make(fit, 32, seed)
            units = best_units(made.features(fit), labels, made.features(test))
            scores[name].append(correlation(units, truth, every))
    assert min(scores["ours"]) > max(scores["chance"])
    noise = [np.random.default_rng(seed).random(truth.shape) < 0.1 for seed in (4, 5)]
    ours = fit_dictionary(fit, 32, 3)
    assert abs(correlation(best_units(ours.features(fit), noise[0], ours.features(test)), noise[1], every)) < 0.1


def test_each_part_can_come_out_either_way() -> None:
    right = (Rate(40, 40),)
    late, early = (Reading("A1", right, right, 0.1, ("A2", "L1 behind MLP"), soon) for soon in (False, True))
    assert judge_readings([late]) is Verdict.SUPPORTED
    assert judge_readings([late, early]) is Verdict.REFUTED
    more, less = Estimate("", 0.6, 0.58, 0.62, 0.4, 0.38, 0.42, 9), Estimate("", 0.3, 0.28, 0.32, 0.4, 0.38, 0.42, 9)
    assert judge_units([more]) is Verdict.SUPPORTED
    assert judge_units([more, less]) is Verdict.REFUTED
    best, chance = Rate(300, 400), Rate(210, 400)
    assert judge_guesses([Guess("D5", Rate(296, 400), chance, best)]) is Verdict.SUPPORTED
    assert judge_guesses([Guess("D5", Rate(205, 400), chance, best)]) is Verdict.REFUTED
    assert judge_guesses([]) is Verdict.UNTESTED


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("lenses", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
