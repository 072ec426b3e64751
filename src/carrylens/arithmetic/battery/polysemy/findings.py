"""Findings of `polysemy`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import MOST_OR_FEWER, facts_naming, share_answer
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.polysemy.summarise import FROM_SCRATCH, INSERTED_SERVE

SEVERAL = FindingQuestion("nodes-serving-several", "useful nodes that serve several branches", MOST_OR_FEWER)
REUSED = FindingQuestion(
    "inserted-nodes-serving", "nodes of the inserted addition model that serve a branch", MOST_OR_FEWER
)
QUESTIONS = (SEVERAL, REUSED)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Whether most useful nodes serve several branches, and most inserted ones each branch."""
    inserted = [
        fact for fact in facts_naming(outcome, INSERTED_SERVE) if str(fact.about["null"]).endswith(FROM_SCRATCH)
    ]
    return (
        SEVERAL.answered(share_answer(facts_naming(outcome, "nodes"), MOST_OR_FEWER)),
        REUSED.answered(share_answer(inserted, MOST_OR_FEWER, by=INSERTED_SERVE)),
    )
