"""`carrylens explain` and `carrylens report`, as a user runs them."""

from __future__ import annotations

import html
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.zoo.sources import find_folder
from carrylens.cli import app
from carrylens.discovery.node_search import MapSettings
from carrylens.folders import write_sealed
from carrylens.model.folder import load_model
from carrylens.steps import STEPS, finish, is_done
from carrylens.workflow import explaining, mapping
from carrylens.workflow.reading import EXPLORER, PAGE
from report.explained import SMALL, small


@pytest.fixture
def folder(explained: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the explained model, to be changed."""
    monkeypatch.setattr(MapSettings, "chosen", classmethod(small))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shutil.copytree(explained[0], tmp_path / "model")
    return tmp_path / "model"


def explain(folder: Path, *more: str) -> str:
    result = CliRunner().invoke(app, ["explain", str(folder), "--quick", *more])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_explain_ends_with_lines_the_next_command_and_the_page(explained: tuple[Path, str]) -> None:
    folder, printed = explained
    lines = printed.splitlines()
    assert len(lines) == 10, "a planted model is compared with its truth, too"
    assert any(line.startswith("Next:") and "carrylens settle" in line for line in lines), "quick: not settled"
    assert "left-to-right add" in lines[0]
    assert [line.split()[-1] for line in lines[-2:]] == [str(folder.resolve() / page) for page in (EXPLORER, PAGE)]
    made = {"test.json", "map.json", "claims.json", "worked.json", "explore.html", "report.html"}
    assert made <= {path.name for path in folder.iterdir()}
    assert 'href="explore.html"' in (folder / "report.html").read_text()
    assert load_model(folder), "the model is still sealed"
    (truth,) = (line.removeprefix("Truth:").strip() for line in lines if line.startswith("Truth:"))
    assert html.escape(truth, quote=False) in (folder / "report.html").read_text(), "the page says it, too"


def test_what_is_there_is_not_done_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    for room, name in ((mapping, "map_model"), (explaining, "judge_usual"), (explaining, "page_of_saved")):
        monkeypatch.setattr(room, name, None)
    record = json.loads(explain(folder, "--json"))
    assert record["page"].endswith("report.html")
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["claims.json", "worked.json", "explore.html", "report.html"])
def test_what_was_changed_or_lost_is_made_again(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole + b" ")
    explain(folder)
    again = (folder / name).read_bytes()
    assert again == whole if name != "report.html" else b"</html>" in again[-10:]
    (folder / name).unlink()
    explain(folder)
    assert (folder / name).exists()


def test_a_new_claim_makes_a_new_page(folder: Path) -> None:
    claims = json.loads((folder / "claims.json").read_text())
    claims["rivals"] = []
    finish(
        folder,
        "judge",
        json.loads((folder / STEPS).read_text())["judge"]["from"],
        {"claims.json": json.dumps(claims).encode()},
    )
    explain(folder)
    assert 'class="rival"' not in (folder / "report.html").read_text()


def test_a_step_is_done_only_with_its_files_and_from_the_same(tmp_path: Path) -> None:
    finish(tmp_path, "one", {"map": "a"}, {"x.json": b"{}"})
    assert is_done(tmp_path, "one", {"map": "a"})
    assert not is_done(tmp_path, "one", {"map": "b"})
    assert not is_done(tmp_path, "two", {"map": "a"})
    (tmp_path / "x.json").write_bytes(b"[]")
    assert not is_done(tmp_path, "one", {"map": "a"})
    (tmp_path / STEPS).write_text("no record")
    assert not is_done(tmp_path, "one", {"map": "a"})


def test_report_makes_the_page_from_files_alone(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").rename(tmp_path / "away")
    result = CliRunner().invoke(app, ["report", str(folder), "--out", str(tmp_path / "page.html"), "--json"])
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["bytes"] == (tmp_path / "page.html").stat().st_size


def test_report_without_a_map_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = find_folder("sub_d6_l2_h3_w96_t5K_s1")
    kept = ("config.json", "model.safetensors")
    bare = tmp_path / "sub_d6_l2_h3_w96_t5K_s9"
    bare.mkdir()
    for name in kept:
        shutil.copy(shipped / name, bare / name)
    write_sealed(bare, {}, also=kept)
    result = CliRunner().invoke(app, ["report", bare.name])
    assert f"carrylens map {bare.name}" in str(result.exception)


def test_the_story_of_the_tutorial_is_refuted_by_a_model_that_adds_right(folder: Path, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "mine.py").write_text(block)
    given = [str(folder), "--hypothesis", str(tmp_path / "mine.py"), "--out", str(tmp_path / "mine.json")]
    result = CliRunner().invoke(app, ["judge", *given])
    assert result.exit_code == 1
    assert json.loads((tmp_path / "mine.json").read_text())["skeleton"] == "absent"


def test_a_better_map_is_not_replaced_by_a_quick_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quicker = replace(SMALL, n_questions=32)

    def choose(cls: type[MapSettings], seed: int = 0, *, quick: bool = False) -> MapSettings:
        return quicker if quick else SMALL

    monkeypatch.setattr(MapSettings, "chosen", classmethod(choose))
    monkeypatch.setattr(mapping, "map_model", None)
    explain(folder)
    assert json.loads((folder / "map.json").read_text())["stimuli"]["settings"]["n_questions"] == SMALL.n_questions
