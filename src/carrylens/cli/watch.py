"""Watching: progress bars on a terminal, silence in a pipe, and Ctrl-C heard between two steps.

Takes  how far some work is.
Gives  a line that keeps itself up to date on standard error.
Never  changes what the work does.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType, TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn


class Watch:
    """A progress line, and whether the user has asked to stop. Use it in a `with`."""

    def __init__(self, total: int, what: str) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        self._progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not sys.stderr.isatty())
        self._what, self._task = what, self._progress.add_task(what, total=total)
        self._stop = False

    def __enter__(self) -> Self:
        self._progress.start()
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
        self._progress.stop()

    def advance(self, count: int) -> None:
        """That much more is done."""
        self._progress.advance(self._task, count)

    def note(self, step: int, n_steps: int, line: dict[str, object]) -> None:
        """A training run's note: step, loss and how many hard questions are right."""
        losses = line["token_losses"]
        worst = max((loss for row in losses.values() for loss in row), default=0.0) if isinstance(losses, dict) else 0.0
        hard = f", hard questions right {line['hard']:.1%}" if "hard" in line else ""
        text = f"{self._what}  step {step} of {n_steps}, loss {line['loss']:.2g}, worst digit {worst:.2g}{hard}"
        self._progress.update(self._task, completed=step, description=text)

    def stage(self, what: str, done: int, total: int) -> None:
        """One of several stages of the work is that far."""
        self._progress.update(self._task, completed=done, total=total, description=f"{self._what}  {what}")

    def stop_wanted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stop

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt  # pressed twice: at once
        self._stop = True
