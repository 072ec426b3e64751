"""The command that judges a map: judge.

Takes  a map or the folder it is in, and optionally a file that states a hypothesis.
Gives  claims with verdicts, on the terminal and in `claims.json`; those of another hypothesis in a file of its name.
Never  imports PyTorch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption, TaskOption
from carrylens.terminal import print_line, print_note, print_record


def judge_command(
    where: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A shipped, mapped or settled model's name, its folder, or a map."),
    ],
    hypothesis: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A Python file that states another hypothesis.")
    ] = None,
    task: TaskOption = None,
    every: Annotated[bool, typer.Option("--all", help="Also list supported claims.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the claims, if not beside the map or in maps/NAME."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge from saved results whether a model runs the algorithm, how much of it, and how sure that is.

    Runs no model. The verdict rests on the alignment that `carrylens settle` measured; without one it is "not settled".
    The output then lists the claims about the map that `carrylens map` made, one variable at a time; without a map it
    has the verdict alone. Claims are written to claims.json, those of your own hypothesis to claims.ITS-NAME.json.
    Exit status 0 if the model runs the algorithm, 1 otherwise.
    """
    from carrylens.claims.verdicts import RunVerdict
    from carrylens.json_records import to_plain
    from carrylens.report.terminal.claims import claim_lines

    found = cl.judge(where, hypothesis=hypothesis, task=task, out=out)
    record = None if found.claims is None else found.claims.saved_record()
    if as_json:
        print_record({**to_plain(found.joint), "claims": [] if record is None else record["claims"], "map": record})
    else:
        for line in (*found.lines, *(() if record is None else ("", *claim_lines(record, every)))):
            print_line(line)
    if record is None:
        print_note(f"No map was saved, so there are no claims about nodes. For these write carrylens map {where}.")
    else:
        print_note(f"The claims are in {found.path}")
    if found.verdict is not RunVerdict.RUNS:
        raise typer.Exit(1)


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("judge")(judge_command)
