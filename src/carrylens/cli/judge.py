"""The command that judges a map: judge.

Takes  a map or the folder it is in, and optionally a file that states a hypothesis.
Gives  claims with verdicts, on the terminal and in `claims.json`; those of another hypothesis in a file of its name.
Never  imports PyTorch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carrylens.cli.options import JsonOption
from carrylens.terminal import print_line, print_note, print_record


def judge_command(
    where: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A shipped or mapped model's name, a folder with a map.json, or a map."),
    ],
    hypothesis: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A Python file that states another hypothesis.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List supported claims too.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write the claims, if not beside the map or in maps/NAME."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge from a saved map whether a model runs the algorithm, claim by claim.

    Needs no model. The claims go to claims.json, those of a hypothesis of your own to claims.ITS-NAME.json.
    Exit status 1 if the skeleton is absent; 0 if it is present or unclear.
    """
    from carrylens.claims.verdicts import ModelVerdict
    from carrylens.report.terminal.claims import claim_lines
    from carrylens.workflow.judging import claims_beside, judge_map, save_claims

    judgement = judge_map(where, hypothesis)
    path = out or claims_beside(where, None if hypothesis is None else judgement.hypothesis.name)
    save_claims(judgement, path, seal=out is None)
    record = judgement.saved_record()
    if as_json:
        print_record(record)
    else:
        for line in claim_lines(record, every):
            print_line(line)
    print_note(f"Wrote {path}")
    if judgement.verdict is ModelVerdict.DOES_NOT_RUN:
        raise typer.Exit(1)


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("judge")(judge_command)
