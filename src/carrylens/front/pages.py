"""Pages: everything about a model on one page, several models beside each other, a page that runs a model.

Takes  models.
Gives  pages, saved or ready to be.
Never  imports PyTorch before a call.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from carrylens.front.progress_display import progress_display

if TYPE_CHECKING:
    from carrylens.front.views import Comparison, Explained, Published
    from carrylens.model.source import ModelSource
    from carrylens.model.transformer import Transformer
    from carrylens.progress import Progress
    from carrylens.workflow.exploring import Explorer


def explain(
    model: str | Path | ModelSource | Transformer,
    *,
    quick: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    threads: int = 0,
    progress: bool | Progress = True,
) -> Explained:
    """Test, map and judge the model, run the experiments, and write its page and its explorer.

    What was saved for these weights is not measured again.
    """
    from carrylens.front.views import Explained
    from carrylens.workflow.analysis import Analysis
    from carrylens.workflow.explaining import explain_source
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.reading import EXPLORER, PAGE

    source = source_of(model)
    with progress_display(source.name, progress) as say:
        where = None if out is None else Path(out)
        folder, saved = explain_source(Analysis(source, where, device, threads, say, quick, seed))
    explorer = folder / EXPLORER
    return Explained(folder, folder / PAGE, explorer if explorer.is_file() else None, saved)


def report(
    model: str | Path | ModelSource | Transformer,
    *,
    folder: str | Path | None = None,
    hypothesis: str | Path | None = None,
    out: str | Path | None = None,
    figures: str | Path | None = None,
    tables: str | Path | None = None,
) -> Explained:
    """Write the page about a model from what was saved about it: nothing is measured.

    `folder` is where its map and claims are, if not the usual place; `hypothesis` is a file whose claims are shown
    instead. `figures` and `tables` are folders for the figures (SVG and PDF) and the tables (LaTeX and Markdown).
    """
    from carrylens.front.views import Explained
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.page_files import figure_files, table_files, write_page
    from carrylens.workflow.reading import EXPLORER, PAGE, read_source

    source = source_of(model)
    where, saved = read_source(source, _path(folder), _path(hypothesis))
    page = write_page(saved, Path(out or where / PAGE))
    drawn, missing = ((), {}) if figures is None else figure_files(source, saved, Path(figures))
    files = (*drawn, *(() if tables is None else table_files([saved], Path(tables))))
    explorer = where / EXPLORER
    return Explained(where, page, explorer if explorer.is_file() else None, saved, files, missing)


def compare(
    *models: str | Path | ModelSource | Transformer,
    hypothesis: str | Path | None = None,
    tables: str | Path | None = None,
) -> Comparison:
    """What is the same in two or more mapped models, and what differs; one that was not judged yet is judged now.

    `tables` is a folder for the tables, as LaTeX and Markdown.
    """
    from carrylens.front.views import Comparison
    from carrylens.report.page.comparison import comparison_lines, comparison_page
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.judgements import read_judged
    from carrylens.workflow.page_files import table_files

    saved = [read_judged(source_of(model), _path(hypothesis)) for model in models]
    lines, page = tuple(comparison_lines(saved)), comparison_page(saved)
    files = () if tables is None else table_files(saved, Path(tables))
    return Comparison(lines, page, {each.map.model: each.claims["skeleton"] for each in saved}, files)


def publish(
    model: str | Path | ModelSource | Transformer,
    target: str,
    *,
    dry_run: bool = False,
    private: bool = False,
    progress: bool | Progress = True,
) -> Published:
    """Upload the model with its card, analyses, page and explorer to `hf:owner/name`; `dry_run` lists the files."""
    from carrylens.front.views import Published
    from carrylens.workflow import publishing
    from carrylens.workflow.given_models import source_of

    made = publishing.publication_of(source_of(model), target)
    with progress_display(made.repository, progress) as say:
        address = None if dry_run else publishing.publish(made, private=private, progress=say)
    return Published(made.repository, address, {name: len(content) for name, content in made.files.items()})


def explore(
    model: str | Path | ModelSource | Transformer | None = None,
    *,
    folder: str | Path | None = None,
    hypothesis: str | Path | None = None,
    half: bool = False,
    challenge: int | None = None,
    seed: int = 0,
) -> Explorer:
    """One page that runs the model: a notebook shows it, `save` writes it to a file that any browser opens.

    It shows the map and the claims that were saved for these weights; `folder` is where they are, if not in the usual
    place. With `hypothesis`, a Python file, it runs the algorithm of that file. `half` stores weights in half
    precision, if that changes no answer. `challenge` is 1, 2 or 3 instead of a model: a planted circuit whose truth
    is hidden.
    """
    from carrylens.workflow.exploring import explore_any

    return explore_any(model, _path(folder), _path(hypothesis), half=half, challenge=challenge, seed=seed)


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
