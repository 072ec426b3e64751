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
    from carrylens.workflow.exploring import Explorer


def explain(
    model: str | Path | ModelSource | Transformer,
    *,
    quick: bool = False,
    out: str | Path | None = None,
    seed: int = 0,
    device: str = "cpu",
    threads: int = 0,
    progress: bool = True,
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


def compare(*models: str | Path | Transformer, hypothesis: str | Path | None = None) -> Comparison:
    """What is the same in two or more mapped models, and what differs."""
    from carrylens.front.views import Comparison
    from carrylens.report.page.comparison import comparison_lines, comparison_page
    from carrylens.workflow.given_models import source_of
    from carrylens.workflow.judged import read_judged

    own = None if hypothesis is None else Path(hypothesis)
    saved = [read_judged(source_of(model), own) for model in models]
    return Comparison(tuple(comparison_lines(saved)), comparison_page(saved))


def publish(
    model: str | Path | Transformer, target: str, *, dry_run: bool = False, private: bool = False, progress: bool = True
) -> Published:
    """Upload the model with its card, analyses, page and explorer to `hf:owner/name`; `dry_run` lists the files."""
    from carrylens.front.views import Published
    from carrylens.workflow import publishing
    from carrylens.workflow.given_models import source_of

    made = publishing.publication_of(source_of(model), target)
    with progress_display(made.repository, progress) as say:
        address = None if dry_run else publishing.publish(made, private=private, progress=say)
    return Published(made.repository, address, {name: len(content) for name, content in made.files.items()})


def explore(model: str | Path | Transformer, *, half: bool = False) -> Explorer:
    """One page that runs the model: a notebook shows it, `save` writes it to a file that any browser opens."""
    from carrylens.workflow.exploring import explore as explore_model

    return explore_model(model, half=half)
