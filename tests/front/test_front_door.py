"""The front door offers what it says, loads nothing early, and gives the same records as the rooms behind it."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import carrylens as cl
from carrylens.arithmetic import Questions
from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.cli import app, family
from carrylens.cli.groups import GROUPS
from carrylens.discovery.node_map import NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.model.source import ModelSource
from carrylens.workflow.given_models import source_of

ADDER = "add_d6_l2_h3_w96_t2K_s1"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def shipped_folder(name: str) -> Path:
    folder = find_source(name).folder
    assert folder is not None
    return folder


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import carrylens, sys; print([n for n in ('torch', 'numpy', 'matplotlib', 'scipy') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_tab_offers_the_functions_and_each_says_what_it_gives() -> None:
    assert dir(cl) == sorted(cl.__all__)
    for name in cl.__all__:
        if name[0].islower() and not name.startswith("_"):
            assert (getattr(cl, name).__doc__ or "").strip(), name


OWN_CALLS = {"load", "attention"}
"""What Python has and the command line has not, or under another name: `import` is `load` with a folder."""
OWN_COMMANDS = {"import", "bench"}
"""`bench` measures carrylens itself."""


def test_the_command_line_and_python_offer_the_same() -> None:
    commands = {name for names in GROUPS.values() for name in names}
    calls = {name for name in cl.__all__ if name[0].islower()}
    assert calls - commands == OWN_CALLS
    assert commands - calls == OWN_COMMANDS


def calls_of(source: str) -> set[str]:
    """The functions of the front door that a module calls."""
    nodes = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "cl"}


def test_every_command_is_a_call_of_the_front_door() -> None:
    for command in {name for names in GROUPS.values() for name in names} - {"bench", "family"}:
        found = next(each for each in app.registered_commands if each.name == command)
        assert found.callback is not None
        module = inspect.getsource(inspect.getmodule(found.callback))  # type: ignore[arg-type]
        assert ("load" if command == "import" else command) in calls_of(module), command
    assert "family" in calls_of(inspect.getsource(family))
    assert calls_of("found = other.map(1)") == set(), "a command that goes round it is seen"


def test_a_model_in_memory_is_known_by_the_folder_it_came_from_until_its_weights_change(here: Path) -> None:
    model = cl.load(ADDER)
    assert source_of(model).name == ADDER
    assert source_of(model).sha256 == find_source(ADDER).sha256
    with torch.no_grad():
        model.unembed.b_U[3] += 1.0
    changed = source_of(model)
    assert isinstance(changed, ModelSource)
    assert changed.name != ADDER
    assert changed.folder is None
    assert changed.analysis_folder(None) == Path("maps") / changed.name


def test_a_model_without_a_task_is_refused_in_one_line(here: Path) -> None:
    model = cl.load(ADDER)
    model.task = None
    for call in (cl.map, cl.test, cl.battery, cl.explain, cl.judge):
        with pytest.raises(cl.CarryLensError, match="task") as caught:
            call(model)
        assert "\n" not in str(caught.value)
    with pytest.raises(cl.CarryLensError, match="int"):
        cl.map(5)  # type: ignore[arg-type]


def test_the_saved_map_and_test_of_a_shipped_model_are_taken(here: Path) -> None:
    model = cl.load(ADDER)
    found = cl.map(model, quick=True)
    assert isinstance(found, NodeMap)
    assert found.sha256 == read_map(shipped_folder(ADDER) / "map.json", find_task).sha256
    tested = cl.test(ADDER, questions=1000, per_class=10)
    assert tested.path is not None
    assert tested.asked >= 3_120_000
    assert tested.meets_bar is True
    assert not list(here.iterdir()), "nothing was measured, so nothing was written"


def test_judging_a_map_equals_judging_the_model_it_is_of(here: Path) -> None:
    of_map, of_model = cl.judge(cl.map(ADDER)), cl.judge(ADDER, save=False)
    assert of_map.claims is not None
    assert of_model.claims is not None
    assert of_map.claims.saved_record() == of_model.claims.saved_record()
    assert of_map.joint == of_model.joint
    assert cl.judge(ADDER).verdict is of_map.verdict
    assert [path.name for path in here.rglob("claims.json")], "beside the model's analyses"


def test_a_planted_model_is_mapped_in_memory_and_its_map_stands_beside_the_truth(here: Path) -> None:
    planted = cl.plant("add", 1, folder="planted_add")
    found = cl.map(planted.model, quick=True, groups=False, pairs=False)
    assert found.model == planted.truth.name
    assert found.beside_truth, "its truth lies in the folder"
    assert {str(node) for node in found.useful} >= {str(node) for node in planted.truth.roles}


def test_what_a_small_test_found_never_takes_the_place_of_a_larger_one(here: Path) -> None:
    planted = cl.plant("add", 1, folder="planted_add").model
    large = cl.test(planted, questions=300, per_class=5)
    small = cl.test(planted, questions=50, per_class=5)
    assert small.figures == large.figures, "what was asked for is there already"
    anew = cl.test(planted, questions=50, per_class=5, restart=True)
    assert anew.asked < large.asked
    assert cl.test(planted, questions=300, per_class=5).figures["parts"] == large.figures["parts"]
    assert cl.test(planted, questions=10, per_class=0, restart=True, keep=False).path is None


def test_a_model_that_only_adds_says_so() -> None:
    with pytest.raises(cl.CarryLensError, match="only adds"):
        cl.ask(ADDER, "5-3")
    assert [each["correct"] for each in cl.ask(ADDER, "5+3", "999999+1")] == [True, True]


def test_two_mapped_models_are_compared_and_judged_on_demand(here: Path) -> None:
    found = cl.compare(ADDER, "add_d6_l2_h3_w96_t2K_s2")
    assert ADDER in found.save("both.html").read_text()
    assert len(found.lines) == 3
    assert all(line.lower().count("interchanging several variables") == 1 for line in found.lines[1:]), "said once"
    with pytest.raises(cl.CarryLensError):
        cl.compare(ADDER)


@pytest.mark.slow
def test_training_is_gone_on_with_and_then_only_loaded(here: Path) -> None:
    first = cl.train("add_d1_l1_h1_w8_t1K_s1", out="mine")
    again = cl.train("add_d1_l1_h1_w8_t1K_s1", out="mine")
    assert len(first.history) == len(again.history) > 2
    assert torch.equal(first.model.W_E, again.model.W_E)
    with pytest.raises(cl.CarryLensError, match="mine"):
        cl.train("add_d1_l1_h1_w8_t1K_s2", out="mine")


def test_a_file_of_weights_becomes_a_folder_that_everything_takes(here: Path) -> None:
    torch.save(cl.load(ADDER).state_dict(), "my.pt")
    with pytest.raises(cl.CarryLensError, match="task"):
        cl.load("my.pt")
    mine = cl.load("my.pt", task="add", digits=6, folder="mine")
    assert mine.answer("555555+444448") == "+1000003"
    assert cl.load("mine").generate(Questions.parse(["1+2"], 6)) == ["000001+000002=+0000003"]
    assert source_of(mine).folder == Path("mine")
