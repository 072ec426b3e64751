"""Importing: weights that someone else saved, as a model folder on which every command works.

Takes  a file of weights, an operation, and how questions are written for that model.
Gives  the model, checked against the layout, and a folder with it.
Never  runs what a file holds, and never takes weights that do not fit the layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError, quote
from carrylens.files import read_whole
from carrylens.json_records import Schema
from carrylens.model.folder import save_model
from carrylens.model.formats.foreign import read_foreign
from carrylens.model.transformer import Transformer
from carrylens.model.weights import infer_config, model_from_weights
from carrylens.tasks.layout import Layout
from carrylens.tasks.task import Task
from carrylens.workflow.choices import choice
from carrylens.workflow.task_files import task_named

_WORDS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class Unseen:
    """What weights do not show; None is the format's own."""

    n_heads: int | None = None
    act_fn: str | None = None
    normalization: str | None = None
    eps: float | None = None


def import_model(path: Path, folder: Path, task: Task, unseen: Unseen | None = None) -> Transformer:
    """The model whose weights are at `path`, saved as a model folder."""
    model = load_foreign_model(path, task, unseen or Unseen())
    save_imported(model, folder)
    return model


def save_imported(model: Transformer, folder: Path) -> None:
    """Write the model folder, unless one is there."""
    if (folder / "config.json").exists():
        raise CarryLensError(f"{folder} holds a model already. Give another folder with --out.")
    save_model(model, folder)


def load_foreign_model(path: Path, task: Task, unseen: Unseen) -> Transformer:
    """The model whose weights are at `path`, as one for this task."""
    found, layout = read_foreign(path, unseen.n_heads), task.layout
    state = dict(found.state)
    places = state.get("pos_embed.W_pos")
    if places is not None and len(places) < layout.n_positions:
        raise _misfit(path, "positions", len(places), layout)
    if places is not None:
        state["pos_embed.W_pos"] = places[: layout.n_positions].contiguous()  # later places are never read
    config = infer_config(
        state,
        layout.reads,
        act_fn=unseen.act_fn or found.act_fn,
        normalization=unseen.normalization,
        eps=found.eps if unseen.eps is None else unseen.eps,
        source=str(path),
    )
    wanted = {
        "input tokens": len(layout.vocabulary),
        "output tokens": len(layout.output_vocabulary or layout.vocabulary),
    }
    for what, real in (("input tokens", config.d_vocab), ("output tokens", config.d_vocab_out)):
        if real != wanted[what]:
            raise _misfit(path, what, real, layout)
    model = model_from_weights(config, state, str(path)).eval()
    model.task = task
    return model


def n_places(path: Path, n_heads: int | None = None) -> int:
    """How many positions the weights have: a layout may use fewer, if the model was trained on shorter sequences."""
    return len(read_foreign(path, n_heads).state["pos_embed.W_pos"])


def _misfit(path: Path, what: str, real: int, layout: Layout) -> CarryLensError:
    tokens = {"positions": layout.n_positions, "input tokens": len(layout.vocabulary)}
    wanted = tokens.get(what, len(layout.output_vocabulary or layout.vocabulary))
    return CarryLensError(
        f"{path} is of a model with {real} {what}, but the layout has {wanted}: {' '.join(layout.place_names)}. "
        "Give the layout that the model was trained with."
    )


def imported_task(file: Path | None, operation: str, digits: int | None, layout: Sequence[str]) -> Task:
    """The task of a model that is imported: one that a file declares, or an operation with a number of digits."""
    own = task_named(file)
    if own is None and digits is None:
        raise CarryLensError("Weights do not say what the model is for. Write --digits, or --task for one of your own.")
    if own is not None and (digits is not None or layout):
        raise CarryLensError("--task says how questions are written. Leave --digits and --layout out.")
    return own or task_of(operation, digits or 0, layout)


def task_of(operation: str, digits: int, given: Sequence[str]) -> Task:
    """The task that the command line describes: a JSON file, or words such as `units_first=yes`."""
    record: dict[str, Any] = {"digits": digits}
    for word in given:
        if "=" in word:
            name, _, value = word.partition("=")
            record[name.replace("-", "_").strip()] = _value(name.replace("-", "_").strip(), value)
        else:
            record |= _read(Path(word))
    chosen = QuestionLayout.from_record(record)
    return arithmetic_task(choice(Operation, operation, "--operation"), chosen.digits, chosen)


def _value(name: str, text: str) -> object:
    known = {field.name: str(field.type) for field in fields(QuestionLayout)}
    kind = known.get(name, "")
    if kind == "bool":
        if text.lower() not in _WORDS:
            raise CarryLensError(f"--layout {name}={quote(text)} is neither yes nor no. Write one of them.")
        return _WORDS[text.lower()]
    if kind == "int":
        if not text.isdecimal():
            raise CarryLensError(f"--layout {name}={quote(text)} is not a whole number. Write one.")
        return int(text)
    if kind.startswith("tuple"):  # tokens apart by spaces, or one letter each
        many = name in ("vocabulary", "output_vocabulary") and " " not in text.strip()
        return tuple(text) if many else tuple(text.split())
    return text


_SCHEMA = Schema(dict[str, Any], "layout", 'Write an object such as {"sign": false}.')


def _read(path: Path) -> Mapping[str, Any]:
    content = read_whole(path, "Write --layout NAME=VALUE, such as sign=no, or give a JSON file.")
    return _SCHEMA.decode(content, str(path))
