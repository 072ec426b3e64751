"""Lenses: what they show of a plant, whose digits are made in the last layer, and of vectors made for them.

A plant guesses no sign before it has read both operands; a guess that is there is judged on counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from battery.plants import SMALL, outcome_of, planted_subject, subject_of, untrained_subject
from battery.ungated import ungated_subject
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.dictionary import best_units, correlation, fit_dictionary, random_dictionary
from carrylens.battery.first_guess import Guess, judge_guesses, sign_guesses
from carrylens.battery.lenses import Reading, judge_readings, judge_units, read_tokens
from carrylens.battery.outcome import Estimate
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import describe


def test_planted_digits_are_read_in_the_last_layer_of_their_place_alone() -> None:
    outcome = outcome_of("lenses", planted_subject(Operation.ADD, 2))
    read = {row[0]: row for row in outcome.rows if row[0].endswith("logit lens")}
    assert read["A1, logit lens"][1] == "A2, L1 behind MLP"
    assert read["A0, logit lens"][2] == "1.00"
    assert outcome.verdict is Verdict.SUPPORTED
    assert "Logit lens SUPPORTED" in outcome.says
    assert "autoencoder SUPPORTED" in outcome.says
    assert outcome.says.endswith("The verdict of the whole, SUPPORTED, rests on logit lens and autoencoder.")
    assert not any(row[0] == "sign guessed" for row in outcome.rows)
    assert outcome.figure is not None
    assert [each.label for each in outcome.figure.series][:2] == ["digits A2 to A1", "digits A0 to A0"]
    explained, active = outcome.estimates[-2:]
    assert explained.low > 0.5 > explained.null_high
    assert active.name == "active features of 172, beside neurons"
    assert 0 < active.value < 172 / 4


def test_digits_that_are_there_before_an_idle_last_layer_refute_the_whole() -> None:
    outcome = outcome_of("lenses", subject_of(replace(describe(Operation.ADD, 2), n_layers=3)))
    assert outcome.verdict is Verdict.REFUTED
    assert "autoencoder SUPPORTED" in outcome.says
    assert outcome.says.endswith("The verdict of the whole, REFUTED, rests on logit lens.")


def test_what_is_read_is_kept_for_every_place_and_level() -> None:
    subject = planted_subject(Operation.ADD, 2)
    outcome = outcome_of("lenses", subject)
    facts = [fact for fact in outcome.facts if fact.about["token"] == "A0"]
    places = {fact.about["place"] for fact in facts}
    assert places == {subject.place(at) for at in range(subject.position("D'0"), subject.predicting(0) + 1)}
    assert len(facts) == 2 * 2 * len(places)
    read = {(fact.about["place"], fact.about["level"]): fact.effect.value for fact in facts}
    assert read["A1", 3] == 1.0
    assert max(value for where, value in read.items() if where != ("A1", 3)) < 0.5


def test_a_plant_guesses_no_sign() -> None:
    outcome = outcome_of("lenses", planted_subject(Operation.SUB, 2))
    assert "sign SUPPORTED" not in outcome.says
    assert outcome.figure is not None
    assert outcome.figure.series[0].label == "sign"
    sign = [fact for fact in outcome.facts if fact.about.get("token") == "A3" and fact.about["place"] == "="]
    assert outcome.figure.series[0].y == tuple(fact.effect.value for fact in sign)
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
    right = ((Rate(40, 40),),)
    late, early = (Reading("A1", ("A2",), right, right, 0.1, ("A2", "L1 behind MLP"), soon) for soon in (False, True))
    assert judge_readings([late]) is Verdict.SUPPORTED
    assert judge_readings([late, early]) is Verdict.REFUTED
    more, less = Estimate("", 0.6, 0.58, 0.62, 0.4, 0.38, 0.42, 9), Estimate("", 0.3, 0.28, 0.32, 0.4, 0.38, 0.42, 9)
    assert judge_units([more]) is Verdict.SUPPORTED
    assert judge_units([more, less]) is Verdict.REFUTED
    best, chance = Rate(300, 400), Rate(210, 400)
    assert judge_guesses([Guess("D5", Rate(296, 400), chance, best, Rate(0, 19))]) is Verdict.SUPPORTED
    assert judge_guesses([Guess("D5", Rate(205, 400), chance, best, Rate(9, 19))]) is Verdict.REFUTED
    assert judge_guesses([Guess("D5", Rate(296, 400), chance, best, Rate(1, 19))]) is Verdict.INCONCLUSIVE
    assert judge_guesses([]) is Verdict.UNTESTED


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("lenses", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def test_an_autoencoder_rebuilds_what_it_was_fitted_to_and_not_what_was_shuffled() -> None:
    (fit, _), (test, _) = superposed(1), superposed(2)
    ours, mixed = fit_dictionary(fit, 32, 3), np.random.default_rng(1).permuted(test, axis=0)
    left = [ours.errors(each).sum() / ((each - ours.mean) ** 2).sum() for each in (test, mixed)]
    assert left[0] < 0.4
    assert left[1] > left[0] + 0.1


def test_in_untrained_weights_nothing_is_read_and_no_sign_guessed() -> None:
    subject = ungated_subject(Operation.MIX)
    asked = Stream(StreamKind.NATURAL, Operation.MIX, 3, 1).take(0, 200)
    assert [each.onset for each in read_tokens(subject, asked, SMALL)] == [None] * 5
    assert judge_guesses(sign_guesses(subject, SMALL)) is not Verdict.SUPPORTED
