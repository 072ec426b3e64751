"""Findings of `probes`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import (
    YES_NO,
    beside_paper,
    facts_naming,
    number_answer,
    share_answer,
    units_answer,
)
from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    ChosenWord,
    EvidenceNote,
    ExperimentFinding,
    FindingAnswer,
    FindingQuestion,
    TrendDirection,
    Unsettled,
)
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.probes.summarise import LAG_ROW, NO_ONSET, SEPARATION

_NOWHERE, _AT_READER, _BEFORE = "nowhere", "at its reader", "before"

ONSET = FindingQuestion("carry-onset", "where resolved carries are first read", (_NOWHERE, _AT_READER, _BEFORE))
TOP_LAG = FindingQuestion("top-carry-lag", "the top carry, tokens after D'0")
ACROSS = FindingQuestion("probes-across-columns", "probes of other columns read it", YES_NO)
AXIS = FindingQuestion("carry-axis-separation", "separation of the carry's axis", trend=TrendDirection.FALLS)
QUESTIONS = (ONSET, TOP_LAG, ACROSS, AXIS)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Where carries are first read, how late the top one is, how far probes hold, how far classes lie apart."""
    axes = [each for each in outcome.estimates if each.name.startswith(SEPARATION)]
    return (
        ONSET.answered(units_answer(_onsets(outcome))),
        TOP_LAG.answered(_top_lag(outcome), beside_paper(outcome, LAG_ROW)),
        ACROSS.answered(share_answer(facts_naming(outcome, "probe"), YES_NO)),
        AXIS.answered(number_answer(axes, "twin"), beside_paper(outcome, SEPARATION)),
    )


def _onsets(outcome: Outcome) -> list[str]:
    at = {name: outcome.headers.index(name) for name in ("onset", "reader")} if outcome.rows else {}
    both = [(row[at["onset"]], row[at["reader"]]) for row in outcome.rows]
    return [_NOWHERE if onset == NO_ONSET else _AT_READER if onset == reader else _BEFORE for onset, reader in both]


def _top_lag(outcome: Outcome) -> FindingAnswer:
    # The last row of the first branch.
    rows = [row for row in outcome.rows if row[0].split("[")[0] == outcome.rows[0][0].split("[")[0]]
    if not rows:
        return NOT_TESTED
    name, onset, _, lag, *_ = rows[-1]
    if onset == NO_ONSET:
        return FindingAnswer(Unsettled.OPEN, 1, EvidenceNote(f"{name} nowhere"))
    return FindingAnswer(
        ChosenWord("1 token" if lag == "1" else f"{lag} tokens"), 1, EvidenceNote(f"{name} at {onset}")
    )
