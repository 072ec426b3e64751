"""A finding becomes a cell: every kind of value has its state, its word or number, and the figures behind it."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.battery.findings import (
    ChosenWord,
    EvidenceNote,
    FindingAnswer,
    FindingEvidence,
    FindingQuestion,
    FindingValue,
    Mixture,
    NamedShare,
    NullEvidence,
    Number,
    RangeEvidence,
    ShareEvidence,
    UnitEvidence,
    Unsettled,
)
from carrylens.arithmetic.family.cells import CellState, FamilyCell, cell_of, verdict_cell
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate

SHARES = ShareEvidence((NamedShare("add", Rate(9, 10), Rate(1, 10)), NamedShare("", Rate(1, 2), Rate(0, 2))))
UNITS = UnitEvidence((("a", 9), ("b", 1)), 2)


@pytest.mark.parametrize(
    ("value", "evidence", "cell"),
    [
        (ChosenWord("a"), SHARES, FamilyCell(CellState.TOLD, "a", "add 0.90 (null 0.10), 0.50 (null 0.00)")),
        (ChosenWord("a"), UNITS, FamilyCell(CellState.TOLD, "a", "9 of 10, 1 b, 2 not told")),
        (Mixture(("a", "b")), UNITS, FamilyCell(CellState.TOLD, "mixed: a / b", "9 a, 1 b, 2 not told")),
        (Unsettled.OPEN, UNITS, FamilyCell(CellState.OPEN, "", "9 a, 1 b, 2 not told")),
        (Unsettled.UNTESTED, None, FamilyCell(CellState.UNTESTED)),
        (Unsettled.APART, None, FamilyCell(CellState.APART)),
        (
            ChosenWord("a"),
            RangeEvidence((0.2, 0.1), 0.3),
            FamilyCell(CellState.TOLD, "a", "0.10 to 0.20 (null up to 0.30)"),
        ),
        (ChosenWord("a"), NullEvidence(0.2, 0.1), FamilyCell(CellState.TOLD, "a", "0.20 (null 0.10)")),
        (
            Number(0.5, 0.4, 0.6, 0.1, "line"),
            None,
            FamilyCell(CellState.MEASURED, "", "0.50 [0.40, 0.60] (line 0.10)", 0.5),
        ),
        (Number(4), EvidenceNote("each 4"), FamilyCell(CellState.MEASURED, "", "each 4", 4)),
        (Verdict.REFUTED, None, FamilyCell(CellState.TOLD, "refuted")),
        (Verdict.INCONCLUSIVE, None, FamilyCell(CellState.OPEN)),
    ],
)
def test_a_value_and_its_evidence_make_the_cell(
    value: FindingValue, evidence: FindingEvidence | None, cell: FamilyCell
) -> None:
    assert cell_of(FindingQuestion("x", "what x is").answered(FindingAnswer(value, 10, evidence))) == cell


def test_a_verdict_that_settles_nothing_has_no_word() -> None:
    assert [verdict_cell(verdict).word for verdict in Verdict] == ["supported", "refuted", "", ""]
