"""Lenses: what they show of a plant, whose digits are made in the last layer, and of vectors made for them.

A plant guesses no sign before it has read both operands; one whose digits write a guess into the stream does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, subject_of, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.findings import ChosenWord, Unsettled
from carrylens.arithmetic.battery.outcome import Estimate, Outcome
from carrylens.arithmetic.battery.readouts import feature_units as units
from carrylens.arithmetic.battery.readouts.feature_units import Mlps, UnitComparison, compare_units, judge_units
from carrylens.arithmetic.battery.readouts.findings import LAST_LAYER, findings_of
from carrylens.arithmetic.battery.readouts.sign_guess import SignGuess, judge_guesses, sign_guesses
from carrylens.arithmetic.battery.readouts.sparse_dictionary import (
    SparseDictionary,
    Vectors,
    best_units,
    correlation,
    fit_dictionary,
    random_dictionary,
)
from carrylens.arithmetic.battery.readouts.token_readings import TokenReading, judge_readings, read_tokens
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import MINUS, PLUS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate


@cache
def planted_adder() -> Outcome:
    return outcome_of("lenses", planted_subject(Operation.ADD, 2))


@pytest.fixture
def one_rung(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what is not about the ladder: fits take their time."""
    monkeypatch.setattr(units, "LADDER", (0.3,))
    monkeypatch.setattr(units, "FIT_SEEDS", {True: 1})


def test_planted_digits_are_read_in_the_last_layer_of_their_place_alone() -> None:
    outcome = planted_adder()
    read = {row[0]: row for row in outcome.rows if row[0].endswith("logit lens")}
    assert read["A1, logit lens"][1] == "A2, L1 behind MLP"
    assert read["A0, logit lens"][2] == "1.00"
    assert outcome.verdict is Verdict.INCONCLUSIVE
    readings, _, features = findings_of(outcome)
    assert readings.value == ChosenWord(LAST_LAYER)
    assert features.value is Unsettled.OPEN
    assert not any(row[0] == "sign guessed" for row in outcome.rows)
    assert outcome.figure is not None
    assert [each.label for each in outcome.figure.series][:2] == ["digits A2 to A1", "digits A0 to A0"]


def test_what_features_tell_at_one_sparsity_alone_is_not_supported() -> None:
    # The planted adder's features beat random directions while they are hardly sparse, and not when they are.
    values = [each for each in planted_adder().estimates if each.name.startswith("correlation of features")]
    assert [each.name.split(",")[0].split()[-1] for each in values] == ["0.3", "0.3", "1", "1", "3", "3"]
    assert judge_units(values[:2]) is Verdict.SUPPORTED
    assert judge_units(values) is Verdict.INCONCLUSIVE


def test_every_sparsity_says_how_many_features_are_active_and_what_they_rebuild() -> None:
    outcome = planted_adder()
    rebuilt = [each for each in outcome.estimates if each.name.startswith("variance explained")]
    active = [each for each in outcome.estimates if each.name.startswith("active features of 172")]
    assert all(each.low > 0.5 > each.null_high for each in rebuilt)
    assert len(active) == 3
    assert 172 / 4 > active[0].value > 1.5 * active[1].value > 2 * active[2].value > 0


def told(monkeypatch: pytest.MonkeyPatch, subject: Subject, *, one_site: bool) -> UnitComparison:
    """The comparison for the planted circuit's column 1, or with values superposed at one site and neurons mixed."""

    def superposed_values(_subject: Subject, questions: Questions, places: Sequence[int]) -> Mlps:
        values = units.value_labels(questions, Branch.ADD, 1).astype(np.float32)
        random = np.random.default_rng(0)
        bits = np.random.default_rng(len(questions) + int(values.sum())).random((len(values), 20)) < 0.1
        sparse = np.concatenate([values, bits], axis=1, dtype=np.float32)
        outs = sparse @ random.standard_normal((sparse.shape[1], 40)).astype(np.float32)
        neurons = np.maximum(outs @ random.standard_normal((40, 60)).astype(np.float32), 0)
        nothing = (0 * outs, 0 * neurons)
        return {
            (layer, at): (outs, neurons) if (layer, at) == (0, places[0]) else nothing
            for layer in (0, 1)
            for at in places
        }

    if one_site:
        monkeypatch.setattr(units, "mlp_writes", superposed_values)
    fit, test = (some_sums(seed) for seed in (1, 2))
    return compare_units(ExperimentContext(subject, SMALL), fit, test)


