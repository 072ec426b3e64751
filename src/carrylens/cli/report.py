"""Commands that end in a page: report, explain and compare.

Takes  a model.
Gives  a page, figures and tables, made from what was saved; explain first measures what is missing.
Never  imports PyTorch before a command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
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
from carrylens.terminal import Stopped, print_line, print_note, print_record

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
    """Write the page about a model from saved results: its test, map, claims and experiments.

    Nothing is measured: map and judge the model first, or use explain. Only the figure of principal components runs
    the model again.
    """
    found = cl.report(
        source_given(model, task), folder=folder, hypothesis=hypothesis, out=out, figures=figures, tables=tables
    )
    for name, why in found.missing.items():
        print_note(f"No figure {name}: {why}.")
    if as_json:
        more = {"files": list(found.files)} if found.files else {}
        about = {"page": str(found.page), "bytes": found.page.stat().st_size}
        print_record({**about, "skeleton": found.saved.claims["skeleton"], **more})
        return
    for line in found.lines:
        print_line(line)
    print_line(f"The page is {found.page}")
    if found.files:
        print_line(f"Wrote {len(found.files)} files: {', '.join(found.files)}")


def explain_command(
    model: ModelArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where everything goes, if not the model's folder, or maps/NAME."),
    ] = None,
    task: TaskOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Collect about a third of the evidence.")] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Test, map and judge a model, work one question through it, and write its page.

    Results that already exist for the same weights are used. Stop with Ctrl-C; the same command continues. The output
    ends with the verdict in a few lines and the paths of the page and the explorer.
    """
    with Watch(1, model) as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                raise Stopped(f"Stopped while {what}. The same command goes on from there.")

        found = cl.explain(
            source_given(model, task), out=out, quick=quick, seed=seed, device=device, threads=threads, progress=say
        )
    if as_json:
        claims = {name: found.saved.claims[name] for name in ("hypothesis", "skeleton", "required")}
        print_record({"page": str(found.page), "model": found.saved.map.model, **claims})
        return
    for line in found.lines:
        print_line(line)
    if found.explorer is not None:
        print_line(f"The page that runs the model is {found.explorer}")
    print_line(f"The page is {found.page}")


def compare_command(
    models: Annotated[list[str], typer.Argument(metavar="MODEL", help="Two or more mapped models: names or folders.")],
    hypothesis: HypothesisOption = None,
    task: TaskOption = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to put the page.")] = Path("comparison.html"),
    tables: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also write the tables there, as LaTeX and Markdown.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page on what several models have in common and where they differ.

    Nothing is measured: map or explain each model first. A model that was mapped but not judged is judged now.
    """
    found = cl.compare(*(source_given(model, task) for model in models), hypothesis=hypothesis, tables=tables)
    found.save(out)
    if as_json:
        about = {"page": str(out), "bytes": len(found.page.encode())}
        print_record({**about, "skeletons": dict(found.claims), "files": list(found.files)})
        return
    for line in found.lines:
        print_line(line)
    print_line(f"The page is {out}")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("compare")(compare_command)
    app.command("explain")(explain_command)
    app.command("report")(report_command)
