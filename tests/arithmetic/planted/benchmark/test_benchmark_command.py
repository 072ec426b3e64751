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
from carrylens.benchmark.baselines import attention
from carrylens.benchmark.leaderboard import BoardCost, Leaderboard
from carrylens.benchmark.method_interface import Found, Given
from carrylens.benchmark.method_registry import chosen_methods, method_from_file
from carrylens.cli import app
from carrylens.errors import CarryLensError

TOLD = False  # said of the methods of this file
PAGE = Path(__file__).parents[4] / "docs" / "benchmark.md"


def run(*arguments: str) -> tuple[int, str, BaseException | None]:
    result = CliRunner().invoke(app, ["benchmark", *arguments])
    return result.exit_code, result.stdout, result.exception


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The first method of the page, as a reader would save it."""
    return saved_method(0, tmp_path / "mine.py")


def saved_method(order: int, path: Path) -> Path:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    block = [each for each in blocks if "def find(given" in each][order]
    assert len([line for line in block.splitlines() if line.strip()]) <= 20
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
    assert isinstance(board.cost, BoardCost)
    assert board.cost.n_runs == len(scores) == len(board.models), "no model is run with several seeds"
    assert board.cost.seconds > 0
    assert "](leaderboard.svg)" in (tmp_path / "board" / "leaderboard.md").read_text()
    assert "<svg" in (tmp_path / "board" / "leaderboard.svg").read_text()


def test_the_method_of_roles_of_the_page_is_scored(tmp_path: Path) -> None:
    path = saved_method(1, tmp_path / "variance.py")
    row = carrylens.benchmark(path, suites=["kind"], quick=True, seeds=0).of("variance", "kind")
    assert row.told is True
    assert row.threshold is not None
    assert row.precision is not None
    assert row.recall is not None
    assert 0.3 < row.recall.value < 1.0


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


FAILING = {
    "return 1 / 0": ["'mine'", "mine.py, line 3", "ZeroDivisionError"],
    "raise SystemExit(3)": ["'mine'", "mine.py, line 3", "SystemExit"],
    "return given.no_such_thing": ["'mine'", "line 3", "no_such_thing"],
    "return Found(node_scores={'xx': 1.0})": ["'mine'", "line 3", "'xx'", "P10L0H2"],
    "return Found(node_scores=[1.0])": ["'mine'", "line 3"],
    "return Found(role_scores={('P3L0H0', 'SA[0]'): 'much'})": ["'mine'", "line 3", "much"],
    "return Found(edge_scores={'P3L0H0->L9H0.v': 1.0})": ["'mine'", "P3L0H0->L9H0.v"],
    "return Found(verdicts={given.hypotheses[0].name: 'perhaps'})": ["'mine'", "'perhaps'", "does not run"],
}


@pytest.mark.parametrize("line", FAILING)
def test_a_method_that_fails_is_named_in_one_line_with_the_place(line: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"from carrylens.benchmark.method_interface import Found\ndef find(given):\n    {line}\n")
    status, printed, error = run("--method", str(path), "--suite", "empty", "--quick", "--seeds", "0")
    assert (status == 0, printed) == (False, "")
    assert isinstance(error, CarryLensError)
    assert "\n" not in str(error)
    assert [each for each in FAILING[line] if each not in str(error)] == []


def test_what_goes_wrong_in_our_own_code_or_stops_a_run_keeps_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(what: str, _done: int, _total: int) -> None:
        if ":" in what:  # what a method says, not the run
            raise KeyError(what)

    def told(given: Given) -> Found:
        given.progress("half", 1, 2)
        return Found()

    with pytest.raises(KeyError):
        carrylens.benchmark(told, suites=["empty"], quick=True, seeds=0, progress=stop)
    monkeypatch.delattr(attention, "average_pattern")
    with pytest.raises(NameError):
        carrylens.benchmark("attention", suites=["empty"], quick=True, seeds=0)


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
    assert (method.name, method.find, method.told) == ("theirs", _theirs, TOLD)


def test_an_entry_point_that_leads_nowhere_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("lost", "no_such_module:find", method_registry.GROUP),
        EntryPoint("number", f"{__name__}:TOLD", method_registry.GROUP),
    ]
    monkeypatch.setattr(method_registry, "entry_points", lambda group: EntryPoints(points).select(group=group))
    for name, named in (("lost", "no_such_module"), ("number", "find(given)")):
        with pytest.raises(CarryLensError, match=repr(name)) as refusal:
            chosen_methods([name])
        assert named in str(refusal.value)


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
