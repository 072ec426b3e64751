"""Findings of `axes`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.axes.summarise import cosine_row
from carrylens.arithmetic.battery.finding_rules import beside_paper, sides_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingAnswer, FindingQuestion
from carrylens.arithmetic.battery.outcome import Outcome

_WORDS = ("one direction", "apart")
_MIDDLE = 0.5
_PAPER_DIGIT = 2

BORROWS = FindingQuestion("borrow-axes", "both borrows", _WORDS)
CARRY = FindingQuestion("carry-and-borrow-axes", "carry and borrows", _WORDS)
QUESTIONS = (BORROWS, CARRY)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether the borrows' axes are one, and whether the carry's is theirs."""
    borrows, carry = _angles(outcome, "positive-negative"), _angles(outcome, "add-positive", "add-negative")
    rows = [beside_paper(outcome, cosine_row(name, _PAPER_DIGIT)) for name in ("positive-negative", "add-positive")]
    return (BORROWS.answered(borrows, rows[0]), CARRY.answered(carry, rows[1]))


def _angles(outcome: Outcome, *pairs: str) -> FindingAnswer:
    mine = [each for each in outcome.estimates if each.name.split()[1] in pairs]
    return sides_answer(mine, _MIDDLE, _WORDS)
