"""Find: from a name to a model.

Takes  a shipped model's name, a folder, or `hf:owner/repository`.
Gives  the folder, or the model in it.
Never  guesses: a name that fits nothing is an error that says what there is.
"""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.arithmetic.zoo.model_facts import model_name
from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST, WEIGHTS
from carrylens.model.folder import load_model
from carrylens.model.hub import HUB
from carrylens.model.published import load_published
from carrylens.model.transformer import Transformer

SHIPPED = Path(__file__).parent / "models"
TRAINED = Path("models")
"""Where `carrylens train` puts a model unless told otherwise."""


def shipped_names() -> list[str]:
    """The names of the models that come with the package, in order of operation, digits, shape and seed."""
    names = [folder.name for folder in SHIPPED.iterdir() if folder.is_dir()] if SHIPPED.is_dir() else []
    return sorted(names, key=_order)


def find_model(name: str) -> Path:
    """The folder of the model called `name`: a path, a shipped model, or one trained here."""
    for folder in (Path(name), SHIPPED / name, TRAINED / name):
        if folder.is_dir():
            return folder
    near = get_close_matches(name, shipped_names(), n=1, cutoff=0.3)
    advice = f" such as {near[0]}" if near else ""
    raise CarryLensError(f"{name!r} is no model here. Write a model folder, hf:owner/name or a shipped name{advice}.")


def load(name: str) -> Transformer:
    """The model called `name`, wherever it is, ready to be asked."""
    model = _load(name).eval()
    model.task = _task_of(name, model)
    return model


def _task_of(name: str, model: Transformer) -> ArithmeticTask:
    # A folder may have any name: who does not say what its model does is taken to do both.
    digits = digits_of(model.config)
    try:
        operation = model_name(name if name.startswith(HUB) else find_model(name)).operation
    except CarryLensError:
        operation = Operation.MIX
    return arithmetic_task(operation, digits)


def _load(name: str) -> Transformer:
    if name.startswith(HUB):
        return load_published(name).model
    folder = find_model(name)
    if (folder / "model.pth").exists() and not (folder / "model.safetensors").exists():
        return load_published(folder).model
    return load_model(folder)


MAPS = Path("maps")
"""Where maps of models go whose folders are not to be changed."""


def folder_for(source: str, name: str, out: Path | None) -> Path:
    """Where the map of a model goes: `out`, its own folder, or `maps/NAME` where its folder is not ours to change."""
    own = None if source.startswith(HUB) else find_model(source).resolve()
    if out is not None:
        if out.resolve() != own and ((out / WEIGHTS).exists() or (out / "model.pth").exists()):
            raise CarryLensError(f"{out} is the folder of another model. Give one that is not, or leave --out away.")
        return out
    if own is None or SHIPPED.resolve() in own.parents:
        return MAPS / name
    return own if (own / MANIFEST).exists() and os.access(own, os.W_OK) else MAPS / name


def _order(name: str) -> tuple[object, ...]:
    try:
        parsed = ModelName.parse(name)
    except CarryLensError:
        return (1, name)
    operations = ["add", "sub", "mix"]
    place = operations.index(parsed.operation.value) + (3 if parsed.insertion else 0)
    return (0, place, parsed.digits, parsed.n_layers, parsed.n_heads, parsed.width, parsed.seed)
