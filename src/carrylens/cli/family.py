"""The commands about several models: family, which lays them side by side, and those under it.

Takes  models, or none for all accurate ones that come with carrylens.
Gives  a table of findings, what holds in every one of them and what varies; as text, Markdown, JSON or a picture.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.default_command import USUAL, DefaultGroup
from carrylens.cli.family_run import family_run_command
from carrylens.cli.options import JsonOption
from carrylens.errors import CarryLensError
from carrylens.terminal import print_line, print_note, print_record


def family_command(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL",
            help="As for battery, or a folder of family run. Without any, every accurate shipped model.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a page with ten findings beside the paper's.")
    ] = False,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw models by findings.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write every cell with its figures.")] = None,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="Use only what came with the models, and nothing from maps/.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what holds in every accurate model, and what varies. The word "show" may be left out.

    Nothing is measured: everything comes from saved experiments, maps and claims. Missing results are listed with the
    command that makes them.
    """
    from carrylens.files import write_whole
    from carrylens.report.figures.family import family_svg
    from carrylens.report.terminal.family_page import family_csv, family_page

    if markdown and as_json:
        raise CarryLensError("--markdown and --json were both given. Choose one.")
    found = cl.family(*(models or ()), shipped=shipped)
    if svg is not None:
        write_whole(svg, family_svg(found.table).encode())
        print_note(f"Drew {svg}")
    if csv is not None:
        write_whole(csv, family_csv(found.table).encode())
        print_note(f"Wrote {csv}")
    if as_json:
        print_record({**found.table.record(), "left_out": dict(found.left_out)})
    elif markdown:
        print_line(family_page(found.table, found.left_out))
    else:
        for line in found.lines:
            print_line(line)


def _family() -> None:
    """Compare many models, or train and analyse many with one command."""


def family_commands() -> typer.Typer:
    """The command `family`, whose usual sub-command is `show`, and those under it."""
    family = typer.Typer(cls=DefaultGroup, rich_markup_mode=None)
    family.callback()(_family)
    family.command(USUAL)(family_command)
    family.command("run")(family_run_command)
    return family
