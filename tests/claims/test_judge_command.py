"""`carrylens judge`, from saved files and without PyTorch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import SA, ST, SV, A
from carrylens.claims.judgement import CLAIMS, judge
from carrylens.claims.verdicts import ModelVerdict, Verdict
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed, write_sealed
from carrylens.interventions.engine import Engine
from carrylens.model.weights import hash_of
from carrylens.workflow.judging import judge_map
from claims.maps import left_to_right_map, with_roles
from command_line import run_here

DOCUMENT = Path(__file__).parents[2] / "docs" / "own_hypothesis.md"
WITHOUT_TORCH = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ImportError("torch is not to be imported")
sys.meta_path.insert(0, NoTorch())
from carrylens.cli import main
main()
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_here("judge", *arguments)


def run_without_torch(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT_TORCH, "judge", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def found() -> NodeMap:
    return left_to_right_map(Operation.ADD, 3)


@pytest.fixture
def folder(tmp_path: Path, found: NodeMap) -> Path:
    (tmp_path / MAP).write_text(found.to_json())
    return tmp_path


def test_a_saved_map_is_judged_without_torch(folder: Path) -> None:
    result = run_without_torch(folder)
    assert result.returncode == 1, "no alignment was measured, so it is not settled"
    assert "left-to-right add" in result.stdout.splitlines()[0]
    written = json.loads((folder / CLAIMS).read_text())
    assert written["skeleton"] == "present"
    assert {each["hypothesis"]: each["skeleton"] for each in written["rivals"]}["ripple add"] == "absent"
    evidence = [claim["evidence"] for claim in written["claims"] if claim["claim"] == "carried SV[1] for A[2]"]
    assert evidence[0][0]["hit"] == {"hits": 48, "n": 48, "interval": [0.926, 1.0]}


def test_a_model_that_does_not_run_the_algorithm_is_exit_status_1_and_json_says_why(
    folder: Path, found: NodeMap
) -> None:
    broken = with_roles(found, lambda role: None if role.variable == SV[1] else role)
    (folder / MAP).write_text(broken.to_json())
    result = run(folder / MAP, "--json")
    assert result.returncode == 1
    required = [claim for claim in json.loads(result.stdout)["claims"] if claim["required"]]
    refuted = [claim["claim"] for claim in required if claim["verdict"] == "REFUTED"]
    assert refuted == ["carried SV[1] for A[2]"]


def test_the_documented_hypothesis_runs_and_is_refuted_by_a_model_that_adds_right(folder: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (folder / "mine.py").write_text(block)
    result = run_without_torch(folder, "--hypothesis", folder / "mine.py", "--json")
    assert result.returncode == 1, result.stderr
    judged = json.loads(result.stdout)
    verdicts = {claim["claim"]: claim["verdict"] for claim in judged["claims"]}
    assert verdicts["carried SC[1] for A[2]"] == "UNTESTED"
    assert verdicts["answers"] == verdicts["apart for A[2]"] == "REFUTED"
    assert verdicts["timely SA[2]"] == "SUPPORTED"
    assert judged["map"]["rivals"][0]["hypothesis"] == "left-to-right add"
    assert judged["map"]["rivals"][0]["skeleton"] == "present"
    assert json.loads((folder / "claims.nine-carries.json").read_text()) == judged["map"]
    assert not (folder / CLAIMS).exists(), "the usual hypothesis' own file is left alone"


TWO_PARAMETERS = """
from dataclasses import replace
from carrylens.arithmetic.hypotheses import left_to_right

def hypothesis(operation, digits):
    return replace(left_to_right(operation, digits), name="mine")
"""


def test_a_file_of_the_first_version_is_accepted(folder: Path) -> None:
    (folder / "mine.py").write_text(TWO_PARAMETERS)
    assert judge_map(folder, folder / "mine.py").verdict is ModelVerdict.RUNS


FAILING = """
from dataclasses import replace
from carrylens.arithmetic.hypotheses import left_to_right

def broken(*values):
    raise IndexError("no such column")

