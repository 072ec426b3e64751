"""Make-carry: three values, two binary ones, a later place, the answer; each where it was planted."""

from __future__ import annotations

import pytest

from battery.plants import outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.questions import Operation
from carrylens.battery.make_carry import ANSWER, IN_PLACE, LATER, SPLIT
from carrylens.battery.outcome import Outcome
from carrylens.hypothesis.verdicts import Verdict
from carrylens.planted.dials import Carry, Dials, one_layer


def kinds(outcome: Outcome) -> set[str]:
    return {row[1] for row in outcome.rows}


@pytest.mark.parametrize("dials", [Dials(), Dials(sharing=True, rotated=True)], ids=["plain", "shared"])
def test_a_planted_tri_state_carry_is_found_at_its_place(dials: Dials) -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, dials))
    assert outcome.verdict is Verdict.SUPPORTED
    assert kinds(outcome) == {IN_PLACE}
    assert outcome.beside_paper[0].agrees is False


def test_borrows_of_both_branches_are_found_at_their_places() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.SUPPORTED
    assert [row[0] for row in outcome.rows] == ["ST[0]", "ST[1]", "MB[0]", "NB[0]"]


def test_two_binary_values_are_told_from_one_with_three() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 3, Dials(carry=Carry.BINARY)))
    assert outcome.verdict is Verdict.REFUTED
    assert [row[1] for row in outcome.rows] == [IN_PLACE, SPLIT, SPLIT]


def test_a_delayed_carry_is_seen_to_be_made_later() -> None:
    outcome = outcome_of("make-carry", planted_subject(Operation.ADD, 2, Dials(delay=1)))
    assert outcome.verdict is Verdict.REFUTED
    assert kinds(outcome) == {LATER}


def test_a_carry_fetched_by_the_answer_itself_is_seen_there() -> None:
    outcome = outcome_of("make-carry", subject_of(one_layer(2)))
    assert outcome.verdict is Verdict.REFUTED
    assert kinds(outcome) == {ANSWER}


@pytest.mark.parametrize("operation", [Operation.ADD, Operation.MIX])
def test_untrained_weights_are_not_tested(operation: Operation) -> None:
    outcome = outcome_of("make-carry", untrained_subject(operation))
    assert outcome.verdict is Verdict.UNTESTED
    assert all(fact.effect.hits == 0 for fact in outcome.facts)
