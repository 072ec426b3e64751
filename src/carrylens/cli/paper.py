"""The command that answers the paper: paper.

Takes  nothing, or folders of family run.
Gives  every claim, table and figure of the paper with ours beside it: text, Markdown, JSON, or a page; the file of what
       was measured for it alone.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption
from carrylens.cli.watch import Watch
from carrylens.errors import CarryLensError
from carrylens.terminal import Stopped, print_line, print_note, print_record

if TYPE_CHECKING:
    from carrylens.progress import Progress


def paper_command(
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="FOLDER", help="Also what family run made in these folders.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/paper.md.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the page as one HTML file.")] = None,
    measure: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="First measure on the shipped models what no experiment has, and write it to FILE, with what FOLDER "
            "says of its models.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare our results with the paper, claim by claim.

    Lists every claim, table, figure and number of the paper in order, with ours: agrees, differs, open, cannot be
    compared, or not measured yet. Everything comes from saved results. With --measure, what no experiment of carrylens
    battery has is measured first (some minutes); the same command goes on where it was stopped, and answers from FILE.
    """
    from carrylens.report.terminal.paper import paper_page

    if markdown and as_json:
        raise CarryLensError("--markdown and --json were both given. Choose one.")
    if measure is None:
        found = cl.paper(folders or ())
    else:
        with Watch(1, str(measure)) as watch:
            found = cl.paper(folders or (), measure=measure, progress=_stoppable(watch))
    if out is not None:
        print_note(f"The page is {found.save(out)}")
    if as_json:
        for row in found.rows():
            print_record(row)
        for model in found.models:
            print_record({"section": "models", **model})
    elif markdown:
        print_line(paper_page(found.sections, found.models))
    else:
        for line in found.lines:
            print_line(line)


def _stoppable(watch: Watch) -> Progress:
    def say(what: str, done: int, total: int) -> None:
        watch.stage(what, done, total)
        if watch.stop_wanted():
            raise Stopped(f"Stopped during '{what}'. What was measured is kept; the same command goes on.")

    return say


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("paper")(paper_command)
