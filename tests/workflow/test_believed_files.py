"""What is read of a model is that model's: its files, its map, its name; and every shipped model makes a page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.sources import SHIPPED, find_source, shipped_names
from carrylens.discovery.node_map import NodeMap
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed
from carrylens.steps import finish, read_made
from carrylens.training.exam_results import PartResult
from carrylens.workflow.judging import claims_beside, judge_map, save_claims
from carrylens.workflow.reading import page_of_saved, read_source

ONE, TWO = "add_d6_l2_h3_w96_t2K_s1", "add_d6_l2_h3_w96_t2K_s2"
ERRS = "add_d5_l1_h3_w96_t5K_s1"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def judged(name: str) -> None:
    judgement = judge_map(Path(name), None)
    save_claims(judgement, claims_beside(Path(name), None), seal=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [ERRS, ONE, "sub_d6_l2_h3_w96_t5K_s1"])
def test_a_shipped_model_is_judged_and_then_reported(here: Path, name: str) -> None:
    judged(name)
    folder, saved = read_source(find_source(name), None)
    assert b"</html>" in page_of_saved(saved, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in shipped_names() if (SHIPPED / name / "map.json").exists()])
def test_all_that_came_with_a_shipped_model_is_read(name: str) -> None:
    source = find_source(name)
    found = NodeMap.from_json((SHIPPED / name / "map.json").read_bytes(), find_task)
    assert (found.model, found.stimuli["sha256"]) == (source.name, source.sha256)
    for file in ("test.json", "training.jsonl", "battery.json", "config.json"):
        assert read_made(SHIPPED / name, file, "it") is not None


def test_a_file_that_is_not_sealed_is_not_believed(here: Path) -> None:
    add_sealed(here, {"one.json": b"1"})
    finish(here, "step", {}, {"two.json": b"2"})
    assert (read_made(here, "one.json", "it"), read_made(here, "two.json", "it")) == (b"1", b"2")
    assert read_made(here, "three.json", "it") is None
    (here / "three.json").write_bytes(b"3")
    (here / "one.json").write_bytes(b"4")
    for name in ("one.json", "three.json"):
        with pytest.raises(CarryLensError, match=name):
            read_made(here, name, "it")


def test_adding_a_file_blesses_no_other(here: Path) -> None:
    add_sealed(here, {"one.json": b"1"})
    (here / "one.json").write_bytes(b"changed")
    add_sealed(here, {"two.json": b"2"})
    with pytest.raises(CarryLensError, match=r"one\.json"):
        read_made(here, "one.json", "it")


@pytest.mark.slow
def test_another_models_map_is_refused_wherever_it_is_read(here: Path) -> None:
    shutil.copytree(SHIPPED / ONE, here / ONE)
    other = (SHIPPED / TWO / "map.json").read_bytes()
    add_sealed(here / ONE, {"map.json": other})
    for read in (lambda: judge_map(Path(ONE), None), lambda: read_source(find_source(ONE), Path(ONE))):
        with pytest.raises(CarryLensError):
            read()


def test_a_folder_called_otherwise_than_its_model_is_refused(here: Path) -> None:
    shutil.copytree(SHIPPED / ONE, here / TWO)
    with pytest.raises(CarryLensError, match=f"{ONE}.*{TWO}"):
        find_source(str(here / TWO))
    shutil.move(here / TWO, here / "any name")
    assert find_source(str(here / "any name")).name == ONE


def test_an_edited_history_is_refused(here: Path) -> None:
    shutil.copytree(SHIPPED / ONE, here / "mine")
    path = here / "mine" / "training.jsonl"
    path.write_text(path.read_text().replace(ONE, ONE.replace("add", "sub"), 1))
    with pytest.raises(CarryLensError, match=r"training\.jsonl"):
        find_source(str(here / "mine"))


WRONG = {
    "more failures than questions": [PartResult("natural", "add", 2, 3)],
    "all counted and nothing drawn": [PartResult("natural", "add", 10**9, 0)],
    "failures that are not shown": [PartResult("natural", "add", 10, 3)],
    "another population": [PartResult("paper", "add", 10, 0)],
    "too few parts": [],
}


@pytest.mark.parametrize("what", WRONG)
def test_a_kept_test_that_cannot_be_is_set_aside(here: Path, what: str) -> None:
    exam = Exam.start(ONE, 0, 0, "cpu", ["natural=100"])
    exam.results = WRONG[what]
    exam.keep()
    again = Exam.start(ONE, 0, 0, "cpu", ["natural=100"])
    assert again.asked == 0
    assert again.note is not None
    assert [path.suffix for path in (here / "cache").rglob("*") if path.is_file()] == [".damaged"]


def test_a_kept_test_that_was_changed_is_set_aside(here: Path) -> None:
    exam = Exam.start(ONE, 0, 0, "cpu", ["natural=100"])
    exam.results = [PartResult("natural", "add", 50, 0)]
    exam.keep()
    assert Exam.start(ONE, 0, 0, "cpu", ["natural=100"]).asked == 50
    (path,) = (path for path in (here / "cache").rglob("*.json"))
    kept = json.loads(path.read_bytes())
    kept["results"][0]["asked"] = 100
    path.write_text(json.dumps(kept))
    again = Exam.start(ONE, 0, 0, "cpu", ["natural=100"])
    assert (again.asked, again.done) == (0, False)
