"""Page files: the page of a model, its figures and its tables, written where a person wants them.

Takes  what was saved about models; files and folders.
Gives  the page on disk; the names of the figures and tables that were written, and why a figure is missing.
Never  leaves half a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.model.source import ModelSource
from carrylens.report.figures.print_tables import files_of, tables_of
from carrylens.report.page.saved import Saved
from carrylens.workflow.reading import draw_figures, page_of_saved


def write_page(saved: Saved, path: Path) -> Path:
    """The file of the page."""
    write_whole(path, page_of_saved(saved, path.parent))
    return path


def figure_files(source: ModelSource, saved: Saved, folder: Path) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The names of the figures that were drawn in the folder; and why others were not, by their names."""
    drawn = draw_figures(source, saved)
    return _write_files(folder, drawn.files), drawn.missing


def table_files(saved: Sequence[Saved], folder: Path) -> tuple[str, ...]:
    """The names of the tables that were written to the folder."""
    return _write_files(folder, dict(files_of(tables_of(saved))))


def _write_files(folder: Path, files: Mapping[str, bytes]) -> tuple[str, ...]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made ({error.strerror}). Give another folder.") from error
    for name, content in files.items():
        write_whole(folder / name, content)
    return tuple(files)