def some_sums(seed: int) -> dict[Branch, Questions]:
    return {Branch.ADD: Population(PopulationKind.NATURAL, Operation.ADD, 2).draw(seed, 0, 1000)}


def test_features_of_superposed_values_tell_more_at_every_sparsity(monkeypatch: pytest.MonkeyPatch) -> None:
    found = told(monkeypatch, planted_subject(Operation.ADD, 2), one_site=True)
    assert len(found.values) == 6
    assert judge_units(found.values) is Verdict.SUPPORTED


def test_features_of_mlps_that_keep_to_themselves_what_they_know_tell_less_than_neurons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every neuron of the planted circuit is there, but only one that is hardly ever on still writes.
    monkeypatch.setattr(units, "FIT_SEEDS", {True: 1})
    subject = subject_of(describe(Operation.ADD, 2))
    place = subject.predicting(1)
    neurons = units.mlp_writes(subject, some_sums(3)[Branch.ADD], [place])[0, place][1]
    often = (neurons > 0).mean(0)
    seldom = int(np.where(often > 0.01, often, 1).argmin())
    with torch.no_grad():
        for layer in (0, 1):
            weight = subject.model.get_parameter(f"blocks.{layer}.mlp.W_out")
            weight[[at for at in range(len(weight)) if (layer, at) != (0, seldom)]] = 0
    found = told(monkeypatch, subject, one_site=False)
    assert judge_units(found.values) is Verdict.REFUTED


def test_an_interval_reaches_over_all_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second seed's fit fails: its features are random directions.
    fails = iter([False, True])

    def fit(vectors: Vectors, n: int, seed: int, sparsity: float) -> SparseDictionary:
        return random_dictionary(vectors, n, seed) if next(fails) else fit_dictionary(vectors, n, seed, sparsity)

    monkeypatch.setattr(units, "LADDER", (0.3,))
    monkeypatch.setattr(units, "fit_dictionary", fit)
    (rung,) = told(monkeypatch, planted_subject(Operation.ADD, 2), one_site=True).rungs
    beside = rung.random
    assert beside.low < beside.null_high
    assert beside.null_high < beside.value < beside.high - 0.05
    assert judge_units([beside]) is Verdict.INCONCLUSIVE


@pytest.mark.usefixtures("one_rung")
def test_digits_that_are_there_before_an_idle_last_layer_refute_the_whole() -> None:
    outcome = outcome_of("lenses", subject_of(replace(describe(Operation.ADD, 2), n_layers=3)))
    assert outcome.verdict is Verdict.REFUTED
    readings, _, features = findings_of(outcome)
    assert readings.value == ChosenWord("before")
    assert features.value == ChosenWord("yes")


def test_what_is_read_is_kept_for_every_place_and_level() -> None:
    subject = planted_subject(Operation.ADD, 2)
    outcome = planted_adder()
    facts = [fact for fact in outcome.facts if fact.about["token"] == "A0"]
    places = {fact.about["place"] for fact in facts}
    assert places == {subject.place(at) for at in range(subject.position("D'0"), subject.predicting(0) + 1)}
    assert len(facts) == 2 * 2 * len(places)
    read = {(fact.about["place"], fact.about["level"]): fact.effect.value for fact in facts}
    assert read["A1", 3] == 1.0
    assert max(value for where, value in read.items() if where != ("A1", 3)) < 0.5


