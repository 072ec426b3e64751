"""Every notebook is that of its script, small, and runs to its end."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("jupytext")

from notebook_files import NOTEBOOKS, fresh_notebook, is_stale, run, said, saved, scripts

_MOST_BYTES = 300_000


def test_there_are_at_least_six_and_each_is_listed() -> None:
    listed = (NOTEBOOKS / "README.md").read_text()
    assert len(scripts()) >= 6
    assert all(f"({script.stem}.ipynb)" in listed for script in scripts())


@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_no_notebook_is_stale_or_large(script: Path) -> None:
    assert not is_stale(script), "write make notebooks"
    assert script.with_suffix(".ipynb").stat().st_size < _MOST_BYTES
    text = script.read_text()
    assert "Change something" in text, "each ends with something to change"


def test_a_stale_notebook_is_seen(tmp_path: Path) -> None:
    for name in ("1_first_steps.py", "1_first_steps.ipynb"):
        shutil.copy(NOTEBOOKS / name, tmp_path / name)
    script = tmp_path / "1_first_steps.py"
    assert not is_stale(script)
    script.write_text(script.read_text().replace("cl.load", "cl.load "))
    assert is_stale(script)
    assert is_stale(tmp_path / "2_other.py")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the kernel, not of ours
@pytest.mark.parametrize("script", scripts(), ids=lambda script: script.stem)
def test_a_notebook_runs_to_its_end_and_says_what_the_saved_one_says(script: Path, tmp_path: Path) -> None:
    notebook = run(fresh_notebook(script), tmp_path)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert any("text/html" in output.get("data", {}) for output in outputs), "something draws itself"
    assert said(notebook) == said(saved(script)), "write make notebooks"


def test_a_result_that_changed_is_seen() -> None:
    there = saved(scripts()[0])
    assert len(said(there)) >= 4
    before = said(there)
    cell = next(cell for cell in there.cells if cell.cell_type == "code" and cell.outputs)
    cell.outputs[0]["data"]["text/plain"] = "<Transformer of another shape>"
    assert said(there) != before
