"""Findings of `whole-algorithm`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import (
    MOST_OR_FEWER,
    beside_paper,
    facts_about,
    facts_naming,
    share_answer,
    verdict_value,
)
from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    EvidenceNote,
    ExperimentFinding,
    FindingAnswer,
    FindingQuestion,
)
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.whole_algorithm.disambiguation import judge_disambiguations
from carrylens.arithmetic.battery.whole_algorithm.summarise import PREDICTED_ROW, RESAMPLED
from carrylens.evidence.facts import Fact

_BEATEN = ("beaten, all of them", "one wins")

PREDICTED = FindingQuestion("answers-predicted", "whole answers predicted", MOST_OR_FEWER)
RIVALS = FindingQuestion("rivals", "rivals", _BEATEN)
SITES_SCRUBBED = FindingQuestion("answers-stay-scrubbed", "answers that stay, all sites scrubbed", MOST_OR_FEWER)
CIRCUIT_SCRUBBED = FindingQuestion(
    "answers-stay-circuit", "answers that stay, the map's circuit scrubbed", MOST_OR_FEWER
)
QUESTIONS = (PREDICTED, RIVALS, SITES_SCRUBBED, CIRCUIT_SCRUBBED)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """How much is predicted, whether a rival is better, and what stays when all sites, or the map's, are scrubbed."""
    hypotheses = [fact for fact in facts_naming(outcome, "account") if "scrubbed" not in fact.about]
    ours = {fact.about["account"] for fact in hypotheses[:1]}  # rivals are scrubbed too
    kept = [fact for fact in facts_naming(outcome, "scrubbed") if fact.about.get("account") in ours]
    circuit = [fact for fact in facts_about(outcome, rest=RESAMPLED) if "claimed" in fact.about]
    return (
        PREDICTED.answered(share_answer(hypotheses[:1], MOST_OR_FEWER), beside_paper(outcome, PREDICTED_ROW)),
        RIVALS.answered(_rivals(facts_naming(outcome, "duel"))),
        SITES_SCRUBBED.answered(share_answer(kept, MOST_OR_FEWER)),
        CIRCUIT_SCRUBBED.answered(share_answer(circuit, MOST_OR_FEWER)),
    )


def _rivals(pairs: list[Fact]) -> FindingAnswer:
    if not pairs:
        return NOT_TESTED
    best = max(pairs, key=lambda fact: fact.null.value - fact.effect.value)
    counts = f"ours {best.effect.hits}, its {best.null.hits} of {best.effect.n}"
    value = verdict_value(overall(judge_disambiguations(pairs)), _BEATEN)
    return FindingAnswer(
        value, sum(fact.effect.n for fact in pairs), EvidenceNote(f"nearest {best.about['against']}: {counts}")
    )
