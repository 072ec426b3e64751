"""A planted model is an ordinary model folder with its truth, and every command works on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import load_truth, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.model_facts import model_name
from carrylens.cli import main
from carrylens.errors import CarryLensError
from carrylens.folders import check_sealed


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this very process, which has PyTorch already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["carrylens", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Done(int(ended.value.code or 0), out, err)

    return call


def test_a_saved_plant_comes_back_with_its_truth(tmp_path: Path) -> None:
    planted = plant(describe(Operation.MIX, 2, Dials(redundancy=2, sharing=True, decoys=1, noise=1, rotated=True)))
    planted.save(tmp_path / "any name")
    loaded = cl.load(str(tmp_path / "any name"))
    assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), planted.model.parameters(), strict=True))
    assert load_truth(tmp_path / "any name") == planted.truth
    assert str(model_name(tmp_path / "any name")) == planted.truth.name
    assert "truth.json" in check_sealed(tmp_path / "any name")


def test_a_truth_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    plant(describe(Operation.ADD, 2)).save(tmp_path)
    path = tmp_path / "truth.json"
    path.write_text(path.read_text().replace('"ST[1]"', '"ST[0]"'))
    with pytest.raises(CarryLensError, match=r"truth\.json.*manifest\.json"):
        load_truth(tmp_path)
    with pytest.raises(CarryLensError, match=r"truth\.json.*`model`"):
        Truth.from_json("{}")


def test_a_saved_exam_keeps_the_truth_sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    plant(describe(Operation.ADD, 2)).save(tmp_path / "model")
    exam = Exam.start(str(tmp_path / "model"), 50, 5, "cpu")
    list(exam.sit())
    exam.save()
    assert sum(result.failed for result in exam.results) == 0
    assert set(check_sealed(tmp_path / "model")) >= {"truth.json", "test.json", "model.safetensors"}


def test_the_command_plants_checks_draws_and_the_others_accept_it(run: Run, tmp_path: Path) -> None:
    done = run("plant", "mix", "--digits", "2", "--polysemy", "--svg", "a.svg", "--check", "100", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["failed"] == 0
    assert record["asked"] > 200
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    name = record["name"]
    assert ModelName.parse(name).planted
    asked = run("ask", name, "12+34", "12-34", "--json")
    assert [json.loads(line)["answer"] for line in asked.stdout.splitlines()] == ["+046", "-022"]
    tested = run("test", f"models/{name}", "--questions", "50", "--per-class", "5")
    assert tested.returncode == 0, tested.stderr
    again = run("plant", "mix", "--digits", "2", "--polysemy")
    assert again.returncode == 2
    assert name in again.stderr


def test_a_description_goes_out_and_comes_back_in(run: Run, tmp_path: Path) -> None:
    written = run("plant", "add", "--digits", "2", "--describe")
    assert CircuitDescription.from_json(written.stdout) == describe(Operation.ADD, 2)
    (tmp_path / "own.json").write_text(written.stdout)
    assert run("plant", "--description", "own.json", "--out", "o").returncode == 0
    assert load_truth(tmp_path / "o").description == describe(Operation.ADD, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "--method", "right-to-left", "--digits", "3"], "C[1] at P10L0H0"),
        (["mix", "--method", "one-layer"], "one-layer"),
        (["add", "--timing", "never"], "lazy or tail"),
        (["add", "--description", "nowhere.json"], "cannot be read"),
    ],
)
def test_what_cannot_be_planted_is_one_line_and_status_2(run: Run, arguments: list[str], message: str) -> None:
    done = run("plant", *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert message in done.stderr


def test_a_rival_that_fails_tells_so_by_its_status(run: Run) -> None:
    done = run("plant", "add", "--method", "one-layer", "--digits", "3", "--check", "200", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] > 0


def test_a_planted_name_is_not_trained(run: Run) -> None:
    done = run("train", "planted_add_d6_l2_h1_w55_s0")
    assert done.returncode == 2
    assert "carrylens plant" in done.stderr
