"""Findings of `sufficiency`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import MOST_OR_FEWER, beside_paper, facts_about, share_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.sufficiency.summarise import kept_row
from carrylens.interventions.edits import Fill

MEAN = FindingQuestion("kept-mean", "answers kept, the rest at its mean", MOST_OR_FEWER)
CLASS_MEAN = FindingQuestion("kept-class-mean", "answers kept, the rest at its class mean", MOST_OR_FEWER)
RESAMPLE = FindingQuestion("kept-resample", "answers kept, the rest resampled", MOST_OR_FEWER)
QUESTIONS = (MEAN, CLASS_MEAN, RESAMPLE)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether most answers stay right with the useful nodes alone, under each way to ablate the rest."""
    mean, by_class, resample = (
        share_answer(facts_about(outcome, fill=fill.value), MOST_OR_FEWER, by="branch")
        for fill in (Fill.MEAN, Fill.CLASS_MEAN, Fill.RESAMPLE)
    )
    return (
        MEAN.answered(mean, beside_paper(outcome, kept_row(Branch.ADD))),
        CLASS_MEAN.answered(by_class),
        RESAMPLE.answered(resample),
    )
