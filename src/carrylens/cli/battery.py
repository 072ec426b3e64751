"""The command that runs the paper's causal experiments: battery.

Takes  a model, and optionally the name of one experiment.
Gives  verdicts with their evidence, on the terminal, as JSON, as files and as figures.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import carrylens as cl
from carrylens.cli.options import DeviceOption, JsonOption, ModelArgument, SeedOption, ThreadsOption
from carrylens.cli.watch import Watch
from carrylens.terminal import Stopped, print_line, print_note, print_record


def battery_command(
    model: ModelArgument,
    only: Annotated[
        str | None, typer.Option(metavar="NAME", help="One experiment, such as make-carry, instead of all.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Collect less evidence, in minutes.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to put the outcomes, if not the model's folder, or maps/NAME."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also draw each outcome, as an SVG file in this folder.")
    ] = None,
    restart: Annotated[bool, typer.Option("--restart", help="Measure again, even if there are results.")] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Run the paper's causal experiments on a model, each with a matched null.

    Writes battery.json, and every measurement to facts.jsonl.gz. Finished experiments are kept on Ctrl-C; existing
    results with the same settings are only printed.
    """
    from carrylens.arithmetic.zoo.sources import find_source
    from carrylens.files import write_whole
    from carrylens.report.figures.battery import outcome_svg
    from carrylens.report.terminal.battery import battery_summary_lines, outcome_lines

    with Watch(1, model) as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                rest = "measure the others anew by --only NAME --restart" if restart else "the same command goes on"
                raise Stopped(f"Stopped during '{what}'. What was finished is kept; {rest}.")

        found = cl.battery(
            find_source(model),
            only,
            quick=quick,
            out=out,
            seed=seed,
            restart=restart,
            device=device,
            threads=threads,
            progress=say,
        )
    for outcome in found:
        if figures is not None and outcome.figure is not None:
            figures.mkdir(parents=True, exist_ok=True)
            write_whole(figures / f"{outcome.card.name}.svg", outcome_svg(outcome).encode())
        if as_json:
            print_record(outcome.record())
    if not as_json:
        lines = battery_summary_lines(found) if only is None else outcome_lines(found[0])
        for line in lines:
            print_line(line)
    print_note(f"The outcomes are in {found.folder}")


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("battery")(battery_command)
