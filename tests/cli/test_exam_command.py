"""The test command keeps what it asked, checks early whether it can save, and shows what it found in any case."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.model import Transformer, save_model
from carrylens.workflow import testing

COMMAND = ["test", "--per-class", "0", "--questions", "300", "--threads", "1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("carrylens.training.exam.CHUNK", 100)
    place = tmp_path / "add_d2_l1_h3_w24_t1K_s1"
    save_model(Transformer(config_of_width(2, 1, 3, width=24)), place)
    return place


def kept(folder: Path) -> list[int]:
    files = [file for file in (folder.parent / "cache").rglob("*.json") if "matplotlib" not in file.parts]
    return [sum(result["asked"] for result in json.loads(file.read_text())["results"]) for file in files]


def test_what_was_asked_is_kept_on_a_timer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []
    sit = Exam.sit

    def looked_at(exam: Exam) -> object:
        for count in sit(exam):
            seen.append(kept(folder))
            yield count

    monkeypatch.setattr(Exam, "sit", looked_at)
    monkeypatch.setattr(testing, "KEEP_SECONDS", 0.0)
    assert CliRunner().invoke(app, [*COMMAND, str(folder)]).exit_code == 1
    assert seen == [[], *([100 * n] for n in range(1, 12))], "the process might have been killed at any of these"
    assert kept(folder) == [], "a finished test leaves nothing behind"
    seen.clear()
    monkeypatch.setattr(testing, "KEEP_SECONDS", 3600.0)
    CliRunner().invoke(app, [*COMMAND, str(folder)])
    assert seen == [], "the saved test is shown"
    CliRunner().invoke(app, [*COMMAND, str(folder), "--restart"])
    assert seen == [[]] * 12


def test_a_cache_that_cannot_be_written_does_not_stop_the_test(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "cache").write_text("a file where the folder should be")
    monkeypatch.setattr(testing, "KEEP_SECONDS", 0.0)
    result = CliRunner().invoke(app, [*COMMAND, str(folder), "--json", "--no-save"])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert json.loads(result.stdout)["parts"][2]["asked"] == 300
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("what", ["seal", "rights"])
def test_a_folder_that_cannot_take_the_test_is_refused_before_the_first_question(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def no_question(_exam: Exam) -> object:
        raise AssertionError("a question was asked")

    monkeypatch.setattr(Exam, "sit", no_question)
    if what == "seal":
        sealed = json.loads((folder / "manifest.json").read_text())
        sealed["sha256"]["map.json"] = "0" * 64
        (folder / "manifest.json").write_text(json.dumps(sealed))
    else:
        monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != folder)
    result = CliRunner().invoke(app, [*COMMAND, str(folder), "--save"])
    assert isinstance(result.exception, CarryLensError)
    assert str(folder) in str(result.exception)
    assert "\n" not in str(result.exception)


def test_the_test_of_a_model_on_the_hub_goes_where_all_goes_that_is_found_out_about_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    exam = Exam.start(str(folder), 10, 0, "cpu")
    exam.source = replace(exam.source, given="hf:owner/add_d2_l1_h3_w24_t1K_s1", folder=None)
    assert exam.folder_to_save() == Path("maps") / exam.source.name


def test_when_saving_fails_the_results_are_shown_and_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise CarryLensError("No room.")

    with monkeypatch.context() as patch:
        patch.setattr("carrylens.arithmetic.zoo.exams.add_sealed", full)
        result = CliRunner().invoke(app, [*COMMAND, str(folder), "--save", "--json"])
    shown = json.loads(result.stdout)
    assert shown["parts"][0]["asked"] == 300
    assert str(result.exception).startswith("No room. ")
    assert kept(folder) == [1200]
    again = CliRunner().invoke(app, [*COMMAND, str(folder), "--save", "--json"])
    assert again.exit_code == 1
    assert json.loads(again.stdout) == shown == json.loads((folder / "test.json").read_text())
    assert kept(folder) == []


def test_a_test_of_one_population_keeps_what_was_saved_of_the_others(folder: Path) -> None:
    CliRunner().invoke(app, [*COMMAND, str(folder), "--save"])
    before = json.loads((folder / "test.json").read_text())["parts"]
    one = ["test", str(folder), "--questions", "0", "--per-class", "0", "--of", "enriched=500", "--save"]
    CliRunner().invoke(app, one)
    after = json.loads((folder / "test.json").read_text())["parts"]
    asked = {part["name"]: part["asked"] for part in before} | {"enriched": 500}
    assert {part["name"]: part["asked"] for part in after} == asked


def test_asking_more_later_equals_asking_all_at_once(folder: Path) -> None:
    at_once = Exam.start(str(folder), 300, 0, "cpu", ["enriched=700"])
    list(at_once.sit())
    first = Exam.start(str(folder), 300, 0, "cpu")
    list(first.sit())
    later = Exam.start(str(folder), 300, 0, "cpu", ["enriched=700"])
    assert later.asked == 0, "another exam"
    later.results = first.results
    assert not later.done
    list(later.sit())
    assert later.record() == at_once.record()
    assert [part["asked"] for part in later.record()["parts"]] == [300, 300, 700, 300]


def test_a_saved_test_says_how_many_failures_it_keeps(folder: Path) -> None:
    exam = Exam.start(str(folder), 300, 0, "cpu")
    list(exam.sit())
    record = exam.record()
    assert record["parts"][0]["failed"] > record["most_failures_kept"] == len(record["parts"][0]["failures"])


def test_every_question_is_asked_once_and_from_where_it_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrylens.training.exam.CHUNK", 3000)
    sit = Exam.sit

    def stopped(exam: Exam) -> object:
        yield next(iter(sit(exam)))
        exam.keep()
        raise KeyboardInterrupt

    command = ["test", str(folder), "--exhaustive", "--save", "--threads", "1", "--json"]
    with monkeypatch.context() as patched:
        patched.setattr(Exam, "sit", stopped)
        CliRunner().invoke(app, command)
    assert kept(folder) == [3000]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1, "weights that were not trained are wrong on some"
    said = json.loads((folder / "exhaustive.json").read_text())
    assert [(part["name"], part["asked"]) for part in said["parts"]] == [("every question", 10_000)]
    assert said["meets_bar"] is False
    assert not (folder / "test.json").exists()


def test_a_planted_circuit_is_the_specification(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["plant", "mix", "--digits", "2", "--out", str(tmp_path / "it")]).exit_code == 0
    result = CliRunner().invoke(app, ["test", str(tmp_path / "it"), "--exhaustive", "--threads", "1", "--json"])
    assert result.exit_code == 0, result.output
    parts = json.loads(result.stdout)["parts"]
    assert [(part["operation"], part["asked"], part["failed"]) for part in parts] == [
        ("add", 10_000, 0),
        ("sub", 10_000, 0),
    ]


@pytest.mark.parametrize("extra", [["--of", "natural=10"], []])
def test_more_questions_than_can_be_asked_are_refused(extra: list[str]) -> None:
    result = CliRunner().invoke(app, ["test", "add_d6_l2_h3_w96_t2K_s1", "--exhaustive", *extra])
    assert isinstance(result.exception, CarryLensError)


def test_a_published_folder_is_tested_and_drawn_and_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from carrylens.model.exchange import to_transformer_lens_state

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    name = "add_d2_l1_h3_w24_t1K_s1"
    folder = tmp_path / f"QuantaMaths_{name}"
    folder.mkdir()
    torch.save(to_transformer_lens_state(Transformer(config_of_width(2, 1, 3, width=24))), folder / "model.pth")
    (folder / "training_loss.json").write_text(json.dumps({"Config": {}, "TrainingLoss": [2.5, 1, 0.25]}))
    before = sorted(path.name for path in folder.iterdir())
    result = CliRunner().invoke(app, [*COMMAND, str(folder), "--save"])
    assert result.exit_code == 1, result.output
    said = json.loads((tmp_path / "maps" / name / "test.json").read_text())
    assert said["model"] == name
    drawn = CliRunner().invoke(app, ["losses", str(folder), "--svg", "losses.svg"])
    assert drawn.exit_code == 0, drawn.output
    assert name in (tmp_path / "losses.svg").read_text()
    assert sorted(path.name for path in folder.iterdir()) == before
