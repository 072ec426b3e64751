"""Saved map: the map in a file, if it is the one that was saved there, and of the weights beside it.

Takes  the path of a map.
Gives  the `NodeMap`.
Never  imports torch: to judge or draw a map no model is needed. Files that a reader of maps does not use may be gone.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.discovery.node_map import MAP, MAP_SCHEMA, NodeMap
from carrylens.errors import CarryLensError
from carrylens.folders import WEIGHTS, hash_of_weights, read_checked
from carrylens.model.source import ModelSource
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


def check_is_of(found: NodeMap, source: ModelSource) -> None:
    """Raise a clear error unless the map is of this model: of its name, and of its weights where they are here."""
    if found.model != source.name:
        raise CarryLensError(
            f"The map for {source.given} is of {found.model}, not of {source.name}. Give that model, or map this one."
        )
    said = found.stimuli.get("sha256")
    if said is not None and source.has_weights and source.sha256 != said:
        raise CarryLensError(
            f"The map for {source.given} is of other weights ({str(said)[:12]}) than the model has "
            f"({source.sha256[:12]}). Map the model again."
        )


def task_of_map(path: Path, find_task: TaskFinder) -> Task:
    """The task that the map at `path` is of, whatever variables it names."""
    given = MAP_SCHEMA.decode(_content(path), str(path))
    with MAP_SCHEMA.refusing(str(path)):
        return find_task(given.said_of_task)


def _content(path: Path) -> bytes:
    return read_checked(path, "Give a map, or the folder it is in.", must_be_listed=path.name == MAP)[0]
