"""Findings of `selection`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import YES_NO, beside_paper, facts_about, share_answer
from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    EvidenceNote,
    ExperimentFinding,
    FindingAnswer,
    FindingQuestion,
    Number,
    Unsettled,
)
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.selection.branch_pairs import Turn
from carrylens.arithmetic.battery.selection.subspaces import OTHER, SAME
from carrylens.arithmetic.battery.selection.summarise import SIGN_PLACE, STEERING_ROW, is_enough
from carrylens.evidence.facts import Fact

_ENOUGH = ("enough", "not enough")

FOLLOWS_OPERATOR = FindingQuestion("digits-follow-operator", "digits follow the operator's state", YES_NO)
FOLLOWS_SIGN = FindingQuestion("digits-follow-sign", "digits follow the sign's state", YES_NO)
ONE_FOR_OPERATOR = FindingQuestion(
    "one-direction-operator", "one direction turns the operator, other operands", _ENOUGH
)
ONE_FOR_SIGN = FindingQuestion("one-direction-sign", "one direction turns the sign, other operands", _ENOUGH)
RANK_FOR_OPERATOR = FindingQuestion("least-rank-operator", "least rank for the operator, same operands")
RANK_FOR_SIGN = FindingQuestion("least-rank-sign", "least rank for the sign, same operands")
COPIED = FindingQuestion(
    "one-direction-behind-last-heads", "one direction behind the last heads, as in the paper", _ENOUGH
)
QUESTIONS = (FOLLOWS_OPERATOR, FOLLOWS_SIGN, ONE_FOR_OPERATOR, ONE_FOR_SIGN, RANK_FOR_OPERATOR, RANK_FOR_SIGN, COPIED)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether the state chooses, whether one direction of it does, and which rank is enough."""
    followed = [fact for fact in outcome.facts if fact.about.get("site") not in (None, SIGN_PLACE)]
    copied = facts_about(outcome, **{"copied rank": 1})
    return (
        FOLLOWS_OPERATOR.answered(share_answer(followed, YES_NO)),
        FOLLOWS_SIGN.answered(share_answer(facts_about(outcome, site=SIGN_PLACE), YES_NO)),
        ONE_FOR_OPERATOR.answered(_one_direction(outcome, of_operator=True)),
        ONE_FOR_SIGN.answered(_one_direction(outcome, of_operator=False)),
        RANK_FOR_OPERATOR.answered(_least_rank(outcome, of_operator=True)),
        RANK_FOR_SIGN.answered(_least_rank(outcome, of_operator=False)),
        COPIED.answered(share_answer(copied, _ENOUGH), beside_paper(outcome, STEERING_ROW)),
    )


def _one_direction(outcome: Outcome, *, of_operator: bool) -> FindingAnswer:
    one = facts_about(outcome, rank=1, source=OTHER)
    return share_answer([fact for fact in one if _turn(fact).of_operator is of_operator], _ENOUGH)


def _least_rank(outcome: Outcome, *, of_operator: bool) -> FindingAnswer:
    found: dict[str, list[Fact]] = {}
    for fact in facts_about(outcome, source=SAME):
        if _turn(fact).of_operator is of_operator:
            found.setdefault(_turn(fact).value, []).append(fact)
    if not found:
        return NOT_TESTED
    needed = {
        turn: min((int(str(f.about["rank"])) for f in facts if is_enough(f.effect, f.null)), default=0)
        for turn, facts in found.items()
    }
    note = EvidenceNote(", ".join(f"{turn} {rank or 'none'}" for turn, rank in needed.items()))
    n = sum(fact.effect.n for facts in found.values() for fact in facts)
    return FindingAnswer(Number(max(needed.values())) if all(needed.values()) else Unsettled.OPEN, n, note)


def _turn(fact: Fact) -> Turn:
    return Turn(str(fact.about["turn"]))
