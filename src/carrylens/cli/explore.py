"""The command explore: one HTML file that runs a model.

Takes  a model, or a level of the challenge.
Gives  the file.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption, TaskOption, source_given
from carrylens.terminal import print_line, print_record


def explore_command(
    model: Annotated[
        str | None,
        typer.Argument(metavar="MODEL", help="A shipped model's name, a model folder, or hf:owner/repository."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to put the page, if not explore.html in the model's folder, or maps/NAME."
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the map and claims are, if not in the usual place.")
    ] = None,
    hypothesis: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run the algorithm of this file's hypothesis, and show its variables."),
    ] = None,
    task: TaskOption = None,
    half: Annotated[
        bool, typer.Option("--half", help="Weights in half precision, if every golden answer stays the same.")
    ] = False,
    challenge: Annotated[bool, typer.Option("--challenge", help="Plant a circuit with hidden truth instead.")] = False,
    level: Annotated[int, typer.Option(help="How hard the challenge is: 1, 2 or 3.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Which noise and basis the challenge has.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Write one HTML file that runs a model in the browser, to ask it questions and intervene on it.

    The file needs no network and no server. It shows the map and the claims saved for these weights.
    """
    source = None if model is None else source_given(model, task, any_name=True)
    made = cl.explore(
        source, folder=folder, hypothesis=hypothesis, half=half, challenge=level if challenge else None, seed=seed
    )
    path = made.save(out)
    if as_json:
        print_record({"page": str(path), "bytes": len(made.page.encode()), "model": made.name})
    else:
        print_line(f"The page is {path}: open it in a browser ({len(made.page.encode()) / 1e6:.1f} MB)")


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("explore")(explore_command)
