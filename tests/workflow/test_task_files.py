"""Commands on a model for a task that a file of the user's own declares: the wired circuit of the brackets example."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner, Result

import carrylens as cl
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.model.folder import save_model
from carrylens.tasks.task_file import declared_task, finder_of, task_hash

EXAMPLE = Path(__file__).parents[2] / "examples" / "brackets.py"
N = 6
BRACKETS = runpy.run_path(str(EXAMPLE))
SMALL = f"""
import runpy

def task():
    return runpy.run_path({str(EXAMPLE)!r})["brackets"]({N})
"""


def run(*words: object, status: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == status, (result.output, result.exception)
    return result


def refused(*words: object) -> str:
    """What is wrong, which the command line prints as one line."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(result.exception, CarryLensError), result.output
    return str(result.exception)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of the imported model, and the file that declares its task."""
    place = tmp_path_factory.mktemp("own task")
    file, folder = place / "small.py", place / "model"
    file.write_text(SMALL)
    model, _ = BRACKETS["wired"](BRACKETS["brackets"](N), N)
    torch.save(model.state_dict(), place / "weights.pt")
    run("import", place / "weights.pt", "--task", file, "--norm", "none", "--out", folder)
    return folder, file


def test_the_example_declares_a_task_and_its_rival() -> None:
    task = declared_task(EXAMPLE)
    assert [model.name for model in (task.causal, *task.rivals)] == ["prefix checks", "running stack"]
    assert task.spec["file"] == str(EXAMPLE)
    assert finder_of(task)(dict(task.spec)) is task
    for other in ({**task.spec, "sha256": "0" * 64}, {"operation": "add", "digits": 2}):
        with pytest.raises(CarryLensError, match=task.name):
            finder_of(task)(other)


def test_the_hash_tells_algorithms_and_layouts_apart() -> None:
    six, five = BRACKETS["brackets"](6), BRACKETS["brackets"](5)
    assert task_hash(six) == task_hash(BRACKETS["brackets"](6))
    rival = type(six)(six.name, six.rivals[0], six.layout, six.samplers)
    renamed = type(six.layout)(six.layout.vocabulary, six.layout.slots, six.layout.families, ("yes", "no"))
    other = type(six)(six.name, six.causal, renamed, six.samplers)
    assert len({task_hash(each) for each in (six, five, rival, other)}) == 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "task = 3",
        "def task():\n    raise KeyError('gone')",
        "def task():\n    exit(1)",
        "import nothing_of_the_kind",
    ],
)
def test_a_file_that_declares_no_task_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(CarryLensError, match=r"mine\.py"):
        declared_task(file)
    with pytest.raises(CarryLensError, match=r"gone\.py"):
        declared_task(tmp_path / "gone.py")


def test_the_folder_remembers_its_task_and_runs_no_file_by_itself(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder, file = made
    ran = tmp_path / "ran"
    spec = json.loads((folder / "config.json").read_text())["task"]
    assert (spec["file"], spec["name"]) == (str(file), f"{N} brackets")
    text = file.read_text()
    try:
        file.write_text(f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n{text}")
        for command in ("ask", "test", "map", "settle", "report", "explain", "explore"):
            assert "--task" in refused(command, folder), command
        assert not ran.exists()
        assert json.loads(run("ask", folder, "(())()?", "--task", file, "--json").stdout)["answer"] == "yes"
        assert ran.exists(), "a file that was named is run"
    finally:
        file.write_text(text)


def test_a_task_that_does_not_fit_the_folder_is_refused(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder, _ = made
    assert "12 brackets" in refused("ask", folder, "--task", EXAMPLE)
    plain = tmp_path / "plain"
    model, _ = BRACKETS["wired"](BRACKETS["brackets"](N), N)
    model.task = None
    save_model(model, plain)
    assert "n_ctx" in refused("ask", plain, "--task", EXAMPLE)
    assert "--digits" in refused("import", tmp_path / "w.pt", "--task", EXAMPLE, "--digits", "3")
    assert "--digits" in refused("import", tmp_path / "w.pt")
    assert "add" in refused("ask", "add_d6_l2_h3_w96_t2K_s1", "--task", EXAMPLE)


def test_questions_are_answered_and_counted(made: tuple[Path, Path]) -> None:
    folder, file = made
    asked = run("ask", folder, "(())()?", "())(()?", "--task", file, "--json").stdout.splitlines()
    assert [json.loads(line)["answer"] for line in asked] == ["yes", "no"]
    assert all(json.loads(line)["correct"] for line in asked)
    assert "T0" in run("ask", folder, "x", "--task", file, status=2).output
    words = ("test", folder, "--task", file, "--questions", 200, "--of", "natural=64", "--no-save", "--json")
    record: dict[str, Any] = json.loads(run(*words).stdout)
    assert {part["name"]: (part["asked"], part["failed"]) for part in record["parts"]} == {
        "enriched": (200, 0),
        "natural": (64, 0),
    }
    assert "natural" in refused("test", folder, "--task", file, "--of", "strange=3")
    assert "--exhaustive" in refused("test", folder, "--task", file, "--exhaustive")


def test_python_takes_the_file_or_the_task(made: tuple[Path, Path]) -> None:
    folder, file = made
    for task in (str(file), declared_task(file)):
        model = cl.load(folder, task=task)
        assert cl.ask(model, "((()))?")[0]["answer"] == "yes"
    with pytest.raises(CarryLensError, match="--task"):
        cl.load(folder)


@pytest.mark.slow
def test_the_circuit_is_mapped_settled_judged_and_shown(made: tuple[Path, Path], tmp_path: Path) -> None:
    folder, file = made
    own = ("--task", file)
    found = json.loads(run("map", folder, *own, "--quick", "--json").stdout)
    carried = {(*role["nodes"], role["variable"]) for role in found["roles"]}
    assert {(f"P{N}L1H0", "ANY"), (f"P{N}L0MLP", "EQ"), ("P4L0MLP", "F[4]")} <= carried
    settled = json.loads(run("settle", folder, *own, "--quick", "--budget", 0, "--json", status=1).stdout)
    assert [rival["name"] for rival in settled["rivals"]] == ["running stack"]
    judged = json.loads(run("judge", folder, *own, "--json", status=1).stdout)
    assert judged["verdict"] == settled["verdict"]
    assert judged["map"]["hypothesis"] == "prefix checks"
    assert judged["map"]["rivals"][0]["skeleton"] == "absent"
    page, explorer = tmp_path / "page.html", tmp_path / "explore.html"
    run("report", folder, *own, "--out", page)
    run("explore", folder, *own, "--out", explorer)
    assert all(name in page.read_text() for name in ("prefix checks", "running stack", f"{N} brackets"))
    assert f"{N} brackets" in explorer.read_text()
    assert "--task" in refused("judge", folder)
    run("explain", folder, *own, "--quick", "--out", tmp_path / "all")
    assert (tmp_path / "all" / "report.html").is_file()
