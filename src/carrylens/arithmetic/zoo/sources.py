"""Sources: from what a user writes to a model that was found.

Takes  a shipped model's name, a model folder, or `hf:owner/repository`.
Gives  its `ModelSource`, with its name, its task and where it lies.
Never  guesses: a name that fits nothing, or says another shape than the weights have, is an error that says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task, find_task
from carrylens.arithmetic.zoo.model_facts import NamelessModelError, model_name
from carrylens.errors import CarryLensError, quote
from carrylens.folders import CONFIG, WEIGHTS, settle
from carrylens.model.config import ModelConfig, read_config
from carrylens.model.hub import HUB
from carrylens.model.source import ModelSource
from carrylens.steps import read_made
from carrylens.tasks.task import Task
from carrylens.tasks.task_file import check_is_named, finder_of

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

SHIPPED = Path(__file__).parent / "models"
ALIGNED = Path(__file__).parent / "aligned"
"""Where models lie that were trained under an alignment, and whose circuit is known for that."""
TRAINED = Path("models")
_LONGEST_NAME = 100
"""Where `carrylens train` puts a model unless told otherwise."""


def shipped_names() -> list[str]:
    """The names of the models that come with the package, in order of operation, digits, shape and seed."""
    names = [folder.name for folder in SHIPPED.iterdir() if folder.is_dir()] if SHIPPED.is_dir() else []
    return sorted(names, key=_order)


def find_source(given: str, *, any_name: bool = False, task: Task | None = None) -> ModelSource:
    """The model that `given` names: a path, a shipped model, one trained here, or a repository on the Hub.

    With `any_name` a folder need not say what its model does: it is then taken to add and subtract. `task` is the
    user's own task that the model is for.
    """
    if task is not None:
        return _own_source(given, task)
    if given.startswith(HUB):
        name = model_name(given)
        return ModelSource(given, str(name), _task_of_name(name), None, False, lambda: _read_published(given))
    folder = find_folder(given)
    said = _read_config(folder)
    name_text, task = _identity(given, folder, said, any_name=any_name)
    return ModelSource(given, name_text, task, folder, _is_shipped(folder), lambda: _read(folder))


def _own_source(given: str, task: Task) -> ModelSource:
    # A model for a task of the user's own: what its folder says of its task and shape must agree.
    if given.startswith(HUB):
        raise CarryLensError(f"{given!r} is on the Hub. To give a task of your own, download it and name its folder.")
    folder = find_folder(given)
    said = _read_config(folder)
    if "task" in said:
        try:
            finder_of(task)(said["task"])
        except CarryLensError as error:
            raise CarryLensError(f"{folder / CONFIG} says that {error}.") from error
    if "config" in said:
        _check_shape(given, said["config"], task)
    return ModelSource(given, folder.resolve().name, task, folder, _is_shipped(folder), lambda: _read(folder))


def _check_shape(given: str, config: ModelConfig, task: Task) -> None:
    layout = task.layout
    wanted = {
        "n_ctx": layout.n_positions,
        "d_vocab": len(layout.vocabulary),
        "d_vocab_out": len(layout.output_vocabulary or layout.vocabulary),
        "reads": layout.reads,
    }
    for what, value in wanted.items():
        if getattr(config, what) != value:
            raise CarryLensError(
                f"{given!r} has {what} {getattr(config, what)}, but {quote(task.name)} needs {value}. "
                "Name the file that declares the model's own task."
            )


def _is_shipped(folder: Path) -> bool:
    return any(place.resolve() in folder.resolve().parents for place in (SHIPPED, ALIGNED))


def find_folder(given: str) -> Path:
    """The folder of the model called so: a path, a shipped model, or one trained here."""
    places = (Path(given), SHIPPED / given, ALIGNED / given, TRAINED / given) if _can_be_path(given) else ()
    candidates = [folder for folder in places if folder.is_dir()]
    for folder in candidates:
        settle(folder)
    with_model = [folder for folder in candidates if (folder / CONFIG).exists() or (folder / "model.pth").exists()]
    if found := (with_model or candidates):
        return found[0]
    near = get_close_matches(given[:_LONGEST_NAME], shipped_names(), n=1, cutoff=0.3)
    advice = f" such as {near[0]}" if near else ""
    raise CarryLensError(
        f"{quote(given)} is neither a shipped model nor a folder that holds one. "
        f"Write a model folder, hf:owner/name or the name of a shipped model{advice}."
    )


def _can_be_path(given: str) -> bool:
    return "\0" not in given and len(given) < 4096 and all(len(os.fsencode(part)) < 256 for part in given.split("/"))


def _identity(given: str, folder: Path, said: Mapping[str, Any], *, any_name: bool) -> tuple[str, Task]:
    # What the model is called and what it is for: as its config says, or else as its name does.
    try:
        name = model_name(folder)
    except NamelessModelError:  # a damaged file or two names are errors all the same
        if "task" in said:
            return folder.resolve().name, _known_task(folder, said["task"])
        if any_name and "digits" in said:
            return folder.resolve().name, arithmetic_task(Operation.MIX, said["digits"])
        raise
    for what, field in (("digits", "digits"), ("n_layers", "n_layers"), ("n_heads", "n_heads"), ("width", "d_model")):
        stated, real = getattr(name, what), said.get(field, getattr(name, what))
        if stated != real:
            raise CarryLensError(
                f"{given!r} is called {name}, which says {field} {stated}, but its {CONFIG} has {real}. "
                "Rename the folder to the name of its model."
            )
    task: Task = _known_task(folder, said["task"]) if "task" in said else _task_of_name(name)
    if isinstance(task, ArithmeticTask) and task.operation is not name.operation:
        raise CarryLensError(
            f"{given!r} is called {name}, but its {CONFIG} says that it is for {task.name}. "
            "Rename the folder to the name of its model."
        )
    n_positions = said.get("n_ctx", task.layout.n_positions)
    if name.digits != _digits_of(task) or n_positions != task.layout.n_positions:
        raise CarryLensError(
            f"{given!r} is called {name}, which says digits {name.digits}, but its {CONFIG} has {n_positions} "
            "positions. Rename the folder to the name of its model."
        )
    return str(name), task


def _known_task(folder: Path, spec: Mapping[str, Any]) -> Task:
    try:
        check_is_named(spec)
    except CarryLensError as error:
        raise CarryLensError(f"{folder / CONFIG} says that {error}.") from error
    return find_task(spec)


def _digits_of(task: Task) -> int | None:
    return task.digits if isinstance(task, ArithmeticTask) else None


def _task_of_name(name: ModelName) -> Task:
    return arithmetic_task(name.operation, name.digits)


def _read_config(folder: Path) -> Mapping[str, Any]:
    # What the config says of the shape, and of the task where it does.
    if (folder / "model.pth").exists() and not (folder / WEIGHTS).exists():
        return {}  # published by others, whose config is not ours
    content = read_made(folder, CONFIG, "carrylens train or import")
    if content is None:
        return {}
    config, record = read_config(content, str(folder / CONFIG))
    said: dict[str, Any] = {name: getattr(config, name) for name in ("n_layers", "n_heads", "d_model", "n_ctx")}
    said["config"] = config
    for name in ("digits", "task"):
        if (value := getattr(record, name, UNSET)) is not UNSET:
            said[name] = value
    return said


def _read(folder: Path) -> Transformer:
    from carrylens.model.folder import load_model
    from carrylens.model.published import load_published

    if (folder / "model.pth").exists() and not (folder / WEIGHTS).exists():
        return load_published(folder).model
    return load_model(folder)


def _read_published(given: str) -> Transformer:
    from carrylens.model.published import load_published

    return load_published(given).model


def _order(name: str) -> tuple[object, ...]:
    try:
        parsed = ModelName.parse(name)
    except CarryLensError:
        return (1, name)
    place = list(Operation).index(parsed.operation) + (3 if parsed.insertion else 0)
    return (0, place, parsed.digits, parsed.n_layers, parsed.n_heads, parsed.width, parsed.seed)
