"""Cells: what one model has to say about one finding.

Takes  findings.
Gives  `Cell`: a word that can be compared, the figures behind it, and whether anything could be told.
Never  gives a word for what is open, and no effect without its null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.battery.findings import (
    ChosenWord,
    EvidenceNote,
    ExperimentFinding,
    FindingEvidence,
    FindingValue,
    Mixture,
    NullEvidence,
    Number,
    RangeEvidence,
    ShareEvidence,
    UnitEvidence,
    Unsettled,
)
from carrylens.claims.verdicts import Verdict

MIXED = "mixed: "
"""How the word of a cell begins whose columns or places are not of one kind."""


class CellState(Enum):
    """Whether a cell says something: a word, a number, or why there is neither."""

    TOLD = "told"
    MEASURED = "measured"
    OPEN = "open"
    UNTESTED = "untested"
    NOT_RUN = "not run"
    APART = "does not apply"


@dataclass(frozen=True)
class FamilyCell:
    """`word` is compared between models, `figure` stands behind it, `value` is a number that has no word."""

    state: CellState
    word: str = ""
    figure: str = ""
    value: float | None = None


NOT_RUN, APART, UNTESTED = FamilyCell(CellState.NOT_RUN), FamilyCell(CellState.APART), FamilyCell(CellState.UNTESTED)
_UNSETTLED = {
    Unsettled.OPEN: CellState.OPEN,
    Unsettled.UNTESTED: CellState.UNTESTED,
    Unsettled.APART: CellState.APART,
    Verdict.INCONCLUSIVE: CellState.OPEN,
    Verdict.UNTESTED: CellState.UNTESTED,
}


def cell_of(finding: ExperimentFinding) -> FamilyCell:
    """The cell of a finding."""
    value, figure = finding.value, figure_of(finding.value, finding.evidence)
    if isinstance(value, Number):
        return FamilyCell(CellState.MEASURED, figure=figure, value=value.value)
    if isinstance(value, Unsettled) or value in _UNSETTLED:
        return FamilyCell(_UNSETTLED[value], figure=figure)
    return FamilyCell(CellState.TOLD, _word(value), figure)


def verdict_cell(verdict: Verdict) -> FamilyCell:
    """The cell of an experiment's verdict.

    >>> verdict_cell(Verdict.REFUTED).word, verdict_cell(Verdict.INCONCLUSIVE).state.value
    ('refuted', 'open')
    """
    if verdict in _UNSETTLED:
        return FamilyCell(_UNSETTLED[verdict])
    return FamilyCell(CellState.TOLD, _word(verdict))


def figure_of(value: FindingValue, evidence: FindingEvidence | None) -> str:
    """The figures behind a value, as people read them."""
    if isinstance(value, Number) and value.null is not None:
        interval = f"[{value.low:.2f}, {value.high:.2f}]"
        return f"{value.value:.2f} {interval} ({value.null_name} {value.null:.2f})"
    match evidence:
        case ShareEvidence(shares):
            return ", ".join(f"{s.name} {s.effect.value:.2f} (null {s.null.value:.2f})".strip() for s in shares)
        case UnitEvidence():
            return _counted(value, evidence)
        case RangeEvidence(values, null):
            return f"{span(values)} (null up to {null:.2f})"
        case NullEvidence(number, null):
            return f"{number:.2f} (null {null:.2f})"
        case EvidenceNote(text):
            return text
    return ""


def span(values: Sequence[float]) -> str:
    """The least and the largest.

    >>> span([0.2, 0.1]), span([0.3]), span([4, 8])
    ('0.10 to 0.20', '0.30', '4 to 8')
    """
    whole = all(value == round(value) for value in values)
    low, high = (f"{value:.0f}" if whole else f"{value:.2f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _word(value: FindingValue) -> str:
    if isinstance(value, Mixture):
        return f"{MIXED}{' / '.join(value.words)}"
    return value.word if isinstance(value, ChosenWord) else str(value.value).lower()


def _counted(value: FindingValue, units: UnitEvidence) -> str:
    # Of one kind: how many of how many, then the others; else how many of each.
    shown = [f"{n} {name}" for name, n in units.counts]
    if isinstance(value, ChosenWord):
        shown[0] = f"{units.counts[0][1]} of {units.n_told}"
    return ", ".join([*shown, *([f"{units.n_untold} not told"] if units.n_untold else [])])