def hypothesis(task):
    usual = left_to_right(task.operation, task.digits)
    first, *others = usual.model.mechanisms
    model = replace(usual.model, mechanisms=(replace(first, rule=broken), *others))
    return replace(usual, name="mine", model=model)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "mine.py"),
        ("def hypothesis(a, b): return 1 / 0", "ZeroDivisionError"),
        ("", "mine.py"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("def hypothesis(a, b): raise SystemExit", "SystemExit"),
        (FAILING, "mine.py.*IndexError: no such column"),
        (
            "from carrylens.arithmetic.hypotheses import left_to_right\n"
            "def hypothesis(a, b): return left_to_right(a, b)",
            "left-to-right add",
        ),
    ],
)
def test_a_file_that_states_no_hypothesis_is_one_clear_line(folder: Path, text: str, message: str) -> None:
    (folder / "mine.py").write_text(text)
    with pytest.raises(CarryLensError, match=message):
        judge_map(folder, folder / "mine.py")


def test_what_is_no_map_is_one_clear_line(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    (tmp_path / MAP).write_text("{}")
    with pytest.raises(CarryLensError, match=MAP):
        judge_map(tmp_path, None)


@pytest.mark.slow
def test_claims_that_cannot_be_written_are_one_clear_line_and_not_a_verdict(folder: Path) -> None:
    (folder / "file").touch()
    for out in ("/proc/x/y", folder / "file" / "claims.json", folder / ("n" * 300)):
        result = run(folder, "--out", out)
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
        assert str(out) in result.stderr


def test_a_map_that_was_changed_after_it_was_sealed_is_refused(folder: Path, found: NodeMap) -> None:
    write_sealed(folder, {}, also=[MAP])
    assert judge_map(folder, None).verdict is ModelVerdict.RUNS
    (folder / MAP).write_text(with_roles(found, lambda role: None if role.variable == SV[1] else role).to_json())
    result = run(folder)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert str(folder / MAP) in result.stderr
    write_sealed(folder, {"other.json": b"{}"})
    with pytest.raises(CarryLensError, match="manifest.json"):
        judge_map(folder, None)


@pytest.mark.slow
def test_a_map_of_other_weights_than_those_beside_it_is_refused(tmp_path: Path, found: NodeMap) -> None:
    planted = plant(describe(Operation.ADD, 3))
    planted.save(tmp_path)
    for sha256, refused in ((hash_of(planted.model), False), ("0" * 64, True)):
        told = replace(found, stimuli={**found.stimuli, "sha256": sha256})
        add_sealed(tmp_path, {MAP: told.to_json().encode()})
        result = run(tmp_path)
        assert (sha256[:12] in result.stderr) is refused, result.stderr
        assert result.returncode == (2 if refused else 1)


def test_roles_found_by_search_show_that_the_model_runs_the_algorithm() -> None:
    """Single nodes only: all is supported here, because the plant has one copy of everything."""
    planted, task = plant(describe(Operation.ADD, 2)), arithmetic_task(Operation.ADD, 2)
    engine, nodes = Engine(planted.model, task), sorted(planted.truth.roles)
    population = task.samplers["enriched"]
    usefulness = measure_usefulness(engine, nodes, population.draw(1, 0, 48), population.draw(1, 48, 48))
    settings = RoleSettings(n_find=24, n_confirm=32, n_compete=12, level=0.01)
    roles = find_roles(SearchContext(engine, task.causal, settings), [(node,) for node in nodes])
    said = {"n_find": 24, "seed": 0}
    searched = NodeMap("planted", task, task.causal, 2, 1, tuple(usefulness), tuple(roles), said)
    judgement = judge(searched, left_to_right(Operation.ADD, 2))
    assert judgement.verdict is ModelVerdict.RUNS
    missing = replace(searched, roles=tuple(role for role in roles if role.variable != SA[1]))
    assert judge(missing, left_to_right(Operation.ADD, 2)).verdict is ModelVerdict.NOT_SETTLED
    sure = {f.claim.variable for f in judgement.findings if f.verdict is Verdict.SUPPORTED}
    assert {ST[0], ST[1], SA[1], A[1]} <= sure
