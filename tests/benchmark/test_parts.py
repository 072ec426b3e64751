"""What is found where nothing is, under a wrong account, and how sure a role may be called."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from carrylens.arithmetic import Operation
from carrylens.benchmark import method_runs as scoring
from carrylens.benchmark.circuits import Setting, training_settings
from carrylens.benchmark.empty_models import Empty, empty_records, empty_summary
from carrylens.benchmark.method_result import Found, Given
from carrylens.benchmark.method_runs import Work, score_methods
from carrylens.benchmark.reliability import FEW, cases_of, fit_confidence, reliability_table
from carrylens.benchmark.saved_results import Plain, Results
from carrylens.benchmark.sections import QUICK_AMOUNTS, calibration_records
from carrylens.benchmark.wrong_hypotheses import OPEN, RIGHT, WRONG, _verdict, account_records
from carrylens.claims.verdicts import Skeleton
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import Confidence, margin, shipped_confidence
from carrylens.evidence.rates import Rate
from carrylens.report.terminal.benchmark import calibration_page, calibration_tables, calibration_text
from carrylens.terminal import Stopped
from heavy_outcomes import once

SETTINGS = [Setting(dial, Operation.ADD, 2, 0) for dial in ("plain", "decoys")]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def cases(n: int, seed: int) -> list[Plain]:
    """Roles whose chance of being true grows with their hit rate, as a coin decides."""
    random = np.random.default_rng(seed)
    hits = random.integers(0, 129, n)
    true = random.random(n) < hits / 128
    return [case(at, int(h), bool(t)) for at, (h, t) in enumerate(zip(hits, true, strict=True))]


def case(at: int, hits: int, true: bool, setting: str | None = None) -> Plain:
    return {"setting": setting or f"c{at}", "role": f"r{at}", "hit": [hits, 128], "null": [0, 128], "true": true}


def test_a_fitted_rule_states_what_is_observed() -> None:
    rule = fit_confidence(cases(1500, seed=0), {})
    rows = [row for row in reliability_table(rule, cases(1500, seed=1)) if row["n"] > 40]
    assert len(rows) > 3
    assert all(abs(row["stated"] - row["hits"] / row["n"]) < 0.12 for row in rows)


def test_a_rule_that_lies_is_seen_in_the_table() -> None:
    rows = [row for row in reliability_table(Confidence(3.0, 0.0), cases(500, seed=1)) if row["n"]]
    assert len(rows) == 1
    assert rows[0]["interval"][1] < rows[0]["stated"]


def test_a_circuit_that_is_asked_often_counts_once() -> None:
    """Forty cases of one circuit bound the share no closer than one does; of forty circuits they do."""
    rule = Confidence(3.0, 0.0)
    (one,) = (row for row in reliability_table(rule, [case(0, 128, True, "same")] * 40) if row["n"])
    (many,) = (row for row in reliability_table(rule, [case(at, 128, True) for at in range(40)]) if row["n"])
    assert one["interval"] == list(Rate(1, 1).interval)
    assert many["interval"] == list(Rate(40, 40).interval)
    assert (one["n"], one["circuits"], many["circuits"]) == (40, 1, 40)


def test_cases_of_twins_are_counted() -> None:
    some = [case(0, 128, True), case(1, 128, False, "twin of c1"), case(2, 128, False, "twin of c2")]
    (row,) = (row for row in reliability_table(Confidence(3.0, 0.0), some) if row["n"])
    assert (row["n"], row["of_twins"]) == (3, 2)


def test_it_is_the_shipped_rule_that_is_held_against_the_circuits() -> None:
    rule, *_ = calibration_records(Work([], [], []), ["reliability"], QUICK_AMOUNTS)
    shipped = shipped_confidence()
    assert (rule["intercept"], rule["slope"], rule["most"]) == (shipped.intercept, shipped.slope, shipped.most)


def test_shares_are_of_what_they_say_and_means_are_over_circuits() -> None:
    none = {"n_true": 0, "n_found": 0, "n_both": 0}
    records = [
        {
            "part": "scores",
            "setting": str(n),
            "dial": "plain",
            "operation": "add",
            "digits": 2,
            "method": "probe",
            "threshold": None,
            "result": {
                "roles": {"n_true": 10, "n_found": n, "n_both": 2},
                "made": {"n_true": 4, "n_found": 9, "n_both": 1},
                **dict.fromkeys(("strict", "groups", "decoys"), none),
                "by_variable": {},
                **dict.fromkeys(("wrong", "missed", "wrong_groups", "missed_groups"), ()),
            },
        }
        for n in (4, 16)
    ]
    rows = {title: body for title, _, body in calibration_tables(records)}
    assert rows["All settings together"][0][:6] == ["probe", "0.200", "-", "0.200", "0.250", "20"]
    assert rows["Mean over circuits"] == [["probe", "2", "0.312", "0.200"]]


def test_empty_bins_are_shown_as_empty() -> None:
    rows = [{"part": "reliability", **row} for row in reliability_table(Confidence(3.0, 0.0), [case(0, 1, True)])]
    lines = [line for line in calibration_text(rows).splitlines() if "no case" in line]
    assert len(lines) == len(rows) - 1 == 6


def test_a_rule_stays_finite_where_nothing_is_false() -> None:
    rule = fit_confidence([case(at, 128 * (at % 2), at % 2 == 1) for at in range(100)], {})
    assert 0.9 < rule.of(Rate(128, 128), Rate(0, 128)) < 1.0
    assert rule.slope < 100


def test_no_rule_states_more_than_its_cases_show() -> None:
    """Ten different roles, all true, show eleven twelfths, however often each was asked."""
    cases = [case(at, 128, True) for at in range(10)] * 5 + [case(10 + at, 0, False) for at in range(50)]
    rule = fit_confidence(cases, {})
    assert rule.of(Rate(128, 128), Rate(0, 128)) == rule.most == round(11 / 12, 4)


def test_fewer_stimuli_make_less_sure() -> None:
    assert margin(Rate(8, 8), Rate(0, 8)) < margin(Rate(128, 128), Rate(0, 128))


def test_many_stimuli_that_show_nothing_are_no_evidence() -> None:
    """What never hits stays below what always does, though its interval is narrower; no null is no margin."""
    assert margin(Rate(0, 1024), Rate(0, 1024)) < 0 < margin(Rate(4, 4), Rate(0, 4))
    assert margin(Rate(128, 128), Rate(0, 0)) == -1.0


def test_the_shipped_rule_says_how_it_was_made() -> None:
    rule = shipped_confidence()
    assert Confidence.from_json(rule.to_json()) == rule
    assert rule.made["n_cases"] > rule.made["n_true"] > 0
    assert rule.slope > 0
    with pytest.raises(CarryLensError, match="Write carrylens calibrate --fit"):
        Confidence.from_json("{}")


@pytest.mark.slow
def test_an_untrained_model_has_no_roles_and_all_tests_are_counted() -> None:
    work = Work([], [], [], quick=True)
    empty = Empty("untrained", "untrained_s5", Operation.ADD, 5)
    (record,) = once(lambda: list(empty_records(work, [empty])), "empty", empty)
    assert record["confirmed"] == 0
    assert record["tested"] > record["of_sets"] > 1000
    assert record["tested"] > record["hit"] >= record["weighed"]
    (row,) = empty_summary([record, {**record, "weighed": 9, "confirmed": 2}])
    assert (row["tested"], row["roles"]["hits"], row["roles"]["n"]) == (2 * record["tested"], 2, record["weighed"] + 9)
    assert (row["models"]["hits"], row["models"]["n"]) == (1, 2)
    assert row["level"] == 0.01
    assert row["bound"] == 0.06


def test_a_verdict_is_right_if_it_names_what_the_circuit_runs() -> None:
    assert _verdict("x", True, Skeleton.PRESENT)["verdict"] == RIGHT
    assert _verdict("x", True, Skeleton.ABSENT)["verdict"] == WRONG
    assert _verdict("x", False, Skeleton.PRESENT)["verdict"] == WRONG
    assert _verdict("x", False, Skeleton.UNCLEAR)["verdict"] == "open"


@pytest.mark.slow
def test_light_work_judges_accounts_on_full_maps_and_small_work_does_not() -> None:
    """That carries do not ripple up is seen in nobody's holding one of them, which only a full search may say."""

    def verdicts(*, small: bool) -> dict[str, str]:
        records = account_records(Work([], [], [], quick=True, small=small), 3, 1)
        return {each["account"]: each["verdict"] for each in islice(records, 4)}

    light = once(lambda: verdicts(small=False), "accounts on full maps")
    small = once(lambda: verdicts(small=True), "accounts on small maps")
    assert (light["ripple add"], small["ripple add"]) == (RIGHT, OPEN)
    assert light["left-to-right add"] == small["left-to-right add"] == RIGHT


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
    page = run(*asked_for(kept), "--markdown", "--svg", str(kept / "drawn.svg"))[1]
    assert page.startswith("# How right the map is")
    assert "](drawn.svg)" in page
    assert "<svg" in (kept / "drawn.svg").read_text()
    assert "| published | 0.667 | 0.667 | 0.308 | 0.000 | 13 |" in page
    assert "Where ours falls short" not in calibration_page(records, "x", [])


