"""The command that reads an analysis in the published format: published.

Takes  a folder with behaviors.json and features.json, and a model whose map stands beside.
Gives  what its tags say of every variable; a grid of its nodes; how far our map agrees.
Never  runs a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption
from carrylens.terminal import print_line, print_record


def published_command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder called as its model, with behaviors.json, features.json.")
    ],
    beside: Annotated[
        str | None, typer.Argument(metavar="MODEL", help="A model with a saved map to compare it with.")
    ] = None,
    grid: Annotated[bool, typer.Option("--grid", help="Print the nodes as a table of layers and positions.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge a published analysis by its tags, draw it, and compare it with a map.

    Says of every variable that the algorithm needs whether a node has its tag at a position where it may stand. Exit
    status 1 if some variable that the format can name is not tagged so.
    """
    from carrylens.arithmetic.published_comparison import TagState
    from carrylens.report.terminal.published import published_grid, published_lines
    from carrylens.workflow.reading_published import read_analysis

    found = read_analysis(folder, beside)
    if as_json:
        for row in cl.published(folder, beside):
            print_record(row)
    else:
        lines = published_grid(found.nodes, found.layout) if grid else published_lines(found.variables, found.overlap)
        for line in lines:
            print_line(line)
    if any(each.state in (TagState.MISSING, TagState.ELSEWHERE) for each in found.variables):
        raise typer.Exit(1)


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("published")(published_command)
