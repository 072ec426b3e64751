"""Findings by their rules: shares beside nulls, kinds of units, numbers; each rule is seen with every outcome."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.battery.finding_rules import (
    YES_NO,
    number_answer,
    share_answer,
    sides_answer,
    units_answer,
    verdict_value,
)
from carrylens.arithmetic.battery.findings import (
    ChosenWord,
    FindingAnswer,
    FindingQuestion,
    Mixture,
    Number,
    UnitEvidence,
    Unsettled,
)
from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.claims.verdicts import Verdict
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate


def a_fact(hits: int, null: int = 0, n: int = 40, **about: object) -> Fact:
    return Fact("battery x", about, Rate(hits, n), Rate(null, n))


def an_estimate(low: float, high: float, null: float = 0.1) -> Estimate:
    return Estimate("x", (low + high) / 2, low, high, null, null, null, 40)


def test_a_null_that_moves_as_often_is_no_effect() -> None:
    assert share_answer([a_fact(40, null=40)], YES_NO).value == ChosenWord("no")
    assert share_answer([a_fact(40)], YES_NO).value == ChosenWord("yes")
    assert share_answer([a_fact(2)], YES_NO).value == ChosenWord("no")
    assert share_answer([a_fact(22)], YES_NO).value is Unsettled.OPEN
    assert share_answer([a_fact(0, n=0)], YES_NO).value is Unsettled.UNTESTED


def test_branches_must_agree_where_each_is_weighed_alone() -> None:
    facts = [a_fact(40, branch="add"), a_fact(2, branch="positive")]
    assert share_answer(facts, ("most", "few"), by="branch").value == ChosenWord("few")
    pooled = share_answer(facts, ("most", "few"))
    assert (pooled.value, pooled.n) == (Unsettled.OPEN, 80)


def test_units_are_told_by_nine_in_ten() -> None:
    assert units_answer(["a"] * 9 + ["b"]).value == ChosenWord("a")
    assert units_answer(["a"] * 8 + ["b"] * 2).value == Mixture(("a", "b"))
    unsure = units_answer(["a", "?", "?"], ["?"])
    assert (unsure.value, unsure.evidence) == (Unsettled.OPEN, UnitEvidence((("a", 1),), 2))
    assert units_answer([]).value is Unsettled.UNTESTED


def test_numbers_lie_on_one_side_only_with_their_intervals() -> None:
    words = ("above", "below")
    assert sides_answer([an_estimate(0.6, 0.9), an_estimate(0.7, 0.8)], 0.5, words).value == ChosenWord("above")
    assert sides_answer([an_estimate(0.1, 0.4)], 0.5, words).value == ChosenWord("below")
    assert sides_answer([an_estimate(0.6, 0.9), an_estimate(0.4, 0.8)], 0.5, words).value is Unsettled.OPEN
    assert sides_answer([an_estimate(0.6, 0.9, null=0.7)], 0.5, words).value is Unsettled.OPEN
    assert sides_answer([], 0.5, words).value is Unsettled.UNTESTED


def test_a_mean_of_two_has_a_narrower_interval_than_either() -> None:
    value = number_answer([an_estimate(0.4, 0.6), an_estimate(0.6, 0.8)], "line").value
    assert isinstance(value, Number)
    assert value.value == pytest.approx(0.6)
    assert value.low == pytest.approx(0.6 - 0.1 / 2**0.5)
    assert (value.null, value.null_name) == (0.1, "line")


@pytest.mark.parametrize(
    ("verdict", "value"),
    [
        (Verdict.SUPPORTED, ChosenWord("yes")),
        (Verdict.REFUTED, ChosenWord("no")),
        (Verdict.INCONCLUSIVE, Unsettled.OPEN),
        (Verdict.UNTESTED, Unsettled.UNTESTED),
    ],
)
def test_only_a_settled_verdict_has_a_word(verdict: Verdict, value: object) -> None:
    assert verdict_value(verdict, YES_NO) == value


def test_a_word_that_was_not_declared_is_refused() -> None:
    question = FindingQuestion("x", "what x is", ("a", "b"))
    assert question.answered(FindingAnswer(ChosenWord("a"))).value == ChosenWord("a")
    for wrong in (ChosenWord("c"), Mixture(("a", "c"))):
        with pytest.raises(CarryLensError, match="'x'"):
            question.answered(FindingAnswer(wrong))
