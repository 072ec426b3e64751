"""Find: from a name to a model.

Takes  a shipped model's name, a folder, or `hf:owner/repository`.
Gives  the folder, or the model in it.
Never  guesses: a name that fits nothing is an error that says what there is.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from carrylens.arithmetic.decoding import Decoder
from carrylens.arithmetic.model_names import ModelName
from carrylens.errors import CarryLensError
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
    model.task = Decoder()
    return model


def _load(name: str) -> Transformer:
    if name.startswith(HUB):
        return load_published(name).model
    folder = find_model(name)
    if (folder / "model.pth").exists() and not (folder / "model.safetensors").exists():
        return load_published(folder).model
    return load_model(folder)


def _order(name: str) -> tuple[object, ...]:
    try:
        parsed = ModelName.parse(name)
    except CarryLensError:
        return (1, name)
    operations = ["add", "sub", "mix"]
    place = operations.index(parsed.operation.value) + (3 if parsed.insertion else 0)
    return (0, place, parsed.digits, parsed.n_layers, parsed.n_heads, parsed.width, parsed.seed)
