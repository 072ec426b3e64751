"""Commands that end in a page: report.

Takes  a model that was mapped and judged.
Gives  a page, figures and tables, made from what was saved.
Never  measures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carrylens.cli.options import JsonOption, ModelArgument
from carrylens.terminal import print_line, print_record

FolderOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where its map and claims are, if not the model's folder or maps/NAME."),
]


def report_command(
    model: ModelArgument,
    folder: FolderOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to put the page, if not report.html in that folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the page about a model from what was saved: its test, map, claims and experiments.

    Measures nothing: map and judge the model first, or let explain do all of it.
    """
    from carrylens.files import write_whole
    from carrylens.pipeline import page_of_saved, read_source
    from carrylens.report.page.headline import summary_lines

    where, saved = read_source(model, folder)
    page, path = page_of_saved(saved), out or where / "report.html"
    write_whole(path, page)
    if as_json:
        print_record({"page": str(path), "bytes": len(page), "skeleton": saved.claims["skeleton"]})
        return
    for line in summary_lines(saved):
        print_line(line)
    print_line(f"The page is {path}")


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("report")(report_command)
