"""Patching: a plain plant's carry is at its column and comes by the last heads; others answer right and are refuted.

The interchange of all heads of a place is a copy of the source's pass, in any weights: no verdict may rest on it.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from arithmetic.battery.plants import combined_a_layer_later, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.patching.measure import (
    ALL_HEADS,
    COLUMN_PLACE,
    COMBINER_HEADS,
    interchange_sites,
    patched_sites,
)
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs, sign_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Dials, Timing, describe, one_layer, place_value
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange


def facts_at(outcome: Outcome, site: str) -> list[Fact]:
    return [fact for fact in outcome.facts if fact.about["site"] == site and not fact.about.get("pooled")]


def test_planted_carries_borrows_and_signs_are_followed() -> None:
    outcome = outcome_of("patching", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.SUPPORTED
    assert {row[0] for row in outcome.rows} == {"add", "positive", "negative", "sign"}
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in outcome.facts)
    heads, check = outcome.beside_paper
    assert heads.agrees is True
    assert check.agrees is None


def test_a_carry_resolved_at_the_tail_is_followed_too() -> None:
    subject = planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL))
    assert outcome_of("patching", subject).verdict is Verdict.SUPPORTED


@pytest.mark.parametrize(
    "description",
    [describe(Operation.ADD, 2, Dials(delay=1)), describe(Operation.SUB, 3, Dials(delay=1)), place_value(3)],
    ids=["carries made later", "borrows made later", "no carries at all"],
)
def test_a_model_that_answers_right_is_refuted_where_its_carry_is_not_at_the_column(
    description: CircuitDescription,
) -> None:
    outcome = outcome_of("patching", subject_of(description))
    assert all(row[3] == "24/24" for row in outcome.rows)
    assert outcome.verdict is Verdict.REFUTED
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in facts_at(outcome, ALL_HEADS))
    assert all(fact.effect.hits == 0 for fact in facts_at(outcome, COLUMN_PLACE))


def test_a_carry_that_earlier_heads_bring_does_not_come_by_those_of_the_combiner() -> None:
    outcome = outcome_of("patching", subject_of(combined_a_layer_later(Operation.SUB, 3)))
    assert outcome.verdict is Verdict.REFUTED
    sign = [fact for fact in facts_at(outcome, COMBINER_HEADS) if fact.about["branch"] == "sign"]
    assert sign
    assert all(fact.effect == Rate(24, 24) for fact in sign), "which is made where it was"
    assert all(fact.effect == Rate(0, 24) for fact in facts_at(outcome, COMBINER_HEADS) if fact not in sign)
    assert all(
        fact.effect == Rate(24, 24) for fact in (*facts_at(outcome, COLUMN_PLACE), *facts_at(outcome, ALL_HEADS))
    )
    assert [row.agrees for row in outcome.beside_paper] == [False, None]


def test_one_layer_is_judged_by_its_columns_and_only_where_it_answers() -> None:
    subject = subject_of(one_layer(3))
    outcome = outcome_of("patching", subject)
    assert outcome.verdict is Verdict.REFUTED
    assert patched_sites(subject) == (COLUMN_PLACE, ALL_HEADS)
    assert all(fact.effect.hits == 0 for fact in facts_at(outcome, COLUMN_PLACE))
    assert all((fact.effect.n > 0) == (fact.about["depth"] == 0) for fact in facts_at(outcome, COLUMN_PLACE))
    assert all(fact.effect.n == 0 for fact in outcome.facts if fact.about.get("depth"))
    assert [row.agrees for row in outcome.beside_paper] == [None]


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("patching", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED


def own_answers(subject: Subject, questions: Questions) -> NDArray[np.int8]:
    # What the model itself answers, right or wrong; the edit plays no part.
    return subject.engine.run([interchange("P0L0H0")], questions, questions).clean_tokens


def test_scored_by_its_own_answers_an_untrained_model_follows_no_interchange_but_the_copy() -> None:
    subject = untrained_subject(Operation.MIX)
    total = {site: [Rate(0, 0), Rate(0, 0)] for site in (COLUMN_PLACE, COMBINER_HEADS)}
    asked = [(2, deciding_pairs(branch, 3, 2, depth, 60, seed=3)) for branch in Branch for depth in (0, 1)]
    for digit, pairs in [*asked, (None, sign_pairs(3, 1, 60, seed=3))]:
        moved = interchange_sites(subject, pairs, digit, own_answers(subject, pairs.source), layer=1)
        for site, both in total.items():
            both[0] += moved[site].effect
            both[1] += moved[site].null
    for effect, null in total.values():
        assert effect.n == 420
        assert Fact("", {}, effect, null).p > 0.05


@pytest.mark.parametrize("digit", [2, None], ids=["digit", "sign"])
def test_all_heads_of_a_place_are_a_copy_of_the_sources_pass_in_any_weights(digit: int | None) -> None:
    subject = untrained_subject(Operation.SUB)
    pairs = sign_pairs(3, 0, 40, 1) if digit is None else deciding_pairs(Branch.POSITIVE, 3, digit, 1, 40, 1)
    place = subject.position("=") if digit is None else subject.predicting(digit)
    token = 0 if digit is None else subject.token(digit)
    heads = [node for node in subject.nodes_at(place) if not node.is_mlp]
    given = subject.engine.run([interchange(heads)], pairs.base, pairs.source).tokens[0][:, token]
    base, source = (encode(side, answers(side))[:, place] for side in (pairs.base, pairs.source))
    same = base == source
    assert same.mean() > 0.5
    assert np.array_equal(given[same], own_answers(subject, pairs.source)[same, token])
