"""Model facts: what a model is meant to do, and what is known of it, from its folder.

Takes  a model's name or folder.
Gives  its parsed name, its losses and its test, where they were saved.
Never  runs the model.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.zoo.exam_record import TEST, read_test
from carrylens.errors import CarryLensError
from carrylens.json_records import Schema
from carrylens.model.hub import HUB
from carrylens.steps import read_made
from carrylens.training.history import HISTORY, HistoryNote, read_history

CARD, TRUTH = "README.md", "truth.json"
_PUBLISHED_PREFIX = "QuantaMaths_"


class NamelessModelError(CarryLensError):
    """Nothing in or about a folder says a model's name."""


def model_name(source: str | Path) -> ModelName:
    """The name of the model in a folder or repository: of what was trained or planted there, or else the folder's.

    Where several files and the folder say a name, it must be the same.
    """
    said = _names_said(source)
    if not said:
        raise NamelessModelError(
            f"{str(source)!r} does not say whether its model adds or subtracts. "
            "Call the folder as the model is called, such as add_d6_l2_h3_w96_t2K_s1."
        )
    (where, name), *others = said.items()
    for elsewhere, other in others:
        if other != name:
            raise CarryLensError(
                f"{str(source)!r} holds the model {name} by its {where}, but {other} by its {elsewhere}. "
                "Keep the files of one model in a folder, and call it as the model is called."
            )
    return name


def _names_said(source: str | Path) -> dict[str, ModelName]:
    # The name of the model by whatever says it. A test is of some model, whose name its folder need not have.
    is_folder = not str(source).startswith(HUB)
    called = Path(source).resolve().name if is_folder else str(source).rpartition("/")[2]
    texts = {"own name": called.removeprefix(_PUBLISHED_PREFIX)}
    if is_folder:
        folder = Path(source)
        texts = {HISTORY: str(training_run(folder).get("name", "")), TRUTH: _planted(folder) or "", **texts}
    found = {}
    for where, text in texts.items():
        with suppress(CarryLensError):
            found[where] = ModelName.parse(text)
    return found


def training_run(folder: Path) -> dict[str, Any]:
    """How the model was trained, if it was trained here; the first line of its history."""
    lines = history(folder)
    run = lines[0].get("run") if lines else None
    return run if isinstance(run, dict) else {}


class _TruthName(Struct):
    # The truth about a planted model names it. That about a model trained under an alignment has groups instead.
    model: str | UnsetType = UNSET
    groups: list[Any] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.model is UNSET and self.groups is UNSET:
            raise CarryLensError("it has neither the name of a model nor groups of nodes")


_TRUTH_SCHEMA = Schema(_TruthName, "truth about a model", "Restore it, or plant the model again.", others=True)


def _planted(folder: Path) -> str | None:
    # The name that the truth about a planted model gives it.
    content = read_made(folder, TRUTH, "carrylens plant")
    said = UNSET if content is None else _TRUTH_SCHEMA.decode(content, str(folder / TRUTH)).model
    return None if isinstance(said, UnsetType) else said


def history(folder: Path) -> list[HistoryNote]:
    """The lines of the training history: how it was trained, then losses by step."""
    content = read_made(folder, HISTORY, "carrylens train")
    return [] if content is None else read_history(content, str(folder / HISTORY))


def saved_test(folder: Path) -> dict[str, Any] | None:
    """The test that was saved in the folder, if there is one."""
    content = read_made(folder, TEST, f"carrylens test {folder} --save, or carrylens explain {folder},")
    return None if content is None else read_test(content, str(folder / TEST))
