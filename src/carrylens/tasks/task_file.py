"""A user's own task, from a Python file.

Takes  a file that defines `task()`.
Gives  the `Task` that it declares; what saved files say of it; from what they say the same task again.
Never  runs a file that the user did not name: it is Python, and does what it says. The name of a file that a model
       folder or a map has is for people to read.
"""

from __future__ import annotations

import hashlib
import json
import runpy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from carrylens.errors import CarryLensError, quote, reason_of
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task, TaskFinder

FILE_KIND = "file"
_TRIED = 256  # questions on which the task is run once
_ADVICE = "Define task() there, as docs/tasks.md shows."


def declared_task(path: Path) -> Task:
    """The task that the file declares, after making sure that its questions can be drawn, answered and written."""
    if not path.is_file():
        raise CarryLensError(f"{path} is not a file. Give a Python file that declares a task.")
    try:
        declare = runpy.run_path(str(path)).get("task")
        task = declare() if callable(declare) else declare
        if isinstance(task, Task):
            _check_runs(task)
    except CarryLensError:
        raise
    except (Exception, SystemExit) as error:  # whatever goes wrong in the user's file is the user's to mend
        raise CarryLensError(f"{path} fails with {type(error).__name__}: {reason_of(error)}. {_ADVICE}") from error
    if not isinstance(task, Task):
        raise CarryLensError(f"{path} declares no task. {_ADVICE}")
    return replace(task, spec={"kind": FILE_KIND, "file": str(path), "name": task.name, "sha256": task_hash(task)})


def task_hash(task: Task) -> str:
    """One hash of what the causal model computes and of the tokens that questions and outputs are written with."""
    layout = task.layout
    written = {
        "causal": task.fingerprint,
        "vocabulary": layout.vocabulary,
        "outputs": layout.output_vocabulary,
        "slots": [[slot.name, slot.token, *map(str, (slot.input, slot.output, slot.reads))] for slot in layout.slots],
        "labels": {family.name: [family.label(value) for value in family.values] for family in layout.families},
    }
    return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


def finder_of(task: Task) -> TaskFinder:
    """Gives this task for what a saved file says of it, and a clear error for what it says of another."""

    def find(spec: Mapping[str, object]) -> Task:
        is_it = spec.get("sha256") == task_hash(task) if spec.get("kind") == FILE_KIND else spec in ({}, task.spec)
        if not is_it:
            said = quote(str(spec.get("name") or dict(spec)))
            raise CarryLensError(
                f"it is for {said}, not for {quote(task.name)} as it is declared now. Name the file that declares its "
                "task, as it was then"
            )
        return task

    return find


def check_is_named(spec: Mapping[str, object]) -> None:
    """Raise an error that asks for the file, if what a saved file says of its task is that a file declares it."""
    if not spec:
        raise CarryLensError("it does not say its task. Name the file that declares it with --task")
    if spec.get("kind") == FILE_KIND:
        name, file = (quote(str(spec.get(what, "nameless"))) for what in ("name", "file"))
        raise CarryLensError(f"it is for {name}, a task that {file} declares. Name that file with --task to run it")


def _check_runs(task: Task) -> None:
    for sampler in (population_of(task.causal), *task.samplers.values()):
        questions = sampler.draw(0, 0, _TRIED)
        task.token_ids(questions)
        task.output_ids(questions)
