"""Paths: planted routes of the carry are told apart, and what `=` is to them."""

from __future__ import annotations

from arithmetic.battery.plants import combined_a_layer_later, outcome_of, planted_subject, subject_of, untrained_subject
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.paths.measure import EARLIER, LAYER_HEADS, PAST_MLP
from carrylens.arithmetic.planted.dials import Dials, Timing, one_layer
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict


def rates(outcome: Outcome, edit: str) -> set[tuple[float, float]]:
    return {(fact.effect.value, fact.null.value) for fact in outcome.facts if fact.about["edit"] == edit}


def test_a_planted_carry_comes_through_the_last_head_and_not_past_the_mlp() -> None:
    outcome = outcome_of("paths", planted_subject(Operation.MIX, 2))
    assert outcome.verdict is Verdict.SUPPORTED
    assert rates(outcome, LAYER_HEADS) == {(1.0, 0.0)}
    assert rates(outcome, EARLIER) == rates(outcome, PAST_MLP) == {(0.0, 0.0)}
    best = {row[0]: row[3].split(":")[0] for row in outcome.rows}
    assert best == {"A1 add": "head 0", "A2 add": "head 0", "A1 positive": "head 1", "A1 negative": "head 2"}


def test_a_carry_that_waits_in_the_stream_refutes_the_last_heads() -> None:
    outcome = outcome_of("paths", subject_of(combined_a_layer_later(Operation.ADD, 2)))
    assert outcome.verdict is Verdict.REFUTED
    assert (rates(outcome, LAYER_HEADS), rates(outcome, EARLIER)) == ({(0.0, 0.0)}, {(1.0, 0.0)})


def test_equals_is_bypassed_a_depot_or_the_origin() -> None:
    lazy = outcome_of("paths", planted_subject(Operation.ADD, 2))
    tail = outcome_of("paths", planted_subject(Operation.ADD, 2, Dials(timing=Timing.TAIL)))
    delayed = outcome_of("paths", planted_subject(Operation.ADD, 2, Dials(delay=1)))
    assert [row[-1] for row in lazy.rows] == ["bypassed 1", "bypassed 2"]
    assert [row[-1] for row in tail.rows] == ["depot 1", "depot 2"]
    assert [row[-1] for row in delayed.rows] == ["origin 1", "bypassed 1, origin 1"]
    assert [each.beside_paper[-1].agrees for each in (lazy, tail, delayed)] == [False, True, False]


def test_copies_deliver_together_and_none_is_needed() -> None:
    copies = outcome_of("paths", planted_subject(Operation.ADD, 2, Dials(redundancy=3)))
    plain = outcome_of("paths", planted_subject(Operation.ADD, 2))
    assert (copies.beside_paper[2].ours, copies.beside_paper[2].agrees) == ("redundant heads 2", True)
    assert (plain.beside_paper[2].ours, plain.beside_paper[2].agrees) == ("one head alone 2", False)


def test_depths_that_the_model_does_not_answer_leave_it_open() -> None:
    assert outcome_of("paths", subject_of(one_layer(3))).verdict is Verdict.INCONCLUSIVE


def test_untrained_weights_are_not_tested() -> None:
    assert outcome_of("paths", untrained_subject(Operation.MIX)).verdict is Verdict.UNTESTED
