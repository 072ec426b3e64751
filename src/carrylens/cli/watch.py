"""Watching: a progress bar on a terminal, now and then a line in a pipe, and Ctrl-C heard between two steps.

Takes  how far some work is.
Gives  a line that keeps itself up to date on standard error; where that is no terminal, one plain line a minute.
Never  changes what the work does.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from math import floor, log10
from time import monotonic
from types import FrameType, TracebackType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from carrylens.terminal import print_note

_LINE_SECONDS = 60.0
_STEADY_SECONDS = 600.0  # steps come in bursts: the time left is told from so long, or from the stage if it is shorter


class _Bar(Progress):
    # A progress bar with some text below it.
    below = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.below:
            yield Text(self.below)


class Watch:
    """A progress line, and whether the user has asked to stop. Use it in a `with`."""

    def __init__(self, total: int, what: str, line_seconds: float = _LINE_SECONDS) -> None:
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        self._is_plain = not sys.stderr.isatty()
        self._progress = _Bar(
            *columns,
            TimeRemainingColumn(),
            console=console,
            disable=self._is_plain,
            speed_estimate_period=_STEADY_SECONDS,
        )
        self._what, self._task = what, self._progress.add_task(what, total=total)
        self._hard, self._stop = "", False
        self.step, self.n_steps = 0, total
        self._line_seconds, self._printed_at = line_seconds, monotonic()

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
        self._print_now_and_then(self._what)

    def note(self, step: int, n_steps: int, line: Mapping[str, Any]) -> None:
        """A training run's note: step, loss, the share of hard questions right when last tried, every digit's loss."""
        self.step, self.n_steps = step, n_steps
        if "hard" in line:
            self._hard = f", hard questions right {line['hard']:.1%}"
        text = f"step {step} of {n_steps}, loss {line['loss']:.2g}{self._hard}"
        rows = [f"{operation} {short_losses(losses)}" for operation, losses in line["token_losses"].items()]
        self._progress.below = "\n".join([text, *rows])
        self._progress.update(self._task, completed=step, total=n_steps)
        self._print_now_and_then(f"{self._what}  {'; '.join([text, *rows])}")

    def stage(self, what: str, done: int, total: int) -> None:
        """One of several stages of the work is that far."""
        description = f"{self._what}  {what}"
        move = self._progress.update if description == self._progress.tasks[0].description else self._progress.reset
        move(self._task, completed=done, total=total, description=description)
        self._print_now_and_then(f"{self._what}  {what}")

    def stop_wanted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._stop

    def _print_now_and_then(self, text: str) -> None:
        if not self._is_plain or monotonic() - self._printed_at < self._line_seconds:
            return
        task = self._progress.tasks[0]
        left = "" if task.time_remaining is None else f", about {task.time_remaining:.0f} s left"
        print_note(f"{text}; {task.percentage:.0f}%{left}")
        self._printed_at = monotonic()

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt  # pressed twice: at once
        self._stop = True


def short_losses(losses: Sequence[float]) -> str:
    """The losses of the answer's tokens in a few letters each: below .01 only the power of ten.

    >>> short_losses([0.0, 2.66e-07, 0.014, 0.35, 1.24, 15.6])
    'sign 0, digits e-7 .01 .35 1.2 16'
    """
    sign, *digits = (_short(loss) for loss in losses)
    return f"sign {sign}, digits {' '.join(digits)}"


def _short(loss: float) -> str:
    if loss <= 0:
        return "0"
    if loss < 0.01:
        return f"e{floor(log10(loss))}"
    if loss < 0.995:
        return f"{loss:.2f}".removeprefix("0")
    return f"{loss:.1f}" if loss < 9.95 else f"{loss:.0f}"