def test_a_page_without_scores_says_what_it_is_about() -> None:
    rows = [{"part": "reliability", **row} for row in reliability_table(Confidence(3.0, 0.0), [case(0, 1, True)])]
    page = calibration_page(rows, "x", ["a", "b"], Path("docs/drawn.svg"))
    assert page.startswith("# What the map finds where it should find nothing")
    assert "others alone: a, b." in page
    rule = {"part": "confidence", "circuits": ["c"]}
    assert "others alone: c." in calibration_page([rule, *rows], "x", ["a", "b"])
    assert "![Stated confidence](drawn.svg)" in page
    assert "scored" not in page.splitlines()[0] + page.splitlines()[2]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--dial", "mirrors"], "There is no dial 'mirrors'"),
        (["--method", "tea leaves"], "There is no method 'tea leaves'"),
        (["--part", "lunch", "--digits", "2"], "There is no part 'lunch'. Write one of scores, nothing, accounts, "),
        (["--json", "--markdown"], "Choose one"),
        (["--part", "accounts", "--svg", "x.svg"], "--svg draws scores and reliability"),
        (["--fit", "--svg", "x.svg"], "--svg draws scores and reliability"),
        (["--quick", "--dial", "plain"], "--quick has circuits of its own"),
    ],
)
def test_nonsense_is_refused_before_any_work(arguments: list[str], reason: str) -> None:
    status, printed, error = run(*arguments)
    assert status != 0
    assert isinstance(error, CarryLensError)
    assert reason in str(error)
    assert printed == ""


@pytest.fixture(scope="module")
def weak() -> list[Plain]:
    setting = next(iter(training_settings(quick=True)))
    return once(lambda: cases_of(Work([], [], [], quick=True), [setting]), "cases", setting)


@pytest.mark.slow
def test_cases_come_on_few_pairs_too_and_some_of_those_are_false(weak: list[Plain]) -> None:
    right = [each for each in weak if not each["setting"].startswith("twin")]
    for n in FEW:
        assert {each["true"] for each in right if each["pairs"] == n} >= {True}
    few = [each for each in right if each["pairs"] in FEW]
    assert {each["true"] for each in few} == {True, False}
    assert len(few) > len(weak) // 4


@pytest.mark.slow
def test_false_cases_are_asked_for_their_null_and_some_look_like_true_ones(weak: list[Plain]) -> None:
    assert all(each["null"][1] and each["hit"][0] for each in weak)
    assert not any(each["true"] for each in weak if each["setting"].startswith("twin"))
    margins = {
        true: [margin(Rate(*each["hit"]), Rate(*each["null"])) for each in weak if each["true"] is true]
        for true in (True, False)
    }
    assert max(margins[False]) > min(margins[True])
