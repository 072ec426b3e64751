"""The benchmark command: a method from the page of the docs, its records and leaderboard; what it refuses."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
from typer.testing import CliRunner

import carrylens
from carrylens.benchmark import method_registry
from carrylens.benchmark.leaderboard import Leaderboard
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.method_registry import chosen_methods, method_from_file
from carrylens.cli import app
from carrylens.errors import CarryLensError

PAGE = Path(__file__).parents[4] / "docs" / "benchmark.md"


def run(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, ["benchmark", *arguments])
    return result.exit_code, result.stdout, result.exception


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The method of the page, as a reader would save it."""
    (block, *_) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
    path = tmp_path / "mine.py"
    path.write_text(block)
    return path


def test_the_method_of_the_page_is_scored(mine: Path, tmp_path: Path) -> None:
    arguments = ["--method", str(mine), "--suite", "kind", "--quick", "--seeds", "2", "--out", str(tmp_path / "kept")]
    status, printed, error = run(*arguments, "--json")
    assert (status, error) == (0, None)
    records = [json.loads(line) for line in printed.splitlines()]
    scores = [record for record in records if record["part"] == "scores"]
    assert {record["method"] for record in records} == {"mine"}
    assert {record["suite"] for record in scores} == {"kind"}
    assert all(record["result"]["node_auroc"] > 0.5 and record["told"] is False for record in scores)
    assert all(record["n_seeds"] == 2 and record["jaccard"] > 0.5 for record in records if record not in scores)
    status, printed, _ = run(*arguments, "--leaderboard", str(tmp_path / "board"))
    assert status == 0
    assert "node AUROC" in printed
    board = Leaderboard.from_json((tmp_path / "board" / "leaderboard.json").read_bytes())
    assert {model.sha256 for model in board.models} == {record["sha256"] for record in scores}
    assert board.of("mine", "kind").precision is None
    assert len(board.signature.methods["mine"]) == 64
    assert "](leaderboard.svg)" in (tmp_path / "board" / "leaderboard.md").read_text()
    assert "<svg" in (tmp_path / "board" / "leaderboard.svg").read_text()


@pytest.mark.slow
def test_workers_find_what_one_process_finds(mine: Path, tmp_path: Path) -> None:
    arguments = ["--method", str(mine), "--suite", "empty", "--quick", "--seeds", "0", "--json"]
    several = run(*arguments, "--workers", "2", "--out", str(tmp_path / "kept"))
    alone = run(*arguments)
    assert several[0] == alone[0] == 0
    left, right = (
        [{**json.loads(line), "seconds": 0} for line in printed.splitlines()] for _, printed, _ in (several, alone)
    )
    assert left == right
    assert len(list((tmp_path / "kept").rglob("*.json"))) == len(left)


def test_what_was_found_is_kept_by_content(mine: Path, tmp_path: Path) -> None:
    arguments = ["--suite", "hostile", "--quick", "--seeds", "0", "--out", str(tmp_path / "kept"), "--json"]
    first = run("--method", str(mine), *arguments)[1]
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.json")}
    assert run("--method", str(mine), *arguments)[1] == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").rglob("*.json")} == kept
    mine.write_text(mine.read_text() + "\n# another method\n")
    run("--method", str(mine), *arguments)
    assert len(list((tmp_path / "kept").rglob("*.json"))) == 2 * len(kept)


def test_python_takes_a_function() -> None:
    def guess(given: Given) -> Found:
        return Found(verdicts={each.name: "runs" for each in given.hypotheses})  # type: ignore[misc]

    board = carrylens.benchmark(guess, suites=["aligned"], quick=True, seeds=0)
    row = board.of("guess", "aligned")
    n_false = row.n_false_runs[0]
    assert row.false_runs is not None
    assert row.n_false_runs == (n_false, n_false)
    assert row.false_runs.value == 1.0
    assert sum(said["runs"] for deserved, said in row.verdicts.items() if deserved != "runs") == n_false > 0
    assert row.verdicts["runs in part"]["runs"] == 1, "that of the model with a gate"
    assert str(board).startswith("Leaderboard: 1 methods")
    with pytest.raises(CarryLensError, match="nobody"):
        board.of("nobody", "aligned")


def test_a_leaderboard_that_was_changed_is_refused() -> None:
    board = carrylens.benchmark(lambda _given: Found(), suites=["hostile"], quick=True, seeds=0)
    content = board.to_json()
    assert Leaderboard.from_json(content).to_json() == content
    with pytest.raises(CarryLensError):
        Leaderboard.from_json(content.replace(b'"n_circuits": ', b'"n_circuits": 1'))


def test_the_front_door_imports_no_torch() -> None:
    code = "import sys, carrylens; carrylens.benchmark; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_entry_point_is_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("theirs", f"{__name__}:_theirs", method_registry.GROUP)
    monkeypatch.setattr(method_registry, "entry_points", lambda group: EntryPoints([point]).select(group=group))
    (method,) = chosen_methods(["theirs"])
    assert (method.name, method.find) == ("theirs", _theirs)


def _theirs(_given: Given) -> Found:
    return Found()


@pytest.mark.parametrize(
    ("content", "named"),
    [("x = 1\n", "find(given)"), ("def find(:\n", "line 1"), ("NAME = '../x'\ndef find(g): ...\n", "'../x'")],
)
def test_a_file_that_holds_no_method_is_refused(tmp_path: Path, content: str, named: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(content)
    with pytest.raises(CarryLensError, match=r"mine\.py") as refusal:
        method_from_file(path)
    assert named in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--suite", "cruel"], ["'cruel'", "kind, hostile, aligned, empty"]),
        (["--split", "train"], ["'train'", "dev, test"]),
        (["--method", "tea leaves"], ["'tea leaves'", "published", "mine.py"]),
        (["--method", "absent.py"], ["absent.py", "find(given)"]),
        (["--seeds", "1"], ["1 seeds"]),
        (["--controls", "--json", "--markdown"], ["--json", "--markdown"]),
        (["--controls", "--fit"], ["--controls", "--fit"]),
        (["--quick", "--workers", "2"], ["--out", "--workers"]),
        (["--likeness", "--fit"], ["--likeness", "--fit"]),
        (["--likeness", "--leaderboard", "x"], ["--leaderboard", "--likeness"]),
        (["--svg", "x.svg"], ["--svg", "--controls"]),
        (["--controls", "--leaderboard", "x"], ["--leaderboard", "--controls"]),
    ],
)
def test_nonsense_is_refused_before_any_work(arguments: list[str], named: list[str]) -> None:
    status, printed, error = run(*arguments)
    assert status != 0
    assert isinstance(error, CarryLensError)
    assert [each for each in named if each not in str(error)] == []
    assert printed == ""
