"""The tables and the page of a benchmark show what its records say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carrylens.benchmark.reliability import reliability_table
from carrylens.benchmark.weak_evidence import RoleCase
from carrylens.evidence.confidence import Confidence
from carrylens.report.terminal.benchmark import calibration_page, calibration_tables, calibration_text

NONE = {"n_true": 0, "n_found": 0, "n_both": 0}
CASE = RoleCase("c0", "r0", None, (1, 128), (0, 128), True)


def score(setting: str, n_found: int, **labels: object) -> dict[str, Any]:
    result = {
        "roles": {"n_true": 10, "n_found": n_found, "n_both": 2},
        "made": {"n_true": 4, "n_found": 9, "n_both": 1},
        **dict.fromkeys(("strict", "groups", "decoys"), NONE),
        "by_variable": {},
        **dict.fromkeys(("wrong", "missed", "wrong_groups", "missed_groups"), ()),
    }
    return {"part": "scores", "setting": setting, **labels, "method": "probe", "threshold": None, "result": result}


def stated_rows() -> list[dict[str, Any]]:
    return [{"part": "reliability", **row} for row in reliability_table(Confidence(3.0, 0.0), [CASE])]


def test_shares_are_of_what_they_say_and_means_are_over_circuits() -> None:
    records = [score(str(n), n, dial="plain", operation="add", digits=2) for n in (4, 16)]
    rows = {title: body for title, _, body in calibration_tables(records)}
    assert rows["All settings together"][0][:6] == ["probe", "0.200", "-", "0.200", "0.250", "20"]
    assert rows["Mean over circuits"] == [["probe", "2", "0.312", "0.200"]]


def test_circuits_without_dials_or_digits_have_the_tables_that_need_neither() -> None:
    records = [score("relay", 4)]
    assert [row[0] for title, _, body in calibration_tables(records) for row in body if "dial" in title] == []
    assert "0.200" in calibration_text(records)
    assert "0.200" in calibration_page(records, "x", [])


def test_empty_bins_are_shown_as_empty() -> None:
    rows = stated_rows()
    lines = [line for line in calibration_text(rows).splitlines() if "no case" in line]
    assert len(lines) == len(rows) - 1 == 6


def test_a_page_without_scores_says_which_circuits_its_rule_was_fitted_on() -> None:
    page = calibration_page(stated_rows(), "x", ["a", "b"], Path("docs/drawn.svg"))
    scored = calibration_page([score("relay", 4)], "x", ["a", "b"])
    assert page.splitlines()[0] != scored.splitlines()[0]
    assert "a, b." in page
    rule = {"part": "confidence", "circuits": ["c"]}
    assert "c." in calibration_page([rule, *stated_rows()], "x", ["a", "b"])
    assert "a, b." not in calibration_page([rule, *stated_rows()], "x", ["a", "b"])
    assert "](drawn.svg)" in page
