"""Saved map: the map in a file, if it is the one that was saved there, and of the weights beside it.

Takes  the path of a map.
Gives  the `NodeMap`.
Never  imports torch: to judge or draw a map no model is needed. Files that a reader of maps does not use may be gone.
"""

from __future__ import annotations

import json
from pathlib import Path

from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.errors import CarryLensError
from carrylens.folders import WEIGHTS, check_if_sealed, hash_of_weights
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task, TaskFinder


def read_map(path: Path, find_task: TaskFinder, causal: CausalModel | None = None) -> NodeMap:
    """The map at `path`, after making sure that neither it nor the weights it was made from changed.

    `causal` is needed for a map of variables that its task does not have.
    """
    content = _content(path)
    found = NodeMap.from_json(content, find_task, causal, source=str(path))
    said, weights = found.stimuli.get("sha256"), path.parent / WEIGHTS
    if said is not None and weights.is_file() and (beside := hash_of_weights(weights)) != said:
        raise CarryLensError(
            f"{path} is of other weights ({str(said)[:12]}) than those beside it ({beside[:12]}). Map the model again."
        )
    return found


def task_of_map(path: Path, find_task: TaskFinder) -> Task:
    """The task that the map at `path` is of, whatever variables it names."""
    try:
        given = json.loads(_content(path))
        return find_task(given.get("task", given))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CarryLensError(f"{path} is no node map: {str(error).rstrip('.')}. Map the model again.") from error


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CarryLensError(
            f"{path} cannot be read ({error.strerror or error}). Give a map, or the folder it is in."
        ) from error
    check_if_sealed(path, content, must_be_listed=path.name == MAP)
    return content
