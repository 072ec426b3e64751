"""The calibrate command: records, tables and the page; and what it refuses before any work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.report.terminal.benchmark import calibration_page, calibration_tables, calibration_text


def run(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, ["calibrate", *arguments])
    return result.exit_code, result.stdout, result.exception


def published_on_decoys(out: Path) -> list[str]:
    circuit = ["--digits", "2", "--seeds", "1", "--operation", "add", "--dial", "decoys"]
    return [*circuit, "--method", "published", "--part", "scores", "--out", str(out)]


def test_the_command_prints_records_tables_and_the_page(tmp_path: Path) -> None:
    arguments = published_on_decoys(tmp_path)
    status, printed, _ = run(*arguments, "--json")
    assert status == 0
    records = [json.loads(line) for line in printed.splitlines()]
    assert [(each["method"], each["setting"]) for each in records] == [("published", "decoys_add_d2_s0")]
    labels = {name: records[0][name] for name in ("dial", "operation", "digits", "seed")}
    assert labels == {"dial": "decoys", "operation": "add", "digits": 2, "seed": 0}
    assert records[0]["result"]["decoys"]["n_found"] == 0
    assert run(*arguments)[1].strip() == calibration_text(records).strip()
    page = run(*arguments, "--markdown", "--svg", str(tmp_path / "drawn.svg"))[1]
    assert page.startswith(calibration_page(records, "x", []).splitlines()[0])
    assert "](drawn.svg)" in page
    assert "<svg" in (tmp_path / "drawn.svg").read_text()
    assert "| published | 0.667 | 0.667 | 0.308 | 0.000 | 13 |" in page
    ours = {**records[0], "method": "ours"}
    assert len(calibration_tables([ours])) == len(calibration_tables(records)) + 1, "where ours falls short"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--dial", "mirrors"], ["'mirrors'"]),
        (["--method", "tea leaves"], ["'tea leaves'", "published"]),
        (["--part", "lunch", "--digits", "2"], ["'lunch'", "scores, nothing, accounts, reliability"]),
        (["--json", "--markdown"], ["--json", "--markdown"]),
        (["--part", "accounts", "--svg", "x.svg"], ["--svg", "--part scores"]),
        (["--fit", "--svg", "x.svg"], ["--svg", "--part scores"]),
        (["--quick", "--dial", "plain"], ["--quick", "--dial"]),
    ],
)
def test_nonsense_is_refused_before_any_work(arguments: list[str], named: list[str]) -> None:
    status, printed, error = run(*arguments)
    assert status != 0
    assert isinstance(error, CarryLensError)
    assert [each for each in named if each not in str(error)] == []
    assert printed == ""
