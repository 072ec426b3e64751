"""Findings of `patching`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import MOST_OR_FEWER, beside_paper, facts_about, share_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.patching.measure import COLUMN_PLACE, COMBINER_HEADS
from carrylens.arithmetic.battery.patching.summarise import HEADS_ROW

AT_ANSWER = FindingQuestion(
    "digit-follows-combiner-heads", "the combiner's heads interchanged at the answer, its digit follows", MOST_OR_FEWER
)
AT_COLUMN = FindingQuestion(
    "digits-follow-column-place", "the column's place interchanged, all digits above follow", MOST_OR_FEWER
)
QUESTIONS = (AT_ANSWER, AT_COLUMN)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether digits follow the combiner's heads, and the column's own place."""
    heads, column = (facts_about(outcome, site=site, pooled=None) for site in (COMBINER_HEADS, COLUMN_PLACE))
    return (
        AT_ANSWER.answered(share_answer(heads, MOST_OR_FEWER), beside_paper(outcome, HEADS_ROW)),
        AT_COLUMN.answered(share_answer(column, MOST_OR_FEWER)),
    )
