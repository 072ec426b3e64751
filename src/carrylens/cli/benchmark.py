"""The command that measures how right circuit discovery is: benchmark.

Takes  which methods, suites and split, and a folder for results.
Gives  tables, records, the leaderboard.
Never  imports PyTorch before the command is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import carrylens as cl
from carrylens.cli.options import JsonOption, ThreadsOption
from carrylens.cli.watch import Watch
from carrylens.errors import CarryLensError
from carrylens.terminal import Stopped, print_line, print_note, print_record

if TYPE_CHECKING:
    from carrylens.workflow.benchmarking import BenchmarkChoice

MethodOption = Annotated[
    list[str] | None,
    typer.Option("--method", help="A method by name, or a Python file with find(given): mine.py. May be repeated."),
]
SuiteOption = Annotated[
    list[str] | None, typer.Option("--suite", help="Only kind, hostile, aligned or empty. May be repeated.")
]
ResultsFolder = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Keep results there, and go on from those there.")
]
BoardFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write leaderboard.json, leaderboard.md and leaderboard.svg there."),
]


def benchmark_command(
    method: MethodOption = None,
    suite: SuiteOption = None,
    split: Annotated[str, typer.Option(help="dev, to try methods out, or test, which counts.")] = "test",
    quick: Annotated[bool, typer.Option("--quick", help="A few small models, on less evidence.")] = False,
    light: Annotated[bool, typer.Option("--light", help="Less evidence for each map, as map --quick.")] = False,
    seeds: Annotated[int, typer.Option(help="Seeds of questions, to see how much is found again; 0: none.")] = 10,
    out: ResultsFolder = None,
    leaderboard: BoardFolder = None,
    controls: Annotated[bool, typer.Option("--controls", help="What our map finds where nothing is, instead.")] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Fit the confidence rule on planted circuits, instead.")] = False,
    likeness: Annotated[
        bool, typer.Option("--likeness", help="Planted, aligned and freely trained models side by side, instead.")
    ] = False,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes, of one thread each; with more than 1, give --out.")
    ] = 1,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --controls or --likeness: draw them to this file.")
    ] = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="With --controls or --likeness: print Markdown for the documentation.")
    ] = False,
) -> None:
    """Score circuit-discovery methods, including your own, on models whose circuits are known.

    With --out, finished results are kept: stop with Ctrl-C, and the same command continues.
    """
    from carrylens.workflow.benchmarking import BenchmarkChoice

    _check(as_json, as_markdown, svg, [controls, fit, likeness], leaderboard)
    chosen = BenchmarkChoice(method or (), suite or (), split, quick, light, seeds, out)
    if fit:
        _fit(chosen, threads)
    elif controls:
        _controls(chosen, threads, as_json, as_markdown, svg)
    elif likeness:
        _likeness(chosen, threads, as_json, as_markdown, svg)
    else:
        _benchmark(chosen, threads, workers, as_json, leaderboard)


def _benchmark(chosen: BenchmarkChoice, threads: int, workers: int, as_json: bool, folder: Path | None) -> None:
    from carrylens.report.terminal.leaderboard import leaderboard_text

    with Watch(1, "benchmark") as watch:
        board = cl.benchmark(
            *chosen.methods,
            suites=chosen.suites,
            split=chosen.split,
            quick=chosen.quick,
            light=chosen.light,
            seeds=chosen.n_seeds,
            out=chosen.out,
            leaderboard=folder,
            threads=threads,
            workers=workers,
            told=print_record if as_json else None,
            command=_command(),
            progress=_Say(watch, chosen.out),
        )
    if not as_json:
        print_line(leaderboard_text(board).rstrip("\n"))
    if folder is not None:
        print_note(f"The leaderboard is in {folder}")


def _controls(chosen: BenchmarkChoice, threads: int, as_json: bool, as_markdown: bool, svg: Path | None) -> None:
    from carrylens.files import write_whole
    from carrylens.report.figures.benchmark import control_svg
    from carrylens.report.terminal.benchmark import control_page, control_text
    from carrylens.workflow.benchmarking import controls_run, run_controls

    with Watch(1, "benchmark") as watch:
        run = controls_run(chosen, _Say(watch, chosen.out), threads)
        records: list[dict[str, Any]] = []
        for record in run_controls(run):
            records.append(record)
            if as_json:
                print_record(record)
    if as_markdown:
        print_line(control_page(records, _command(), [each.name for each in run.training], svg).rstrip("\n"))
    elif not as_json:
        print_line(control_text(records).rstrip("\n"))
    if svg is not None:  # last, so that a full disk takes no table away
        write_whole(svg, control_svg(records).encode())
        print_note(f"Drew {svg}")


def _likeness(chosen: BenchmarkChoice, threads: int, as_json: bool, as_markdown: bool, svg: Path | None) -> None:
    from carrylens.files import write_whole
    from carrylens.json_records import to_plain
    from carrylens.report.figures.likeness import likeness_svg
    from carrylens.report.terminal.likeness import likeness_lines
    from carrylens.workflow.benchmarking import run_likeness

    with Watch(1, "likeness") as watch:
        found = run_likeness(chosen, _Say(watch, chosen.out), threads)
    for each in found if as_json else ():
        print_record(to_plain(each))
    for line in () if as_json else likeness_lines(found, markdown=as_markdown):
        print_line(line)
    if svg is not None:
        write_whole(svg, likeness_svg(found).encode())
        print_note(f"Drew {svg}")


def _fit(chosen: BenchmarkChoice, threads: int) -> None:
    from carrylens.workflow.benchmarking import controls_run, fit_rule

    with Watch(1, "benchmark") as watch:
        path, rule = fit_rule(controls_run(chosen, _Say(watch, chosen.out), threads), chosen.out)
    print_note(f"Wrote {path}: {rule.made}")


class _Say:
    """Progress on a terminal, and the place where Ctrl-C takes effect."""

    def __init__(self, watch: Watch, out: Path | None) -> None:
        self._watch, self._out = watch, out

    def __call__(self, what: str, done: int, total: int, /) -> None:
        """Show it, or stop."""
        self._watch.stage(what, done, total)
        if self._watch.stop_wanted():
            kept = "The same command goes on." if self._out else "Nothing was kept."
            raise Stopped(f"Stopped at {what}. {kept}")


def _check(as_json: bool, as_markdown: bool, svg: Path | None, instead: list[bool], leaderboard: Path | None) -> None:
    if as_json and as_markdown:
        raise CarryLensError("--json and --markdown were given. Choose one.")
    controls, _, likeness = instead
    if sum(instead) > 1:
        raise CarryLensError("Two of --controls, --fit and --likeness were given. Choose one.")
    if (svg is not None or as_markdown) and not (controls or likeness):
        raise CarryLensError(
            "--svg and --markdown go with --controls or --likeness. Add one of those, or write --leaderboard FOLDER."
        )
    if leaderboard is not None and any(instead):
        raise CarryLensError("--leaderboard does not go with --controls, --fit or --likeness. Leave those out.")


def _command() -> str:
    # As it was given, without what changes no figure.
    import shlex
    import sys

    given = iter(sys.argv[1:])
    kept = [
        word
        for word in given
        if word not in ("--out", "--threads", "--workers", "--leaderboard") or not next(given, True)
    ]
    return shlex.join(["carrylens", *kept])


def add_commands(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("benchmark")(benchmark_command)
