"""Patching: a planted carry decides its digit at every depth; a one-layer plant's only at depth 0."""

from __future__ import annotations

from battery.plants import outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.questions import Operation
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Dials, Timing, one_layer


def test_planted_carries_borrows_and_signs_are_followed() -> None:
    outcome = outcome_of("patching", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.SUPPORTED
    assert {row[0] for row in outcome.rows} == {"add", "positive", "negative", "sign"}
    assert all(fact.effect.value == 1 and fact.null.hits == 0 for fact in outcome.facts)


def test_a_carry_resolved_at_the_tail_is_followed_too() -> None:
    subject = planted_subject(Operation.ADD, 3, Dials(timing=Timing.TAIL))
    assert outcome_of("patching", subject).verdict is Verdict.SUPPORTED


def test_one_layer_fails_where_a_carry_must_pass_a_nine() -> None:
    outcome = outcome_of("patching", subject_of(one_layer(3)))
    assert outcome.verdict is Verdict.REFUTED
    by_depth = {
        fact.about["depth"]: fact.effect.value
        for fact in outcome.facts
        if fact.about.get("pooled") and "depth" in fact.about
    }
    assert by_depth == {0: 1.0, 1: 0.0, 2: 0.0}


def test_a_delayed_carry_is_not_at_its_column() -> None:
    outcome = outcome_of("patching", planted_subject(Operation.ADD, 2, Dials(delay=1)))
    assert outcome.verdict is Verdict.SUPPORTED
    at_column = [fact for fact in outcome.facts if fact.about["site"] == "the column's place"]
    assert at_column
    assert all(fact.effect.hits == 0 for fact in at_column)


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("patching", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
