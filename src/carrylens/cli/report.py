"""Commands that end in a page: report, explain and compare.

Takes  a model.
Gives  a page, figures and tables, made from what was saved; explain first measures what is missing.
Never  imports PyTorch before a command is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carrylens.cli.options import (
    DeviceOption,
    JsonOption,
    ModelArgument,
    SeedOption,
    TaskOption,
    ThreadsOption,
    source_given,
)
from carrylens.cli.watch import Watch
from carrylens.errors import CarryLensError
from carrylens.terminal import Stopped, print_line, print_note, print_record

if TYPE_CHECKING:
    from carrylens.model.source import ModelSource
    from carrylens.report.page.saved import Saved

FolderOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where its map and claims are, if not the model's folder or maps/NAME."),
]


HypothesisOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Show the claims of this file's hypothesis, and its variables where mapped."),
]


def report_command(
    model: ModelArgument,
    folder: FolderOption = None,
    hypothesis: HypothesisOption = None,
    task: TaskOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to put the page, if not report.html in that folder.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw the figures for print there, as SVG and PDF.")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the tables there, as LaTeX and Markdown.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the page about a model from what was saved: its test, map, claims and experiments.

    Measures nothing: map and judge the model first, or let explain do all of it. Only the figure of principal
    components runs the model again.
    """
    from carrylens.files import write_whole
    from carrylens.report.page.headline import verdict_lines
    from carrylens.workflow.known_truths import beside_truth
    from carrylens.workflow.reading import PAGE, page_of_saved, read_source

    source = source_given(model, task)
    where, saved = read_source(source, folder, hypothesis)
    path = out or where / PAGE
    page = page_of_saved(saved, path.parent)
    write_whole(path, page)
    written = [*_draw(source, saved, figures), *_tabulate([saved], tables)]
    if as_json:
        more = {"files": written} if written else {}
        print_record({"page": str(path), "bytes": len(page), "skeleton": saved.claims["skeleton"], **more})
        return
    for line in verdict_lines(saved):
        print_line(line)
    if told := beside_truth(source, saved.map):
        print_line(f"Truth:    {told}")
    print_line(f"The page is {path}")
    if written:
        print_line(f"Wrote {len(written)} files: {', '.join(written)}")


def _draw(source: ModelSource, saved: Saved, folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from carrylens.workflow.reading import draw_figures

    drawn = draw_figures(source, saved)
    for name, why in drawn.missing.items():
        print_note(f"No figure {name}: {why}.")
    return _write_files(folder, drawn.files)


def _tabulate(saved: Sequence[Saved], folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from carrylens.report.figures.print_tables import files_of, tables_of

    return _write_files(folder, dict(files_of(tables_of(saved))))


def _write_files(folder: Path, files: Mapping[str, bytes]) -> list[str]:
    from carrylens.files import write_whole

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made ({error.strerror}). Give another folder.") from error
    for name, content in files.items():
        write_whole(folder / name, content)
    return list(files)


def explain_command(
    model: ModelArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where everything goes, if not the model's folder, or maps/NAME."),
    ] = None,
    task: TaskOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="About a third of the evidence.")] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Test, map and judge a model, work a question through it, and make its page.

    What is there already, and was made from the same weights, is not done again. Ctrl-C loses nothing: the same command
    goes on. Ends with the verdict in five lines, and where the page and the explorer are.
    """
    from carrylens.report.page.headline import verdict_lines
    from carrylens.workflow.analysis import Analysis
    from carrylens.workflow.explaining import explain_source
    from carrylens.workflow.known_truths import beside_truth
    from carrylens.workflow.reading import EXPLORER, PAGE

    with Watch(1, model) as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                raise Stopped(f"Stopped while {what}. The same command goes on from there.")

        source = source_given(model, task)
        folder, saved = explain_source(Analysis(source, out, device, threads, say, quick, seed))
    page, explorer = folder / PAGE, folder / EXPLORER
    if as_json:
        claims = {name: saved.claims[name] for name in ("hypothesis", "skeleton", "required")}
        print_record({"page": str(page), "model": saved.map.model, **claims})
        return
    for line in verdict_lines(saved):
        print_line(line)
    if told := beside_truth(source, saved.map):
        print_line(f"Truth:    {told}")
    if explorer.is_file():
        print_line(f"The page that runs the model is {explorer}")
    print_line(f"The page is {page}")


def compare_command(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Two or more models that were explained, or their folders.")
    ],
    hypothesis: HypothesisOption = None,
    task: TaskOption = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to put the page.")] = Path("comparison.html"),
    tables: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the tables there, as LaTeX and Markdown.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a page that says what is the same in several models, and what differs.

    Measures nothing: map or explain each of them first. One that was mapped and not judged is judged now.
    """
    from carrylens.files import write_whole
    from carrylens.report.page.comparison import comparison_lines, comparison_page
    from carrylens.workflow.judged import read_judged

    saved = [read_judged(source_given(model, task), hypothesis) for model in models]
    page = comparison_page(saved).encode()
    write_whole(out, page)
    written = _tabulate(saved, tables)
    if as_json:
        skeletons = {each.map.model: each.claims["skeleton"] for each in saved}
        print_record({"page": str(out), "bytes": len(page), "skeletons": skeletons, "files": written})
        return
    for line in comparison_lines(saved):
        print_line(line)
    print_line(f"The page is {out}")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("compare")(compare_command)
    app.command("explain")(explain_command)
    app.command("report")(report_command)
