"""Commands on planted models: plant.

Takes  an operation, dials, or a circuit description.
Gives  a model folder with its truth, a picture of the circuit, and how exact it is.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption
from carrylens.errors import CarryLensError
from carrylens.files import place_here, write_whole
from carrylens.terminal import print_line, print_note, print_record

if TYPE_CHECKING:  # PyTorch is imported only when the command is run
    from carrylens.arithmetic.planted.planting import Planted


PlantOperation = Annotated[str, typer.Argument(metavar="OPERATION", help="add, sub or mix.")]
PlantDigits = Annotated[int, typer.Option(help="How many digits the operands have.")]
PlantMethod = Annotated[str, typer.Option(help="left-to-right, or a rival: one-layer, place-value, right-to-left.")]
Redundancy = Annotated[int, typer.Option(help="How many copies digits, tri-states and carries have.")]
CopiesOption = Annotated[str, typer.Option(help="Where copies of tri-states are: heads or places.")]
Sharing = Annotated[bool, typer.Option("--sharing", help="Split each fetching head in two.")]
Polysemy = Annotated[bool, typer.Option("--polysemy", help="One fetching head for SA, MD and ND.")]
Decoys = Annotated[int, typer.Option(help="How many variables a column has that no component reads, 0 to 3.")]
Noise = Annotated[int, typer.Option(help="How many heads of each layer are random.")]
Delay = Annotated[int, typer.Option(help="How many places after D'k its tri-state value is made.")]
TimingOption = Annotated[str, typer.Option(help="Carries resolved at the answer (lazy) or at = (tail).")]
CarryOption = Annotated[str, typer.Option(help="tri-state or binary.")]
GateOption = Annotated[float, typer.Option(help="Hostile: this share of questions gets its carries elsewhere.")]
Weighted = Annotated[int, typer.Option(help="Hostile: this many carries come from weighted sums.")]
SplitOption = Annotated[bool, typer.Option("--split", help="Hostile: one head for even sums, one for odd ones.")]
Backup = Annotated[bool, typer.Option("--backup", help="Hostile: heads that act only when others are gone.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="Hostile: heads that write the negative of a carry.")]
Spread = Annotated[bool, typer.Option("--spread", help="Hostile: tri-states are made at three places.")]
Superposed = Annotated[bool, typer.Option("--superposed", help="Hostile: directions are not orthogonal.")]
MemorisedOption = Annotated[str, typer.Option(help="Hostile: nothing, table or backdoor.")]
Rotated = Annotated[bool, typer.Option("--rotated", help="Turn the residual stream's basis.")]
Seed = Annotated[int, typer.Option(min=0, help="Which rotation and noise.")]
Description = Annotated[Path | None, typer.Option(metavar="FILE", help="Plant this circuit description instead.")]
Describe = Annotated[bool, typer.Option("--describe", help="Print the description; plant nothing.")]
PlantOut = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where to put it, if not models/NAME.")]
Svg = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the circuit.")]
Check = Annotated[
    int, typer.Option(min=0, max=10**15, help="Evaluate it on this many enriched questions, and on all classes.")
]


def plant_command(
    operation: PlantOperation = "add",
    digits: PlantDigits = 6,
    method: PlantMethod = "left-to-right",
    redundancy: Redundancy = 1,
    copies: CopiesOption = "heads",
    sharing: Sharing = False,
    polysemy: Polysemy = False,
    decoys: Decoys = 0,
    noise: Noise = 0,
    delay: Delay = 0,
    timing: TimingOption = "lazy",
    carry: CarryOption = "tri-state",
    gate: GateOption = 0.0,
    weighted: Weighted = 0,
    split: SplitOption = False,
    backup: Backup = False,
    cancel: Cancel = False,
    spread: Spread = False,
    superposed: Superposed = False,
    memorised: MemorisedOption = "nothing",
    rotated: Rotated = False,
    seed: Seed = 0,
    description: Description = None,
    describe: Describe = False,
    out: PlantOut = None,
    svg: Svg = None,
    check: Check = 0,
    as_json: JsonOption = False,
) -> None:
    """Plant a circuit: compute the weights of a model that runs it.

    Writes a model folder with truth.json, which states what every node does. Exit status 1 if --check finds a failure.
    """
    kind: dict[str, Any] = {"redundancy": redundancy, "copies": copies, "sharing": sharing, "polysemy": polysemy}
    kind |= {"decoys": decoys, "noise": noise, "delay": delay, "timing": timing, "carry": carry, "rotated": rotated}
    hostile: dict[str, Any] = {"gate": gate, "weighted": weighted, "split": split, "backup": backup, "cancel": cancel}
    hostile |= {"spread": spread, "superposed": superposed, "memorised": memorised}
    planted = cl.plant(operation, digits, method=method, **kind, **hostile, seed=seed, description=description)
    if describe:
        print_line(planted.truth.description.to_json().rstrip("\n"))
    else:
        _save(planted, out, svg, check, as_json)


def _save(planted: Planted, out: Path | None, svg: Path | None, check: int, as_json: bool) -> None:
    from carrylens.folders import is_unfinished
    from carrylens.report.figures.planted_circuit import circuit_svg
    from carrylens.workflow.planting import plant_exam

    truth, folder = planted.truth, out or place_here(Path("models") / planted.truth.name)
    if folder.exists() and not is_unfinished(folder):
        raise CarryLensError(f"{folder} is already there. Remove it, or give another with --out.")
    planted.save(folder)
    if svg is not None:
        write_whole(svg, circuit_svg(truth).encode())
        print_note(f"Drew {svg}")
    results = plant_exam(planted, check) if check else []
    asked, failed = sum(result.asked for result in results), sum(result.failed for result in results)
    if as_json:
        record: dict[str, object] = {"name": truth.name, "folder": str(folder), "nodes": len(truth.roles)}
        print_record(record | ({"asked": asked, "failed": failed} if check else {}))
    else:
        print_line(f"{folder}: {len(truth.roles)} nodes with a role, {len(truth.edges)} edges.")
        if check:
            print_line(f"{failed:,} of {asked:,} questions failed.")
    if failed:
        raise typer.Exit(1)


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("plant")(plant_command)
