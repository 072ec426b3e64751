"""The command that measures how right the map is: calibrate.

Takes  which planted circuits and methods, and a folder for results.
Gives  tables, records, or the page of the documentation.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from carrylens.cli.options import JsonOption, ThreadsOption
from carrylens.cli.watch import Watch
from carrylens.errors import CarryLensError
from carrylens.terminal import Stopped, print_line, print_note, print_record

Dial = Annotated[list[str] | None, typer.Option("--dial", help="Only this dial, such as decoys. May be repeated.")]
OnlyOperation = Annotated[list[str] | None, typer.Option("--operation", help="Only add, sub or mix. May be repeated.")]
OnlyDigits = Annotated[list[int] | None, typer.Option("--digits", help="Only so many digits. May be repeated.")]
OnlyMethod = Annotated[
    list[str] | None, typer.Option("--method", help="Only this method, such as ours. May be repeated.")
]
Part = Annotated[list[str] | None, typer.Option("--part", help="Only scores, nothing, accounts or reliability.")]
ResultsFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep results there, and go on from those there.")
]


def calibrate_command(
    quick: Annotated[bool, typer.Option("--quick", help="A few two-digit circuits, on less evidence.")] = False,
    dial: Dial = None,
    operation: OnlyOperation = None,
    digits: OnlyDigits = None,
    seeds: Annotated[int, typer.Option(help="How many seeds of noise, rotation and questions.")] = 2,
    method: OnlyMethod = None,
    part: Part = None,
    light: Annotated[bool, typer.Option("--light", help="Less evidence for each map, as map --quick.")] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the confidence rule on the training circuits.")] = False,
    out: ResultsFolder = None,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the page of the documentation.")] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw recall, precision and confidence to this file.")
    ] = None,
) -> None:
    """Measure how right circuit discovery is, on planted circuits whose truth is known, beside other methods.

    Ctrl-C loses nothing that is finished if --out is given: the same command goes on.
    """
    from carrylens.report.terminal.benchmark import calibration_page, calibration_text
    from carrylens.workflow.benchmarking import benchmark_run, fit_rule, run_benchmark

    _check(as_json, as_markdown, svg, not fit and (not part or not {"scores", "reliability"}.isdisjoint(part)))
    with Watch(1, "calibrate") as watch:

        def say(what: str, done: int, total: int) -> None:
            watch.stage(what, done, total)
            if watch.stop_wanted():
                raise Stopped(f"Stopped at {what}. " + ("The same command goes on." if out else "Nothing was kept."))

        chosen = {"dials": dial or (), "operations": operation or (), "digits": digits or (), "n_seeds": seeds}
        run = benchmark_run(chosen, method or (), out, say, quick=quick, light=light, threads=threads)
        if fit:
            path, rule = fit_rule(run, out)
            print_note(f"Wrote {path}: {rule.made}")
            return
        records = []
        for record in run_benchmark(run, part or ()):
            records.append(record)
            if as_json:
                print_record(record)
    if as_markdown:
        training = [each.name for each in run.training]
        print_line(calibration_page(records, _command(), training, svg).rstrip("\n"))
    elif not as_json:
        print_line(calibration_text(records).rstrip("\n"))
    _draw(svg, records)  # last, so that a full disk takes no table away


def _check(as_json: bool, as_markdown: bool, svg: Path | None, drawn: bool) -> None:
    if as_json and as_markdown:
        raise CarryLensError("--json and --markdown were given. Choose one.")
    if svg is not None and not drawn:
        raise CarryLensError("--svg draws scores and reliability, and neither is among the parts. Write --part scores.")


def _draw(path: Path | None, records: list[dict[str, Any]]) -> None:
    from carrylens.files import write_whole
    from carrylens.report.figures.benchmark import calibration_svg

    if path is not None:
        write_whole(path, calibration_svg(records).encode())
        print_note(f"Drew {path}")


def _command() -> str:
    # As it was given, without what changes no figure.
    import shlex
    import sys

    given = iter(sys.argv[1:])
    kept = [word for word in given if word not in ("--out", "--threads") or not next(given, True)]
    return shlex.join(["carrylens", *kept])


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("calibrate")(calibrate_command)
