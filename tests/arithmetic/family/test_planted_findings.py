"""Findings of experiments on planted circuits, where the truth is known; and by two routes from one outcome."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from arithmetic.battery.plants import outcome_of, planted_subject
from carrylens.arithmetic.battery.battery_folder import save_outcomes
from carrylens.arithmetic.battery.experiment import Experiment
from carrylens.arithmetic.battery.findings import (
    ChosenWord,
    Number,
    RangeEvidence,
    ShareEvidence,
    UnitEvidence,
    Unsettled,
)
from carrylens.arithmetic.battery.findings import ExperimentFinding as Found
from carrylens.arithmetic.battery.fresh_outcomes import hash_of_map
from carrylens.arithmetic.battery.make_carry.summarise import MADE_IN_PLACE, MADE_LATER
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import EXPERIMENTS, experiments_called
from carrylens.arithmetic.family.members import made_with_another_map, read_member
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.dials import Carry, Dials, Timing
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate
from claims.maps import left_to_right_map

PLAIN, TAIL, COPIES = Dials(), Dials(timing=Timing.TAIL), Dials(redundancy=3)
BINARY_CARRY, LATE = Dials(carry=Carry.BINARY), Dials(delay=1)


@cache
def found(experiment: str, dials: Dials, operation: Operation = Operation.ADD, digits: int = 3) -> Outcome:
    return outcome_of(experiment, planted_subject(operation, digits, dials))


def finding(name: str, experiment: str, dials: Dials, operation: Operation = Operation.ADD, digits: int = 3) -> Found:
    (asked,) = experiments_called(experiment)
    (mine,) = [
        each for each in asked.findings_of(found(experiment, dials, operation, digits)) if each.question.name == name
    ]
    return mine


@pytest.mark.parametrize(
    ("experiment", "name", "dials", "word"),
    [
        ("make-carry", "carry-values", PLAIN, "three values"),
        ("make-carry", "carry-values", BINARY_CARRY, "two binary values"),
        ("make-carry", "top-carry-place", PLAIN, MADE_IN_PLACE),
        ("make-carry", "top-carry-place", LATE, MADE_LATER),
        ("patching", "digit-follows-combiner-heads", PLAIN, "most"),
        ("paths", "delivered-by-layer-heads", PLAIN, "yes"),
        ("paths", "delivered-by-earlier-nodes", PLAIN, "no"),
        ("paths", "delivering-heads", PLAIN, "one head alone"),
        ("paths", "delivering-heads", COPIES, "redundant heads"),
        ("paths", "role-of-equals", PLAIN, "bypassed"),
        ("paths", "role-of-equals", TAIL, "depot"),
        ("necessity", "heads-that-deliver", PLAIN, "one is needed"),
        ("necessity", "heads-that-deliver", COPIES, "redundant"),
        ("sufficiency", "kept-resample", PLAIN, "most"),
        ("probes", "carry-onset", PLAIN, "at its reader"),
        ("probes", "carry-onset", TAIL, "before"),
        ("whole-algorithm", "answers-predicted", PLAIN, "most"),
    ],
)
def test_a_planted_truth_is_the_word_in_the_table(experiment: str, name: str, dials: Dials, word: str) -> None:
    value = finding(name, experiment, dials).value
    assert value == ChosenWord(word)


@pytest.mark.parametrize("dials", [PLAIN, TAIL, COPIES])
def test_kinds_read_off_facts_are_those_the_experiment_counted(dials: Dials) -> None:
    for name in ("delivering-heads", "role-of-equals"):
        read = finding(name, "paths", dials)
        assert read.paper is not None
        counted = Counter({kind: int(n) for kind, n in re.findall(r"(?:^|, )(\D+) (\d+)", read.paper.ours)})
        assert isinstance(read.evidence, UnitEvidence)
        assert dict(read.evidence.counts) == counted


def test_a_planted_choice_is_one_direction() -> None:
    mixed = (PLAIN, Operation.MIX, 2)
    assert finding("digits-follow-operator", "selection", *mixed).value == ChosenWord("yes")
    for what in ("operator", "sign"):
        assert finding(f"one-direction-{what}", "selection", *mixed).value == ChosenWord("enough")
        assert finding(f"least-rank-{what}", "selection", *mixed).value == Number(1)


def test_shares_and_angles_are_those_of_the_outcome() -> None:
    mixed = (PLAIN, Operation.MIX, 2)
    serving = [row[1] for row in found("polysemy", *mixed).rows]
    several = finding("nodes-serving-several", "polysemy", *mixed)
    assert isinstance(several.evidence, ShareEvidence)
    (share,) = several.evidence.shares
    assert share.effect == Rate(sum(len(branches) > 1 for branches in serving), len(serving))
    axes = finding("borrow-axes", "axes", *mixed)
    assert isinstance(axes.evidence, RangeEvidence)
    rows = [row for row in found("axes", *mixed).rows if row[1] == "positive-negative"]
    assert [f"{value:.2f}" for value in axes.evidence.values] == [row[2].split()[0] for row in rows]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_question_is_answered_in_order_though_the_outcome_has_nothing(experiment: Experiment) -> None:
    empty = Outcome(experiment.card, {}, Verdict.UNTESTED, "Nothing.")
    answers = experiment.findings_of(empty)
    assert tuple(each.question for each in answers) == experiment.questions
    assert {each.value for each in answers} <= {Unsettled.UNTESTED, Unsettled.APART}


def test_names_of_questions_are_different_and_every_experiment_asks_some() -> None:
    names = [question.name for experiment in EXPERIMENTS for question in experiment.questions]
    assert len(names) == len(set(names))
    assert all(experiment.questions for experiment in EXPERIMENTS)


def test_outcomes_of_an_earlier_form_are_left_out_and_noted(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("old")
    outcome = found("patching", PLAIN)
    old, reworded = replace(outcome, form=0), replace(outcome, card=replace(outcome.card, question="Another?"))
    name = ModelName.parse("add_d3_l2_h3_t1K_s1")
    for saved, left_out in ((old, True), (outcome, False), (reworded, False)):
        save_outcomes(
            folder, {"model": str(name), "version": "0.1.0", "sha256": "x"}, [saved, found("necessity", PLAIN)]
        )
        member = read_member("here", name, "x", [folder])
        assert [("patching" in note, "necessity" in note) for note in member.notes] == [(True, False)] * left_out
        assert ("patching" in member.missing) is left_out
        assert all(each.card == outcome.card for each in member.outcomes.values() if each.card.name == "patching")
        assert set(member.outcomes) == {"patching", "necessity"} - ({"patching"} if left_out else set())


def test_another_map_ages_only_what_was_made_with_it() -> None:
    """What reads no map says `map` None in its settings, and stays."""
    other = replace(found("necessity", PLAIN), settings={"map": "other"})
    same = left_to_right_map(Operation.ADD, 3)
    assert made_with_another_map([found("patching", PLAIN), other], same) == ["necessity"]
    fresh = replace(other, settings={"map": hash_of_map(same)})
    assert made_with_another_map([found("patching", PLAIN), fresh], same) == []
