"""Given models: whatever a person gives for a model, as the one value that commands hold.

Takes  a name, a folder, `hf:owner/repository`, or a model in memory.
Gives  its `ModelSource`; a file of weights, as a model.
Never  takes a model whose weights were changed in memory for the one it was loaded from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST
from carrylens.model.source import ModelSource
from carrylens.tasks.task import Task
from carrylens.tasks.task_file import declared_task
from carrylens.workflow.choices import choice
from carrylens.workflow.task_files import own_task

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer
    from carrylens.workflow.importing import Unseen

WEIGHT_FILES = (".pt", ".pth", ".bin", ".safetensors")


def source_of(model: str | Path | ModelSource | Transformer) -> ModelSource:
    """The model as a source; one in memory keeps the name and the saved analyses of the folder it came from."""
    if isinstance(model, ModelSource):
        return model
    if isinstance(model, str | Path):
        return find_source(str(model), any_name=True)
    if getattr(model, "config", None) is None or not hasattr(model, "task"):
        raise CarryLensError(
            f"A {type(model).__name__} is not a model of carrylens. Give a name or a folder, or load it with "
            "carrylens.load."
        )
    if model.task is None:
        raise CarryLensError("It is not known what this model is for. Set model.task, or load it with carrylens.load.")
    return _in_memory(model, model.task)


def name_of(model: str | Path | ModelSource | Transformer) -> str:
    """What the model is called, without reading its weights again."""
    if isinstance(model, str | Path | ModelSource):
        return source_of(model).name
    if model.given is not None:
        return find_source(model.given, any_name=True, task=own_task(model.task)).name
    return source_of(model).name


def _in_memory(model: Transformer, task: Task) -> ModelSource:
    from carrylens.model.weights import hash_of

    sha256 = hash_of(model)
    if model.given is not None:
        known = find_source(model.given, any_name=True, task=own_task(task))
        if known.sha256 == sha256:
            return replace(known, reader=lambda: model)
    name = f"{re.sub(r'[^a-z0-9]+', '-', task.name.lower()).strip('-')}-{sha256[:8]}"
    return ModelSource(name, name, task, None, False, lambda: model)


def load_file(
    path: Path, task: Task | str | None, digits: int | None, layout: Mapping[str, Any] | Sequence[str], unseen: Unseen
) -> Transformer:
    """The model whose weights someone else saved at `path`."""
    from carrylens.workflow.importing import load_foreign_model

    model = load_foreign_model(path, task_given(task, digits, layout), unseen)
    return model.eval()


def is_foreign(model: str | Path, task: Task | str | None, digits: int | None) -> bool:
    """Whether weights are meant that somebody else saved: a file, or a folder that carrylens did not seal."""
    path = Path(model)
    unsealed = task is not None and path.is_dir() and not (path / MANIFEST).exists()
    return path.suffix in WEIGHT_FILES or path.is_file() or digits is not None or unsealed


def load_folder(model: str, task: Task | str | None) -> Transformer:
    """The model of a name, a folder or a repository; `task` is one of the user's own, or the file that declares it."""
    own = declared_by(task)
    if own is None and task is not None:
        raise CarryLensError(f"{model!r} says by itself what it is for. Leave out task, or give a Task or its file.")
    return find_source(model, any_name=True, task=own_task(own)).load()


def declared_by(task: Task | str | None) -> Task | None:
    """The task where it is one of the user's own: given itself, or as the Python file that declares it."""
    if isinstance(task, Task) or task is None:
        return task
    return declared_task(Path(task)) if Path(task).suffix == ".py" else None


def task_given(task: Task | str | None, digits: int | None, layout: Mapping[str, Any] | Sequence[str]) -> Task:
    """The task that a person describes: one of their own, or an operation with a number of digits and a layout."""
    from carrylens.workflow.importing import task_of

    if (own := declared_by(task)) is not None:
        if digits is not None or layout:
            raise CarryLensError("A task has its own layout. Leave out digits and layout, or name an operation.")
        return own
    if digits is None:
        raise CarryLensError(
            "Weights alone do not say what the model is for. Write load(FILE, task='add', digits=6), or give a Task."
        )
    operation = "add" if task is None else str(task)
    if isinstance(layout, Mapping):
        chosen = QuestionLayout.from_record({"digits": digits, **layout})
        return arithmetic_task(choice(Operation, operation, "task"), digits, chosen)
    return task_of(operation, digits, layout)
