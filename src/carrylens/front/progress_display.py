"""Progress display: how far a call is, in a notebook or on a terminal.

Takes  what is being done, how much of it is done and how much there is.
Gives  one line that keeps itself up to date, and is gone at the end.
Never  prints where nobody watches: in a script whose output goes to a file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any

from carrylens.progress import Progress, silent

if TYPE_CHECKING:
    from carrylens.training.run import TrainingMonitor

_SECONDS = 0.3  # between two changes of the line


@contextmanager
def progress_display(what: str, wanted: bool | Progress = True) -> Iterator[Progress]:
    """A progress callback for the work inside the `with`: the caller's own, or a line about `what`, or none."""
    if callable(wanted):
        yield wanted
    elif wanted and in_notebook():
        shown = import_module("IPython.display")
        handle = shown.display(shown.HTML(""), display_id=True)
        try:
            yield NotebookLine(what, lambda html: handle.update(shown.HTML(html)))
        finally:
            handle.update(shown.HTML(""))
    elif wanted and sys.stderr is not None and sys.stderr.isatty():
        with _terminal_bar(what) as bar:
            yield bar
    else:
        yield silent


@contextmanager
def training_display(what: str, wanted: bool | Progress | TrainingMonitor = True) -> Iterator[TrainingMonitor]:
    """Who is told how a training run goes: the caller's own monitor, or a progress callback or line."""
    if not isinstance(wanted, bool) and not callable(wanted):
        yield wanted
        return
    with progress_display(what, wanted) as say:
        yield TrainingDisplay(say)


class NotebookLine:
    """A progress callback that writes a line of HTML through `show`, a few times a second at most."""

    def __init__(self, what: str, show: Callable[[str], object]) -> None:
        self._what, self._show = what, show
        self._shown_at, self._stage = -_SECONDS, ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show it, unless the line was changed just now and the stage is the same."""
        if stage == self._stage and monotonic() - self._shown_at < _SECONDS:
            return
        self._shown_at, self._stage = monotonic(), stage
        share = min(1.0, done / total) if total else 0.0
        self._show(
            f'<progress value="{share:.3f}" max="1" style="width:12em;vertical-align:middle"></progress> '
            f"<small>{escape(self._what)}: {escape(stage)}, {share:.0%}</small>"
        )


class TrainingDisplay:
    """What a training run tells of itself, as progress."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def note(self, step: int, n_steps: int, line: Any, /) -> None:
        """A note of the run: its step and its loss."""
        self._progress(f"step {step:,} of {n_steps:,}, loss {line['loss']:.2g}", step, n_steps)

    def stop_wanted(self) -> bool:
        """Never: in Python, Ctrl-C or the notebook's stop button raises KeyboardInterrupt."""
        return False


def in_notebook() -> bool:
    """Whether this runs in a kernel that shows HTML."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and hasattr(running, "kernel")


@contextmanager
def _terminal_bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)

        def move(stage: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=f"{what}  {stage}")

        yield move
