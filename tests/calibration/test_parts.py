"""What is found where nothing is, under a wrong account, and how sure a role may be called."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from carrylens.arithmetic import Operation
from carrylens.calibration import scoring
from carrylens.calibration.found import Found, Given
from carrylens.calibration.nothing_there import Empty, empty_records, empty_summary
from carrylens.calibration.reliability import FEW, cases_of, fit_confidence, reliability_table
from carrylens.calibration.results import Plain, Results
from carrylens.calibration.scoring import Work, score_methods
from carrylens.calibration.settings import Setting, training_settings
from carrylens.calibration.wrong_account import RIGHT, WRONG, _verdict
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import Confidence, margin, shipped_confidence
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Skeleton
from carrylens.report.calibration import calibration_page, calibration_text
from carrylens.terminal import Stopped

SETTINGS = [Setting(dial, Operation.ADD, 2, 0) for dial in ("plain", "decoys")]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def cases(n: int, seed: int) -> list[Plain]:
    """Roles whose chance of being true grows with their hit rate, as a coin decides."""
    random = np.random.default_rng(seed)
    hits = random.integers(0, 129, n)
    true = random.random(n) < hits / 128
    return [{"hit": [int(h), 128], "null": [0, 128], "true": bool(t)} for h, t in zip(hits, true, strict=True)]


def test_a_fitted_rule_states_what_is_observed() -> None:
    rule = fit_confidence(cases(1500, seed=0), {})
    rows = [row for row in reliability_table(rule, cases(1500, seed=1)) if row["n"] > 40]
    assert len(rows) > 3
    assert all(abs(row["stated"] - row["hits"] / row["n"]) < 0.12 for row in rows)


def test_a_rule_that_lies_is_seen_in_the_table() -> None:
    rows = [row for row in reliability_table(Confidence(3.0, 0.0), cases(500, seed=1)) if row["n"]]
    assert len(rows) == 1
    assert rows[0]["interval"][1] < rows[0]["stated"]


def test_a_rule_stays_finite_where_nothing_is_false() -> None:
    sure = [{"hit": [128, 128], "null": [0, 128], "true": True}] * 50
    rule = fit_confidence(sure + [{"hit": [0, 128], "null": [0, 128], "true": False}] * 50, {})
    assert 0.9 < rule.of(Rate(128, 128), Rate(0, 128)) < 1.0
    assert rule.slope < 100


def test_fewer_stimuli_make_less_sure() -> None:
    assert margin(Rate(8, 8), Rate(0, 8)) < margin(Rate(128, 128), Rate(0, 128))


def test_the_shipped_rule_says_how_it_was_made() -> None:
    rule = shipped_confidence()
    assert Confidence.from_json(rule.to_json()) == rule
    assert rule.made["n_cases"] > rule.made["n_true"] > 0
    assert rule.slope > 0
    with pytest.raises(CarryLensError, match="Write carrylens calibrate --fit"):
        Confidence.from_json("{}")


def test_an_untrained_model_has_no_roles_and_all_tests_are_counted() -> None:
    work = Work([], [], [], quick=True)
    (record,) = empty_records(work, [Empty("untrained", "untrained_s5", Operation.ADD, 5)])
    assert record["confirmed"] == 0
    assert record["tested"] > record["of_sets"] > 1000
    (row,) = empty_summary([record])
    assert row["roles"]["hits"] == 0
    assert 0 < row["roles"]["interval"][1] < 0.01
    assert row["level"] == 0.01


def test_a_verdict_is_right_if_it_names_what_the_circuit_runs() -> None:
    assert _verdict("x", True, Skeleton.PRESENT)["verdict"] == RIGHT
    assert _verdict("x", True, Skeleton.ABSENT)["verdict"] == WRONG
    assert _verdict("x", False, Skeleton.PRESENT)["verdict"] == WRONG
    assert _verdict("x", False, Skeleton.UNCLEAR)["verdict"] == "open"


def test_work_that_was_stopped_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def method(given: Given) -> Found:
        asked.append(len(given.nodes))
        return Found()

    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("decoys"):
            raise Stopped(what)

    monkeypatch.setattr(scoring, "MAPPING", {"ours": method})
    with pytest.raises(Stopped):
        list(score_methods(Work(SETTINGS, [], ["ours"], results=Results(tmp_path), watch=stop)))
    assert len(asked) == 1
    records = list(score_methods(Work(SETTINGS, [], ["ours"], results=Results(tmp_path))))
    assert len(asked) == 2
    assert records == list(score_methods(Work(SETTINGS, [], ["ours"], results=Results(tmp_path))))
    assert [record["setting"] for record in records] == [setting.name for setting in SETTINGS]
    assert not list(tmp_path.rglob("*.sqlite*"))


def run(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, ["calibrate", *arguments])
    return result.exit_code, result.stdout, result.exception


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calibration")


def asked_for(kept: Path) -> list[str]:
    circuit = ["--digits", "2", "--seeds", "1", "--operation", "add", "--dial", "decoys"]
    return [*circuit, "--method", "published", "--part", "scores", "--out", str(kept)]


def test_the_command_prints_records_tables_and_the_page(kept: Path) -> None:
    status, printed, _ = run(*asked_for(kept), "--json")
    assert status == 0
    records = [json.loads(line) for line in printed.splitlines()]
    assert [(each["method"], each["setting"]) for each in records] == [("published", "decoys_add_d2_s0")]
    assert records[0]["result"]["decoys"]["n_found"] == 0
    assert run(*asked_for(kept))[1].strip() == calibration_text(records).strip()
    page = run(*asked_for(kept), "--markdown")[1]
    assert page.startswith("# How right the map is")
    assert "| published | 1.000 | 1.000 |" in page
    assert "Where ours falls short" not in calibration_page(records, "x", [])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--dial", "mirrors"], "There is no dial 'mirrors'"),
        (["--method", "tea leaves"], "There is no method 'tea leaves'"),
        (["--part", "lunch", "--digits", "2"], "There is no part 'lunch'. Write one of scores, nothing, accounts, "),
        (["--json", "--markdown"], "Choose one"),
        (["--quick", "--dial", "plain"], "--quick has circuits of its own"),
    ],
)
def test_nonsense_is_refused_before_any_work(arguments: list[str], reason: str) -> None:
    status, printed, error = run(*arguments)
    assert status != 0
    assert isinstance(error, CarryLensError)
    assert reason in str(error)
    assert printed == ""


def test_cases_come_on_few_pairs_too_and_some_of_those_are_false() -> None:
    setting = next(iter(training_settings(quick=True)))
    cases = cases_of(Work([], [], [], quick=True), [setting])
    few = [case for case in cases if case["hit"][1] <= max(FEW) and case["setting"] == setting.name]
    assert {case["true"] for case in few} == {True, False}
    assert len(few) > len(cases) // 4
