"""Findings of `restoration`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import beside_paper, facts_naming, share_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.restoration.summarise import curve_row
from carrylens.arithmetic.battery.stimuli.branches import Branch

_WORDS = ("most", "fewer")

RESTORED = FindingQuestion("restored-by-few", "of failing questions, brought back by a few nodes", _WORDS)
QUESTIONS = (RESTORED,)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether a few nodes bring back most of what fails."""
    restored = share_answer(facts_naming(outcome, "added"), _WORDS, by="branch")
    return (RESTORED.answered(restored, beside_paper(outcome, curve_row(Branch.POSITIVE))),)
