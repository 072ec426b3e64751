"""Necessity: redundant plants and plain ones are told apart, and only digits that are off by the carry count."""

from __future__ import annotations

import re

import numpy as np
import pytest

from arithmetic.battery.plants import SMALL, outcome_of, planted_subject, untrained_subject
from arithmetic.battery.ungated import ungated_subject
from carrylens.arithmetic.battery.necessity.carry_errors import (
    CarryPlace,
    PlaceQuestions,
    carry_errors,
    carry_places,
    draw_place_pairs,
    off_by_carry,
    untagged_heads,
)
from carrylens.arithmetic.battery.necessity.place_verdicts import MissedPlace, weigh_places
from carrylens.arithmetic.battery.necessity.summarise import gap_ending
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.planted.dials import Dials
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.zoo.shipped import load
from carrylens.claims.verdicts import Verdict
from carrylens.interventions.edits import ablate
from carrylens.nodes import Node

PLAIN, COPIES = Dials(), Dials(redundancy=3)


def test_in_a_plain_plant_every_place_depends_on_one_head() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, PLAIN))
    assert outcome.verdict is Verdict.REFUTED
    assert {row[-1] for row in outcome.rows} == {"REFUTED"}


def test_with_three_copies_no_head_is_necessary_but_all_are() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, COPIES))
    assert outcome.verdict is Verdict.SUPPORTED
    delivering, making, mlps = outcome.beside_paper
    assert (delivering.agrees, making.agrees, mlps.agrees) == (True, True, False)
    assert re.findall(r"\d+", mlps.ours) == ["4", "4"]  # places that depend on one MLP, of all that are missed
    gaps = {each.name: each.low for each in outcome.estimates}
    assert gaps
    assert min(gaps.values()) > 0


def missed(whole: float, worst: float, random: np.random.Generator, n: int = 400) -> MissedPlace:
    """A place whose heads are missed that often; what fails without the worst fails without all."""
    drawn = random.random(n)
    never = np.zeros(n, dtype=np.bool_)
    return MissedPlace(
        CarryPlace(Branch.ADD, "A1 add", 1, True, (), (), (6,)),
        drawn < whole,
        drawn < worst,
        never,
        never,
        Node(1, 1, 0),
    )


def test_a_head_is_needed_if_it_is_missed_more_than_half_as_much() -> None:
    random = np.random.default_rng(3)
    found = [missed(whole, worst, random) for whole, worst in ((0.4, 0.05), (0.4, 0.35), (0.4, 0.2), (0.02, 0.02))]
    assert [each.value for each in weigh_places(found)] == ["SUPPORTED", "REFUTED", "INCONCLUSIVE", "UNTESTED"]


def test_of_many_places_at_the_boundary_hardly_one_is_told() -> None:
    random = np.random.default_rng(4)
    told = 0
    for _ in range(60):
        verdicts = weigh_places([missed(0.4, 0.2, random) for _ in range(12)])
        told += any(verdict is not Verdict.INCONCLUSIVE for verdict in verdicts)
    assert told <= 5


def test_more_questions_tell_what_few_leave_open() -> None:
    few, many = (weigh_places([missed(0.4, 0.15, np.random.default_rng(5), n=n)])[0] for n in (100, 4000))
    assert (few, many) == (Verdict.INCONCLUSIVE, Verdict.SUPPORTED)


def test_open_places_are_asked_on_and_others_are_not() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, COPIES))
    sizes = {row[-1]: int(row[1].split("/")[1]) for row in outcome.rows}
    assert sizes == {"SUPPORTED": 2 * SMALL.n_questions}


def test_the_mean_gap_of_a_model_is_the_mean_over_its_places() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.ADD, 2, COPIES))
    for verb, letter in (("deliver", "A"), ("make", "D")):
        (mean,) = [each for each in outcome.estimates if each.name.endswith(gap_ending(verb))]
        gaps = [each.value for each in outcome.estimates if f"worst at {letter}" in each.name]
        assert mean.value == pytest.approx(np.mean(gaps))
        assert mean.low > mean.null_high
        assert mean.low < mean.value < mean.high


