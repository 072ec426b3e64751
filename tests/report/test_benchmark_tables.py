"""The tables and the page of the controls show what their records say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carrylens.benchmark.reliability import reliability_table
from carrylens.benchmark.weak_evidence import RoleCase
from carrylens.evidence.confidence import Confidence
from carrylens.report.terminal.benchmark import control_page, control_text

CASE = RoleCase("c0", "r0", None, (1, 128), (0, 128), True)


def stated_rows() -> list[dict[str, Any]]:
    return [{"part": "reliability", **row} for row in reliability_table(Confidence(3.0, 0.0), [CASE])]


def test_empty_bins_are_shown_as_empty() -> None:
    rows = stated_rows()
    lines = [line for line in control_text(rows).splitlines() if "no case" in line]
    assert len(lines) == len(rows) - 1 == 6


def test_the_page_says_which_circuits_its_rule_was_fitted_on() -> None:
    page = control_page(stated_rows(), "x", ["a", "b"], Path("docs/drawn.svg"))
    assert "a, b." in page
    rule = {"part": "confidence", "circuits": ["c"]}
    assert "c." in control_page([rule, *stated_rows()], "x", ["a", "b"])
    assert "a, b." not in control_page([rule, *stated_rows()], "x", ["a", "b"])
    assert "](drawn.svg)" in page
