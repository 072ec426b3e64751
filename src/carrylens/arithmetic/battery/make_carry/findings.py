"""Findings of `make-carry`: what of its outcome is compared between models.

Takes  an outcome, made now or kept.
Gives  `QUESTIONS`, and the answers to them.
Never  reads a sentence: everything comes from facts, estimates and tables.
"""

from __future__ import annotations

from carrylens.arithmetic.battery.finding_rules import beside_paper, units_answer
from carrylens.arithmetic.battery.findings import DOES_NOT_APPLY, ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.make_carry.summarise import (
    MADE_AT_ANSWER,
    MADE_BINARY,
    MADE_IN_PLACE,
    MADE_LATER,
    MADE_OPEN,
    MADE_ROW,
    MADE_SPLIT,
    NOT_ASKED,
)
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.tasks.variables import Variable

_PLACES = (MADE_IN_PLACE, MADE_SPLIT, MADE_BINARY, MADE_LATER, MADE_AT_ANSWER)
_VALUES = {MADE_IN_PLACE: "three values", MADE_BINARY: "binary", MADE_SPLIT: "two binary values"}
_UNTOLD = "not told"

PLACE = FindingQuestion("carry-place", "where carries below the top column are made", _PLACES)
TOP_PLACE = FindingQuestion("top-carry-place", "where the sum's top carry is made", _PLACES)
VALUES = FindingQuestion("carry-values", "values of a column's carry", tuple(_VALUES.values()))
QUESTIONS = (PLACE, TOP_PLACE, VALUES)


def findings_of(outcome: Outcome) -> tuple[ExperimentFinding, ...]:
    """Where carries are made, below the top column and there; how many values they have."""
    kinds = {Variable.parse(row[0]): row[1] for row in outcome.rows}
    top = max((column for column in kinds if column.name == "ST"), key=lambda each: each.index or 0, default=None)
    below = [kind for column, kind in kinds.items() if column != top]
    values = [_VALUES.get(kind, _UNTOLD) for column, kind in kinds.items() if column.index]  # column 0 has no U
    return (
        PLACE.answered(units_answer(below, (MADE_OPEN, NOT_ASKED))),
        TOP_PLACE.answered(DOES_NOT_APPLY if top is None else units_answer([kinds[top]], (MADE_OPEN, NOT_ASKED))),
        VALUES.answered(units_answer(values, (_UNTOLD,)), beside_paper(outcome, MADE_ROW)),
    )
