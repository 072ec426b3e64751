"""Task files: what a model is for, where a file of the user's own says it.

Takes  the file that `--task` names, or a task.
Gives  the task; the way from what a saved file says of its task to the task.
Never  runs a file that was not named.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.task import ArithmeticTask, find_task
from carrylens.tasks.task import Task, TaskFinder
from carrylens.tasks.task_file import declared_task, finder_of


def task_named(path: Path | None) -> Task | None:
    """The task that the file declares, if one was named."""
    return None if path is None else declared_task(path)


def task_given_as(task: Task | str | Path | None) -> Task | None:
    """The task itself, or what the Python file declares that is named instead."""
    return task if task is None or isinstance(task, Task) else declared_task(Path(task))


def own_task(task: Task | None) -> Task | None:
    """The task where it is a user's own; None where carrylens knows it."""
    return None if isinstance(task, ArithmeticTask) else task


def task_finder(task: Task | None) -> TaskFinder:
    """Finds the tasks that carrylens knows, or, if it is another, this one alone."""
    own = own_task(task)
    return find_task if own is None else finder_of(own)
