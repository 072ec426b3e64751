"""`carrylens judge`, from saved files and without PyTorch."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import SA, ST, SV, A
from carrylens.claims.judgement import CLAIMS, judge
from carrylens.claims.verdicts import Skeleton, Verdict
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.roles import find_roles
from carrylens.discovery.settings import Settings
from carrylens.errors import CarryLensError
from carrylens.interventions.engine import Engine
from carrylens.model.manifest import write_sealed
from carrylens.pipeline import judge_map
from carrylens.training.identity import hash_of
from claims.maps import left_to_right_map, with_roles

DOCUMENT = Path(__file__).parents[2] / "docs" / "hypothesis.md"
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
    result = run(folder)
    assert result.returncode == 0, result.stderr
    assert "skeleton present" in result.stdout.splitlines()[0]
    assert "Rival 'ripple add': absent" in result.stdout
    written = json.loads((folder / CLAIMS).read_text())
    assert written["skeleton"] == "present"
    evidence = [claim["evidence"] for claim in written["claims"] if claim["claim"] == "carried SV[1] for A[2]"]
    assert evidence[0][0]["hit"] == {"hits": 48, "n": 48, "interval": [0.926, 1.0]}


def test_an_absent_skeleton_is_exit_status_1_and_json_says_why(folder: Path, found: NodeMap) -> None:
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
    result = run(folder, "--hypothesis", folder / "mine.py", "--json")
    assert result.returncode == 1, result.stderr
    judged = json.loads(result.stdout)
    verdicts = {claim["claim"]: claim["verdict"] for claim in judged["claims"]}
    assert verdicts["carried SC[1] for A[2]"] == "UNTESTED"
    assert verdicts["answers"] == verdicts["apart for A[2]"] == "REFUTED"
    assert verdicts["timely SA[2]"] == "SUPPORTED"
    assert judged["rivals"][0]["hypothesis"] == "left-to-right add"
    assert judged["rivals"][0]["skeleton"] == "present"
    assert json.loads((folder / "claims.nine-carries.json").read_text()) == judged
    assert not (folder / CLAIMS).exists(), "the usual account's own file is left alone"


FAILING = """
from dataclasses import replace
from carrylens.arithmetic.hypotheses import left_to_right

def broken(*values):
    raise IndexError("no such column")

def hypothesis(operation, digits):
    usual = left_to_right(operation, digits)
    first, *others = usual.model.mechanisms
    model = replace(usual.model, mechanisms=(replace(first, rule=broken), *others))
    return replace(usual, name="mine", model=model)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "states no hypothesis"),
        ("def hypothesis(a, b): return 1 / 0", "ZeroDivisionError"),
        ("", "no hypothesis"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("def hypothesis(a, b): raise SystemExit", "SystemExit"),
        (FAILING, "mine.py fails with IndexError: no such column"),
        (
            "from carrylens.arithmetic.hypotheses import left_to_right\n"
            "def hypothesis(a, b): return left_to_right(a, b)",
            "Give it another name",
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
    with pytest.raises(CarryLensError, match="no node map"):
        judge_map(tmp_path, None)


@pytest.mark.slow
def test_claims_that_cannot_be_written_are_one_clear_line_and_not_a_verdict(folder: Path) -> None:
    (folder / "file").touch()
    for out in ("/proc/x/y", folder / "file" / "claims.json", folder / ("n" * 300)):
        result = run(folder, "--out", out)
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
        assert "cannot be written" in result.stderr


def test_a_map_that_was_changed_after_it_was_sealed_is_refused(folder: Path, found: NodeMap) -> None:
    write_sealed(folder, {}, also=[MAP])
    assert judge_map(folder, None).skeleton is Skeleton.PRESENT
    (folder / MAP).write_text(with_roles(found, lambda role: None if role.variable == SV[1] else role).to_json())
    result = run(folder)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "is not the file that was saved" in result.stderr
    write_sealed(folder, {"other.json": b"{}"})
    with pytest.raises(CarryLensError, match="does not list map.json"):
        judge_map(folder, None)


@pytest.mark.slow
def test_a_map_of_other_weights_than_those_beside_it_is_refused(tmp_path: Path, found: NodeMap) -> None:
    planted = plant(describe(Operation.ADD, 3))
    planted.save(tmp_path)
    for sha256, refused in ((hash_of(planted.model), False), ("0" * 64, True)):
        told = replace(found, stimuli={**found.stimuli, "sha256": sha256})
        write_sealed(tmp_path, {MAP: told.to_json().encode()}, also=["model.safetensors"])
        result = run(tmp_path)
        assert ("is of other weights" in result.stderr) is refused, result.stderr
        assert result.returncode == (2 if refused else 0)


def test_roles_found_by_search_give_the_skeleton_too() -> None:
    """Single nodes only: all is supported here, because the plant has one copy of everything."""
    planted = plant(describe(Operation.ADD, 2))
    engine, nodes = Engine(planted.model), sorted(planted.truth.roles)
    stream = Stream(StreamKind.ENRICHED, Operation.ADD, 2, seed=1)
    usefulness = measure_usefulness(engine, nodes, stream.take(0, 48), stream.take(48, 48))
    settings = Settings(n_find=24, n_confirm=32, n_compete=12, level=0.01)
    roles = find_roles(engine, algorithm(Operation.ADD, 2), [(node,) for node in nodes], settings)
    searched = NodeMap("planted", Operation.ADD, 2, 2, 1, tuple(usefulness), tuple(roles), {"n_find": 24, "seed": 0})
    judgement = judge(searched, left_to_right(Operation.ADD, 2))
    assert judgement.skeleton is Skeleton.PRESENT
    missing = replace(searched, roles=tuple(role for role in roles if role.variable != SA[1]))
    assert judge(missing, left_to_right(Operation.ADD, 2)).skeleton is Skeleton.UNCLEAR
    sure = {f.claim.variable for f in judgement.findings if f.verdict is Verdict.SUPPORTED}
    assert {ST[0], ST[1], SA[1], A[1]} <= sure
