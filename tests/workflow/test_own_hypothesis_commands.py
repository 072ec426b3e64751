"""Variables of one's own go the whole way: mapped, judged, on the page, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.cli import app
from carrylens.errors import CarryLensError

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
