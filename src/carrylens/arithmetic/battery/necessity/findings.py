"""Findings of `necessity`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import beside_paper, number_answer, units_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingAnswer, FindingQuestion, TrendDirection
from carrylens.arithmetic.battery.necessity.summarise import HEAD_JOBS, gap_ending, heads_row
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.claims.verdicts import Verdict

_UNTOLD = "not told"
_WORDS = {Verdict.SUPPORTED.value: "redundant", Verdict.REFUTED.value: "one is needed"}
_LETTERS = {"deliver": "A", "make": "D"}
_ING = {"deliver": "delivering", "make": "making"}

NEEDED_HEADS = {
    verb: FindingQuestion(f"heads-that-{verb}", f"heads that {verb} a carry", tuple(_WORDS.values()))
    for _, verb in HEAD_JOBS
}
GAPS = {
    verb: FindingQuestion(f"gap-{verb}", f"gap of all heads and the worst, {_ING[verb]}", trend=TrendDirection.GROWS)
    for _, verb in HEAD_JOBS
}
QUESTIONS = (*NEEDED_HEADS.values(), *GAPS.values())


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether places depend on one head, and the gap between all heads and the worst; delivering, then making."""
    heads = [
        NEEDED_HEADS[verb].answered(_heads(outcome, verb), beside_paper(outcome, heads_row(verb)))
        for verb in NEEDED_HEADS
    ]
    gaps = [
        question.answered(
            number_answer([each for each in outcome.estimates if each.name.endswith(gap_ending(verb))], "untagged")
        )
        for verb, question in GAPS.items()
    ]
    return (*heads, *gaps)


def _heads(outcome: Outcome, verb: str) -> FindingAnswer:
    kinds = [_WORDS.get(row[-1], _UNTOLD) for row in outcome.rows if row[0].startswith(_LETTERS[verb])]
    return units_answer(kinds, (_UNTOLD,))
