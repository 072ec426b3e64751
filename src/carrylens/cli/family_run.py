"""The command that takes many models along the route: family run.

Takes  a file of rows, a folder, and which workers.
Gives  a folder for each row; a progress view on a terminal, lines in a pipe, records with --json.
Never  imports PyTorch or Dask before the command is run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from carrylens.cli.options import JsonOption
from carrylens.terminal import Stopped, print_error, print_line, print_note, print_record

if TYPE_CHECKING:
    from carrylens.arithmetic.family.run_state import EndedStep, FamilyState

_LINE_SECONDS = 60.0


def family_run_command(
    rows: Annotated[str, typer.Argument(metavar="ROWS", help="A file of rows, or paper for the paper's 46.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where each row has its folder. Without it, in family here.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=1024, help="How many workers to start here.")] = 2,
    scheduler: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Join the cluster of this scheduler file instead of starting workers."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="CPU threads of each step.")] = 1,
    only: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="Only rows whose folder contains this. Repeatable.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train, test, map, judge and explain every model that a file lists.

    Each row goes train, test, map, settle, judge, battery, page. What is in its folder already is not done again,
    whoever did it: when a worker, the scheduler, the disk or Ctrl-C stops it, the same command goes on, and loses at
    most the steps that were under way. Needs the extra cluster. Exit status 1 if a step failed.
    """
    from carrylens.arithmetic.family.rows import read_rows, rows_called
    from carrylens.files import make_folder, place_here
    from carrylens.report.terminal.family_run import summary_lines
    from carrylens.workflow.family_run.cluster import ClusterChoice, run_rows

    wanted = rows_called(read_rows(rows), only or ())
    folder = place_here(Path("family")) if out is None else out
    make_folder(folder)
    with _FamilyWatch(as_json=as_json) as watch:
        try:
            state = run_rows(wanted, folder, ClusterChoice(workers, scheduler, threads), watch)
        except KeyboardInterrupt:
            raise Stopped("Stopped. What was done is in the folders: the same command goes on.") from None
    if as_json:
        print_record({"rows": len(wanted), "steps": state.counts(), "folder": str(folder)})
    else:
        for line in summary_lines(state):
            print_line(line)
        print_note(f"Lay them side by side with: carrylens family {folder}")
    for ended in state.failed:
        print_error(f"{ended.row} {ended.step}: {ended.error}")
    if state.failed:
        raise typer.Exit(1)


class _FamilyWatch:
    """Shows a run: one block that is redrawn on a terminal; in a pipe a line for each step, and one a minute."""

    def __init__(self, *, as_json: bool) -> None:
        self._json, self._is_plain, self._printed_at = as_json, not sys.stderr.isatty(), monotonic()
        self._live = None if self._is_plain else Live(console=Console(stderr=True), auto_refresh=False)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, state: FamilyState, ended: EndedStep | None) -> None:
        from carrylens.report.terminal.family_run import ended_line, progress_lines

        if ended is not None and self._json:
            print_record(ended.record())
            sys.stdout.flush()
        elif ended is not None and self._is_plain:
            print_note(ended_line(ended))
        now = monotonic()
        if self._live is not None:
            self._live.update(Text("\n".join(progress_lines(state, now))), refresh=True)
        elif now - self._printed_at >= _LINE_SECONDS:
            print_note("; ".join(" ".join(line.split()) for line in progress_lines(state, now)))
            self._printed_at = now