def test_digits_that_write_a_guess_into_the_stream_guess_the_sign() -> None:
    subject = subject_of(describe(Operation.SUB, 2))
    model = subject.model
    with torch.no_grad():  # too little to change an answer, whose votes are a hundred times as strong
        towards = model.unembed.W_U[:, MINUS] - model.unembed.W_U[:, PLUS]
        model.embed.W_E[:10] += 0.002 * (4.5 - torch.arange(10.0))[:, None] * towards / towards.norm()
    assert judge_guesses(sign_guesses(ExperimentContext(subject, SMALL))) is Verdict.SUPPORTED
    assert subject.right(Population(PopulationKind.NATURAL, Operation.SUB, 2).draw(1, 0, 200)).all()


@pytest.mark.usefixtures("one_rung")
def test_a_plant_guesses_no_sign() -> None:
    outcome = outcome_of("lenses", planted_subject(Operation.SUB, 2))
    assert judge_guesses(sign_guesses(ExperimentContext(planted_subject(Operation.SUB, 2), SMALL))) is Verdict.REFUTED
    assert outcome.figure is not None
    assert outcome.figure.series[0].label == "sign"
    sign = [fact for fact in outcome.facts if fact.about.get("token") == "A3" and fact.about["place"] == "="]
    assert outcome.figure.series[0].y == tuple(fact.effect.value for fact in sign)
    assert outcome.verdict is Verdict.REFUTED


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
        for name, made in (
            ("ours", fit_dictionary(fit, 32, seed, 0.3)),
            ("chance", random_dictionary(fit, 32, seed)),
        ):
            units = best_units(made.features(fit), labels, made.features(test))
            scores[name].append(correlation(units, truth, every))
    assert min(scores["ours"]) > max(scores["chance"])
    noise = [np.random.default_rng(seed).random(truth.shape) < 0.1 for seed in (4, 5)]
    ours = fit_dictionary(fit, 32, 3, 0.3)
    assert abs(correlation(best_units(ours.features(fit), noise[0], ours.features(test)), noise[1], every)) < 0.1


def test_each_part_can_come_out_either_way() -> None:
    right = ((Rate(40, 40),),)
    late, early = (
        TokenReading("A1", ("A2",), right, right, 0.1, ("A2", "L1 behind MLP"), soon) for soon in (False, True)
    )
    assert judge_readings([late]) is Verdict.SUPPORTED
    assert judge_readings([late, early]) is Verdict.REFUTED
    more, less = Estimate("", 0.6, 0.58, 0.62, 0.4, 0.38, 0.42, 9), Estimate("", 0.3, 0.28, 0.32, 0.4, 0.38, 0.42, 9)
    assert judge_units([more]) is Verdict.SUPPORTED
    assert judge_units([more, less]) is Verdict.REFUTED
    best, chance = Rate(300, 400), Rate(210, 400)
    assert judge_guesses([SignGuess("D5", Rate(296, 400), chance, best, Rate(0, 19))]) is Verdict.SUPPORTED
    assert judge_guesses([SignGuess("D5", Rate(205, 400), chance, best, Rate(9, 19))]) is Verdict.REFUTED
    assert judge_guesses([SignGuess("D5", Rate(296, 400), chance, best, Rate(1, 19))]) is Verdict.INCONCLUSIVE
    assert judge_guesses([]) is Verdict.UNTESTED


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("lenses", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def test_an_autoencoder_rebuilds_what_it_was_fitted_to_and_not_what_was_shuffled() -> None:
    (fit, _), (test, _) = superposed(1), superposed(2)
    ours, mixed = fit_dictionary(fit, 32, 3, 0.3), np.random.default_rng(1).permuted(test, axis=0)
    left = [ours.errors(each).sum() / ((each - ours.mean) ** 2).sum() for each in (test, mixed)]
    assert left[0] < 0.4
    assert left[1] > left[0] + 0.1


def test_in_untrained_weights_nothing_is_read_and_no_sign_guessed() -> None:
    subject = ungated_subject(Operation.MIX)
    asked = Population(PopulationKind.NATURAL, Operation.MIX, 3).draw(1, 0, 200)
    assert [each.onset for each in read_tokens(ExperimentContext(subject, SMALL), asked)] == [None] * 5
    assert judge_guesses(sign_guesses(ExperimentContext(subject, SMALL))) is not Verdict.SUPPORTED
