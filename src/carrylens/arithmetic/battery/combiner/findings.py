"""Findings of `combiner`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.combiner.summarise import ARGMAX, LOGIT_WIDTH, argmax_row
from carrylens.arithmetic.battery.finding_rules import beside_paper, facts_about, number_answer, share_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Estimate, Outcome
from carrylens.arithmetic.battery.stimuli.branches import Branch

_STEP = ("a step", "no step")

LOGITS_STEP = FindingQuestion("step-of-logits", "from carry to logits", _STEP)
OUTPUT_STEP = FindingQuestion("step-of-mlp-output", "from carry to the MLP's output", _STEP)
LOGITS_WIDTH = FindingQuestion("width-of-logits", "width of the logits' rise")
TURN = FindingQuestion("share-of-turn", "share at which the argmax turns")
QUESTIONS = (LOGITS_STEP, OUTPUT_STEP, LOGITS_WIDTH, TURN)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether logits and output make a step; how wide it is, and where the digit turns."""
    logits, output = (
        share_answer(facts_about(outcome, curve=curve), _STEP, by="branch") for curve in ("logits", "output")
    )
    return (
        LOGITS_STEP.answered(logits),
        OUTPUT_STEP.answered(output),
        LOGITS_WIDTH.answered(number_answer(_of(outcome, LOGIT_WIDTH), "line")),
        TURN.answered(number_answer(_of(outcome, ARGMAX), "line"), beside_paper(outcome, argmax_row(Branch.ADD))),
    )


def _of(outcome: Outcome, quantity: str) -> list[Estimate]:
    # One for each branch.
    return [each for each in outcome.estimates if each.name.endswith(quantity)]
