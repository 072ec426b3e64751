"""Commands that measure: bench.

Takes  sizes.
Gives  seconds and ratios, both sides measured in one run.
Never  measures without checking that both sides agree.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from carrylens.cli.options import JsonOption, SeedOption
from carrylens.terminal import print_line, print_record


def bench_arithmetic_command(
    count: Annotated[int, typer.Option("--questions", min=1, help="How many questions.")] = 1_000_000,
    digits: Annotated[int, typer.Option(help="How many digits.")] = 20,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Time every sub-task, answer and class.

    Plain Python integers answer part of the same questions in the same run, and must agree.
    """
    from carrylens.bench.arithmetic import bench_arithmetic

    measured = bench_arithmetic(count, digits, seed)
    if as_json:
        print_record({**asdict(measured), "ratio": measured.ratio})
    else:
        print_line(
            f"{measured.n_questions:,} questions of {measured.digits} digits: {measured.n_variables} variables each in "
            f"{measured.subtask_seconds:.2f} s, classes in {measured.class_seconds:.2f} s. Plain Python integers give "
            f"the same {measured.n_plain:,} answers in {measured.plain_seconds:.2f} s: ours are {measured.ratio:.1f} "
            "times as fast, every sub-task included."
            if measured.agrees
            else "The answers disagree with plain Python integers."
        )
    if not measured.agrees:
        raise typer.Exit(1)


def _bench() -> None:
    """Measure how fast carrylens is."""


def bench_commands() -> typer.Typer:
    """The command `bench` and those under it."""
    bench = typer.Typer(help="Measure how fast carrylens is.", no_args_is_help=True, rich_markup_mode=None)
    bench.callback()(_bench)
    bench.command("arithmetic")(bench_arithmetic_command)
    return bench
