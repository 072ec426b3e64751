"""Variables of one's own go the whole way: mapped, judged, on the page, compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.claims.claims import claims_of
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.cli import app
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError
from carrylens.workflow.known_truths import beside_truth
from carrylens.workflow.task_files import task_finder

FILE = Path(__file__).parents[2] / "examples" / "own_variable.py"
OWN = ("--hypothesis", str(FILE))


def run(*words: str) -> str:
    result = CliRunner().invoke(app, [*words], catch_exceptions=True)
    if isinstance(result.exception, CarryLensError):
        raise result.exception
    assert result.exit_code in (0, 1), result.output
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planted model, mapped for the variables of the file, and judged."""
    made = tmp_path_factory.mktemp("own") / "model"
    plant(describe(Operation.ADD, 2)).save(made)
    run("map", str(made), "--quick", *OWN)
    run("judge", str(made), *OWN)
    return made


def test_the_map_and_the_claims_lie_in_a_folder_of_the_hypothesis_and_the_usual_place_stays_free(folder: Path) -> None:
    (inside,) = (path.parent for path in folder.glob("*/map.json"))
    assert not (folder / "map.json").exists()
    found = json.loads((inside / "map.json").read_text())
    assert {role["variable"].split("[")[0] for role in found["roles"]} >= {"CLS", "A"}
    (claims,) = inside.glob("claims.*.json")
    verdicts = {each["claim"]: each["verdict"] for each in json.loads(claims.read_text())["claims"]}
    assert verdicts["carried CLS[0] for A[2]"] == "SUPPORTED"
    assert verdicts["carried PAR[0] for A[0]"] != "SUPPORTED"


def test_page_and_comparison_show_the_variables_of_ones_own(folder: Path, tmp_path: Path) -> None:
    record = json.loads(run("report", str(folder), *OWN, "--out", str(tmp_path / "page.html"), "--json"))
    assert record["page"] == str(tmp_path / "page.html")
    assert "CLS" in (tmp_path / "page.html").read_text()
    run("compare", str(folder), str(folder), *OWN, "--out", str(tmp_path / "both.html"))
    assert "CLS" in (tmp_path / "both.html").read_text()


def test_without_the_file_such_a_map_is_refused(folder: Path) -> None:
    (inside,) = (path.parent for path in folder.glob("*/map.json"))
    with pytest.raises(CarryLensError, match="--hypothesis"):
        run("judge", str(inside))


def test_what_would_settle_it_is_a_command_with_this_folder_and_this_file(folder: Path) -> None:
    (point,) = json.loads(run("judge", str(folder), *OWN, "--json"))["open"]
    assert point["settled_by"].split() == ["carrylens", "settle", str(folder), *OWN]


def test_judge_report_and_compare_repeat_the_verdict_of_settle(folder: Path, tmp_path: Path) -> None:
    settled = json.loads(run("settle", str(folder), *OWN, "--quick", "--budget", "0", "--json"))
    judged = json.loads(run("judge", str(folder), *OWN, "--json"))
    assert judged["joint_interchange"] is not None
    assert {name: judged[name] for name in ("verdict", "joint_interchange")} == {
        name: settled[name] for name in ("verdict", "joint_interchange")
    }
    assert settled["verdict"] != "runs", "the circuit has no parity"
    page = tmp_path / "both.html"
    compared = run("compare", str(folder), str(folder), *OWN, "--out", str(page))
    assert settled["verdict"].split()[-1] in compared.splitlines()[0]


def test_what_is_true_of_the_planted_variables_is_not_held_against_ones_own(folder: Path) -> None:
    source, find_task = find_source(str(folder)), task_finder(None)
    (own,) = folder.glob("*/map.json")
    mapped = read_map(own, find_task, own_hypothesis(FILE, source.task).model)
    assert beside_truth(source, mapped) == ""
    assert beside_truth(source, replace(mapped, causal=mapped.task.causal, roles=(), groups=())) != ""


@pytest.mark.parametrize(
    "layout",
    [
        QuestionLayout(2, sign=False),
        QuestionLayout(2, units_first=True, operator=False, sign=False, query="*"),
        QuestionLayout(2, sign=False, answer_digits=2, start=("*",), end=("/",)),
    ],
)
def test_the_same_file_states_the_hypothesis_in_other_layouts(layout: QuestionLayout) -> None:
    task = arithmetic_task(Operation.ADD, 2, layout)
    stated = own_hypothesis(FILE, task)
    questions = task.samplers["enriched"].draw(3, 0, 200)
    assert stated.model.outputs == task.causal.outputs
    assert (stated.model.output_values(questions) == task.causal.output_values(questions)).all()
    named = {str(each.variable) for each in claims_of(stated, layout.layout()) if each.variable is not None}
    assert {"CLS[0]", "PAR[0]"} <= named
