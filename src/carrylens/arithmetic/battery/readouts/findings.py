"""Findings of `lenses`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import YES_NO, facts_naming, units_answer, verdict_value
from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    ExperimentFinding,
    FindingAnswer,
    FindingQuestion,
    NullEvidence,
)
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.readouts.feature_units import FEATURE_CORRELATION, judge_units
from carrylens.arithmetic.battery.readouts.summarise import LENS, NOWHERE

LAST_LAYER, _BEFORE = "in the last layer of its place", "before"
"""Where a token is first read."""

OTHERS = FindingQuestion("token-readings", "where tokens but the top digit are read", (NOWHERE, LAST_LAYER, _BEFORE))
TOP = FindingQuestion("top-digit-reading", "where the top digit is read", (NOWHERE, LAST_LAYER, _BEFORE))
FEATURES_TELL_MORE = FindingQuestion("features-beyond-neurons", "features tell more than neurons", YES_NO)
QUESTIONS = (OTHERS, TOP, FEATURES_TELL_MORE)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Where tokens are read, and whether features tell more than neurons.

    The sum's top digit is 0 or 1: it is often plain before its place is reached. So it stands apart.
    """
    kinds, top = _kinds(outcome), _top_digit(outcome)
    return (
        OTHERS.answered(units_answer([kind for token, kind in kinds.items() if token != top])),
        TOP.answered(units_answer([kind for token, kind in kinds.items() if token == top])),
        FEATURES_TELL_MORE.answered(_features(outcome)),
    )


def _kinds(outcome: Outcome) -> dict[str, str]:
    # For each token where it is first read: its row of the table has the place and the level.
    own, last = _own_places(outcome), _last_layer(outcome)
    kinds = {}
    for row in outcome.rows:
        token, _, what = row[0].partition(", ")
        if what == LENS:
            place, _, level = row[1].partition(", ")
            there = place == own[token] and level.startswith(f"L{last} ")
            kinds[token] = NOWHERE if row[1] == NOWHERE else LAST_LAYER if there else _BEFORE
    return kinds


def _own_places(outcome: Outcome) -> dict[str, str]:
    # The facts of a token's own place, at which it is predicted, come before those of others.
    found: dict[str, str] = {}
    for fact in facts_naming(outcome, "token"):
        found.setdefault(str(fact.about["token"]), str(fact.about["place"]))
    return found


def _last_layer(outcome: Outcome) -> int:
    # A layer has two levels: behind its heads, and behind its MLP.
    return max((int(str(fact.about["level"])) for fact in facts_naming(outcome, "token")), default=0) // 2


def _top_digit(outcome: Outcome) -> str:
    # The sign, which is predicted at =, counts as one digit more; in sums it is always the same, and so not read.
    own = _own_places(outcome)
    numbers = {token: int(token[1:]) - (place == "=") for token, place in own.items()}
    return f"A{max(numbers.values(), default=0)}"


def _features(outcome: Outcome) -> FindingAnswer:
    units = [each for each in outcome.estimates if each.name.startswith(FEATURE_CORRELATION)]
    if not units:
        return NOT_TESTED
    evidence = NullEvidence(units[0].value, max(each.null for each in units))
    return FindingAnswer(verdict_value(judge_units(units), YES_NO), units[0].n, evidence)