def test_heads_that_divide_the_branches_are_no_backups() -> None:
    outcome = outcome_of("necessity", planted_subject(Operation.MIX, 2, PLAIN))
    assert outcome.verdict is Verdict.REFUTED
    assert "SUPPORTED" not in {row[-1] for row in outcome.rows}


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("necessity", untrained_subject(Operation.ADD)).verdict is Verdict.UNTESTED


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.SUB])
def test_past_the_gate_no_head_of_untrained_weights_is_missed(operation: Operation) -> None:
    outcome = outcome_of("necessity", ungated_subject(operation))
    assert outcome.rows
    assert outcome.verdict is Verdict.UNTESTED
    assert {row[-1] for row in outcome.rows} == {"UNTESTED"}


@pytest.mark.parametrize("branch", list(Branch))
def test_a_digit_off_by_the_carry_is_that_of_a_pair_whose_carry_is_turned(branch: Branch) -> None:
    for digit in range(1, branch.top(4) + 1):
        for depth in range(digit):
            pairs = deciding_pairs(branch, 4, digit, depth, 40, 9)
            token = 5 - digit
            assert (off_by_carry(pairs.base, branch)[:, token] == pairs.expected[:, token]).all()


def test_no_digit_is_off_by_a_carry_where_none_goes_in() -> None:
    sums, differences = Questions.parse(["19+05"]), Questions.parse(["41-19"])
    assert off_by_carry(sums, Branch.ADD).tolist() == [[-1, 1, 1, -1]]  # +024: A2 and A1 may be off
    assert off_by_carry(differences, Branch.POSITIVE).tolist() == [[-1, -1, 3, -1]]  # +022


def delivering(operation: Operation, digit: int) -> CarryPlace:
    subject = planted_subject(operation, 2, PLAIN)
    return next(place for place in carry_places(subject, branches_of(operation)[0], 1) if place.digit == digit)


def test_a_head_that_brings_the_digits_own_column_is_not_missed_for_the_carry() -> None:
    subject = Subject("shipped", load("add_d5_l2_h3_w96_t2K_s1").eval(), Operation.ADD)
    reference = Population(PopulationKind.ENRICHED, Operation.ADD, 5).draw(3, 0, 128)
    place = next(each for each in carry_places(subject, Branch.ADD, subject.last_layer) if each.name == "A2 add")
    asked = draw_place_pairs(subject, place, 64, reference, 4).answered(subject)
    own_column = (place.heads[1],)
    correct = subject.engine.run([ablate(own_column)], asked.questions, reference=reference).correct
    assert correct[0, :, place.tokens[0]].mean() < 0.7, "the digit fails without this head"
    whole, alone = carry_errors(subject, place, [place.heads, own_column], asked).mean(1)
    assert whole > 0.3
    assert alone == 0


def test_pairs_of_every_depth_are_drawn_and_only_answered_ones_kept() -> None:
    subject, place = planted_subject(Operation.ADD, 2, PLAIN), delivering(Operation.ADD, 2)
    asked = draw_place_pairs(subject, place, 60, Questions.parse(["11+22"]), 4)
    assert asked.partners is not None
    at_units = (asked.questions.first[:, 0] != asked.partners.first[:, 0]) | (
        asked.questions.second[:, 0] != asked.partners.second[:, 0]
    )
    assert at_units.mean() == pytest.approx(0.5, abs=0.02)
    assert len(asked.answered(subject)) == len(asked)
    untrained = untrained_subject(Operation.ADD, 2)
    assert len(PlaceQuestions(asked.questions, asked.partners, asked.reference).answered(untrained)) == 0


def test_untagged_heads_are_others_that_the_counted_digits_can_depend_on() -> None:
    subject, random = untrained_subject(Operation.ADD), np.random.default_rng(0)
    untagged, equals = [node for node in subject.nodes if node.head != 0], subject.position("=")
    for place in carry_places(subject, Branch.ADD, subject.last_layer):
        at, drawn = place.heads[0].position, untagged_heads(subject, place, untagged, random)
        assert len(drawn) == len(place.heads)
        assert not set(drawn) & set(place.heads)
        assert {node.layer for node in drawn} == {0}
        assert all((equals <= node.position <= at) if place.delivers else (node.position < equals) for node in drawn)
