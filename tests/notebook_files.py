"""Notebook files: from a script in percent form to a notebook with outputs, and whether one is stale.

    PYTHONPATH=tests python -m notebook_files [NAME ...]

runs the scripts in `notebooks/`, all or those named, and writes the notebooks beside them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

jupytext: Any = import_module("jupytext")  # has no types
nbformat: Any = import_module("nbformat")
NotebookClient: Any = import_module("nbclient").NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
_COLAB = "https://colab.research.google.com/github/OWNER/carrylens/blob/main/notebooks"
_SVG = "https://colab.research.google.com/assets/colab-badge.svg"


def scripts() -> list[Path]:
    """The scripts, in order."""
    return sorted(NOTEBOOKS.glob("[0-9]*.py"))


def fresh_notebook(script: Path) -> Any:
    """The notebook of a script, without outputs; its first cell has the badge."""
    notebook = jupytext.read(script, fmt="py:percent")
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    first = notebook.cells[0]
    first.source += f"\n\n[![Open in Colab]({_SVG})]({_COLAB}/{script.stem}.ipynb)"
    for at, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{at}", {}
    return notebook


def run(notebook: Any, folder: Path, timeout: int = 600) -> Any:
    """The notebook with its outputs, run in `folder`."""
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "OMP_NUM_THREADS")}
    os.environ["PYTHONPATH"] = str(NOTEBOOKS.parent / "src")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(folder)}}).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if not _is_blank(each)]
    return notebook


def _is_blank(output: Any) -> bool:
    # What a progress line leaves when it is gone.
    return output.output_type == "display_data" and not output.data.get("text/html", "x")


def is_stale(script: Path) -> bool:
    """Whether the notebook beside a script is of another script, or was not run to its end."""
    path = script.with_suffix(".ipynb")
    if not path.exists():
        return True
    wanted, there = fresh_notebook(script), saved(script)
    same = [(c.cell_type, c.source) for c in wanted.cells] == [(c.cell_type, c.source) for c in there.cells]
    was_run = all(c.execution_count for c in there.cells if c.cell_type == "code" and c.source.strip())
    return not (same and was_run)


def said(notebook: Any) -> list[str]:
    """The one-line results of a notebook's cells, such as a map or a verdict: they do not depend on time or place."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    texts = [output.get("data", {}).get("text/plain", "") for output in outputs]
    return [text for text in texts if text.startswith("<") and "\n" not in text and " page is " not in text]


def saved(script: Path) -> Any:
    """The notebook beside a script, as it was written."""
    return nbformat.read(script.with_suffix(".ipynb"), as_version=4)


def write(script: Path) -> Path:
    """Run a script's notebook and write it."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = run(fresh_notebook(script), Path(folder))
    path = script.with_suffix(".ipynb")
    nbformat.write(notebook, path)
    return path


if __name__ == "__main__":
    for each in scripts():
        if len(sys.argv) == 1 or each.stem in sys.argv[1:]:
            sys.stdout.write(f"{write(each)}\n")
