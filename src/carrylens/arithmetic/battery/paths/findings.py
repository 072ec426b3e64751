"""Findings of `paths`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import YES_NO, beside_paper, facts_about, share_answer, units_answer
from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    ChosenWord,
    EvidenceNote,
    ExperimentFinding,
    FindingAnswer,
    FindingQuestion,
)
from carrylens.arithmetic.battery.outcome import BesidePaper, Outcome
from carrylens.arithmetic.battery.paths.measure import AT_EQUALS, BEFORE_EQUALS, EARLIER, EQUALS_HELD, LAYER_HEADS
from carrylens.arithmetic.battery.paths.summarise import (
    DELIVERING_ROW,
    DELIVERY_ROW,
    EQUALS_ROLES,
    EQUALS_ROW,
    LAYER_ROW,
    ONE_HEAD,
    PICKED_ALONE,
    PICKED_MISSED,
    REDUNDANT_HEADS,
    SHARING_HEADS,
    UNCLEAR,
    delivered_by,
    equals_is,
)
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

_LAST = ("the last, for all branches", "not the last for all")

LAYER = FindingQuestion("combiner-layer", "the layer whose MLP combines digit and carry", _LAST)
BY_HEADS = FindingQuestion("delivered-by-layer-heads", "the heads of its layer deliver it", YES_NO)
BY_EARLIER = FindingQuestion("delivered-by-earlier-nodes", "earlier nodes of the place deliver it", YES_NO)
DELIVERING_HEADS = FindingQuestion("delivering-heads", "heads that deliver", (ONE_HEAD, REDUNDANT_HEADS, SHARING_HEADS))
EQUALS_IS = FindingQuestion("role-of-equals", "what = is", EQUALS_ROLES)
QUESTIONS = (LAYER, BY_HEADS, BY_EARLIER, DELIVERING_HEADS, EQUALS_IS)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Which layer combines, what delivers the carry to it, and what = is."""
    layer, delivery, heads, equals = (
        beside_paper(outcome, row) for row in (LAYER_ROW, DELIVERY_ROW, DELIVERING_ROW, EQUALS_ROW)
    )
    by_heads, earlier = (facts_about(outcome, edit=edit, pooled=None) for edit in (LAYER_HEADS, EARLIER))
    return (
        LAYER.answered(_layer(layer), layer),
        BY_HEADS.answered(share_answer(by_heads, YES_NO), delivery),
        BY_EARLIER.answered(share_answer(earlier, YES_NO)),
        DELIVERING_HEADS.answered(units_answer(_delivering(outcome), (UNCLEAR,)), heads),
        EQUALS_IS.answered(units_answer(_roles_of_equals(outcome), (UNCLEAR,)), equals),
    )


def _layer(row: BesidePaper | None) -> FindingAnswer:
    return (
        NOT_TESTED if row is None else FindingAnswer(ChosenWord(_LAST[not row.agrees]), evidence=EvidenceNote(row.ours))
    )


def _delivering(outcome: Outcome) -> list[str]:
    # What delivers the carry, for every digit of a branch.
    wanted: tuple[dict[str, object], ...] = (
        {"edit": LAYER_HEADS, "pooled": None},
        {"picked": PICKED_ALONE},
        {"picked": PICKED_MISSED},
    )
    units = dict.fromkeys(map(_branch_and_digit, facts_about(outcome, pooled=None)))
    rates = [dict.fromkeys(units, Rate(0, 0)) for _ in wanted]
    for about, found in zip(wanted, rates, strict=True):
        for fact in facts_about(outcome, **about):
            if (unit := _branch_and_digit(fact)) in found:
                found[unit] += fact.effect
    return [delivered_by(*(found[unit] for found in rates)) for unit in units]


def _branch_and_digit(fact: Fact) -> tuple[object, object]:
    return fact.about.get("branch"), fact.about.get("digit")


def _roles_of_equals(outcome: Outcome) -> list[str]:
    # What = is, for every column that decides a digit.
    cells: dict[tuple[object, ...], dict[object, Rate]] = {}
    for fact in facts_about(outcome, pooled=None):
        where = tuple(fact.about.get(key) for key in ("branch", "digit", "depth"))
        cells.setdefault(where, {})[fact.about["edit"]] = fact.effect
    wanted = (AT_EQUALS, BEFORE_EQUALS, EQUALS_HELD)
    return [equals_is(*(rates[edit] for edit in wanted)) for rates in cells.values() if rates.keys() >= set(wanted)]
