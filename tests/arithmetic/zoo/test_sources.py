"""Sources: what a user writes becomes one model with its task, or one clear error."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.arithmetic.zoo.sources import SHIPPED, find_source, shipped_names
from carrylens.discovery.node_map import MAP
from carrylens.errors import CarryLensError
from carrylens.folders import CONFIG, WEIGHTS
from carrylens.model import Transformer, save_model
from carrylens.model.weights import hash_of

NAME = "sub_d3_l1_h3_w24_t1K_s1"
ADD = "add_d5_l1_h3_w96_t5K_s1"


def saved(folder: Path, task: ArithmeticTask | None = None, digits: int = 3) -> Transformer:
    model = Transformer(config_of_width(digits, 1, 3, width=24, seed=2))
    model.task = task
    save_model(model, folder)
    return model


def test_a_name_says_what_a_model_is_for(tmp_path: Path) -> None:
    model = saved(tmp_path / NAME)
    source = find_source(str(tmp_path / NAME))
    assert (source.name, source.folder, source.is_shipped) == (NAME, tmp_path / NAME, False)
    assert source.task is arithmetic_task(Operation.SUB, 3)
    assert source.sha256 == hash_of(model) == hash_of(source.load())
    assert source.load().task is source.task


def test_a_folder_of_any_name_goes_by_its_config(tmp_path: Path) -> None:
    saved(tmp_path / "mine", arithmetic_task(Operation.ADD, 3))
    source = find_source(str(tmp_path / "mine"))
    assert (source.name, source.task) == ("mine", arithmetic_task(Operation.ADD, 3))
    assert source.load().answer("1+2") == source.load().answer("001+002")


def test_a_folder_that_says_nothing_of_its_task_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "mine")
    assert "task" not in json.loads((tmp_path / "mine" / CONFIG).read_text())
    with pytest.raises(CarryLensError):
        find_source(str(tmp_path / "mine"))


def test_a_name_that_contradicts_the_task_in_the_config_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / NAME, arithmetic_task(Operation.MIX, 3))
    with pytest.raises(CarryLensError, match="mix"):
        find_source(str(tmp_path / NAME))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("sub_d4_l1_h3_w24_t1K_s1", "digits"),
        ("sub_d3_l2_h3_w24_t1K_s1", "n_layers"),
        ("sub_d3_l1_h4_w24_t1K_s1", "n_heads"),
        ("sub_d3_l1_h3_w48_t1K_s1", "d_model"),
    ],
)
def test_a_name_that_contradicts_its_config_is_refused(tmp_path: Path, name: str, what: str) -> None:
    saved(tmp_path / name)
    with pytest.raises(CarryLensError, match=what):
        find_source(str(tmp_path / name))


def test_a_folder_with_a_map_alone_does_not_hide_the_shipped_model_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(ADD).mkdir()
    Path(ADD, MAP).write_text("{}")
    source = find_source(ADD)
    assert (source.folder, source.is_shipped) == (SHIPPED / ADD, True)
    shutil.copytree(SHIPPED / ADD, tmp_path / "copy")
    Path(ADD, MAP).unlink()
    shutil.copytree(SHIPPED / ADD, Path(ADD), dirs_exist_ok=True)
    assert not find_source(ADD).is_shipped, "a model of that name does"
    assert find_source("copy").sha256 == source.sha256


@pytest.mark.parametrize("given", ["nonesuch", "add_d5_l1_h3", ""])
def test_what_is_no_model_is_refused(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CarryLensError):
        find_source(given)


@pytest.mark.parametrize("content", ["{", "[]", '{"task": {"operation": "times", "digits": 3}}', '{"task": 3}'])
def test_a_config_that_cannot_be_read_is_one_clear_error(tmp_path: Path, content: str) -> None:
    saved(tmp_path / "mine", arithmetic_task(Operation.ADD, 3))
    (tmp_path / "mine" / CONFIG).write_text(content)
    with pytest.raises(CarryLensError):
        find_source(str(tmp_path / "mine")).load()


def test_analyses_go_where_they_change_no_model_that_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped, own = shipped_names()[0], tmp_path / NAME
    saved(own)
    assert find_source(shipped).analysis_folder(None) == Path("maps") / shipped
    assert find_source(str(SHIPPED / shipped)).analysis_folder(None) == Path("maps") / shipped
    assert find_source(shipped).analysis_places(None) == [Path("maps") / shipped, SHIPPED / shipped]
    published = find_source("hf:PhilipQuirke/QuantaMaths_add_d6_l2_h3_t15K_s372001")
    assert published.folder is None
    assert published.analysis_folder(None) == Path("maps") / published.name
    mine = find_source(str(own))
    assert (mine.analysis_folder(None), mine.analysis_places(None)) == (own, [own])
    assert mine.analysis_folder(tmp_path / "out") == tmp_path / "out"
    assert mine.analysis_folder(own) == own
    with pytest.raises(CarryLensError):
        find_source(shipped).analysis_folder(own)
    (own / "manifest.json").unlink()
    assert find_source(str(own)).analysis_folder(None) == Path("maps") / NAME, "nor one that carrylens did not save"


def test_a_layout_of_its_own_comes_with_the_model(tmp_path: Path) -> None:
    chosen = QuestionLayout(3, output_vocabulary=tuple("0123456789+-=*/"))
    saved(tmp_path / "mine", arithmetic_task(Operation.ADD, 3, chosen))
    task = find_source(str(tmp_path / "mine")).task
    assert isinstance(task, ArithmeticTask)
    assert task.question_layout == chosen


def test_finding_a_model_and_its_hash_imports_no_torch() -> None:
    code = (
        "import sys; from carrylens.arithmetic.zoo.sources import find_source; "
        f"print(find_source({ADD!r}).sha256); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == json.loads((SHIPPED / ADD / "test.json").read_text())["sha256"]
    assert (SHIPPED / ADD / WEIGHTS).is_file()
