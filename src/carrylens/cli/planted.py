"""Commands on planted models: plant.

Takes  an operation, dials, or a circuit description.
Gives  a model folder with its truth, a picture of the circuit, and how exact it is.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carrylens.cli.options import JsonOption
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.terminal import print_line, print_note, print_record


def plant_command(
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="add, sub or mix.")] = "add",
    digits: Annotated[int, typer.Option(help="How many digits the operands have.")] = 6,
    method: Annotated[
        str, typer.Option(help="left-to-right, or a rival: one-layer, place-value, right-to-left.")
    ] = "left-to-right",
    redundancy: Annotated[int, typer.Option(help="How many copies digits, tri-states and carries have.")] = 1,
    copies: Annotated[str, typer.Option(help="Where copies of tri-states are: heads or places.")] = "heads",
    sharing: Annotated[bool, typer.Option("--sharing", help="Split each fetching head in two.")] = False,
    polysemy: Annotated[bool, typer.Option("--polysemy", help="One fetching head for SA, MD and ND.")] = False,
    decoys: Annotated[int, typer.Option(help="How many variables a column has that nobody reads, 0 to 3.")] = 0,
    noise: Annotated[int, typer.Option(help="How many heads of each layer are random.")] = 0,
    delay: Annotated[int, typer.Option(help="How many places after D'k its tri-state value is made.")] = 0,
    timing: Annotated[str, typer.Option(help="Carries resolved at the answer (lazy) or at = (tail).")] = "lazy",
    carry: Annotated[str, typer.Option(help="tri-state or binary.")] = "tri-state",
    rotated: Annotated[bool, typer.Option("--rotated", help="Turn the residual stream's basis.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Which rotation and noise.")] = 0,
    description: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plant this circuit description instead.")
    ] = None,
    describe: Annotated[bool, typer.Option("--describe", help="Print the description; plant nothing.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to put it, if not models/NAME.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the circuit.")] = None,
    check: Annotated[int, typer.Option(min=0, help="Ask so many enriched questions, and all classes.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Plant a circuit: compute the weights of a model that runs it.

    Writes a model folder with truth.json, which says what every node is for. Exit status 1 if --check finds a failure.
    """
    from carrylens.pipeline import plant_exam, planting
    from carrylens.planted.description import CircuitDescription
    from carrylens.planted.plant import plant
    from carrylens.report.circuit_svg import circuit_svg

    dials = {
        "redundancy": redundancy,
        "copies": copies,
        "sharing": sharing,
        "polysemy": polysemy,
        "decoys": decoys,
        "noise": noise,
        "delay": delay,
        "timing": timing,
        "carry": carry,
        "rotated": rotated,
        "seed": seed,
    }
    if description is None:
        wanted = planting(operation, digits, method, dials)
    else:
        wanted = CircuitDescription.from_json(_read(description), source=str(description))
    if describe:
        print_line(wanted.to_json().rstrip("\n"))
        return
    planted = plant(wanted)
    folder = out or Path("models") / planted.truth.name
    if folder.exists():
        raise CarryLensError(f"{folder} is already there. Remove it, or give another with --out.")
    planted.save(folder)
    if svg is not None:
        write_whole(svg, circuit_svg(planted.truth).encode())
        print_note(f"Drew {svg}")
    results = plant_exam(planted, check) if check else []
    asked, failed = sum(result.asked for result in results), sum(result.failed for result in results)
    if as_json:
        record = {"name": planted.truth.name, "folder": str(folder), "nodes": len(planted.truth.roles)}
        print_record(record | ({"asked": asked, "failed": failed} if check else {}))
    else:
        print_line(f"{folder}: {len(planted.truth.roles)} nodes with a role, {len(planted.truth.edges)} edges.")
        if check:
            print_line(f"{failed:,} of {asked:,} questions failed.")
    if failed:
        raise typer.Exit(1)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CarryLensError(
            f"{path} cannot be read ({error.strerror or error}). Give a description's file."
        ) from error


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("plant")(plant_command)
