"""Folder: a model on disk as `config.json`, `model.safetensors` and the `manifest.json` that seals them.

Takes  a model and a path.
Gives  the folder, or from a folder the very model that was saved there.
Never  loads a model that is unfinished, changed, misshapen or not finite.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save

from carrylens.errors import CarryLensError
from carrylens.folders import CONFIG, WEIGHTS, read_sealed, write_sealed
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.model.weights import check_weights, model_from_weights


def save_model(model: Transformer, folder: str | Path, also: Sequence[str] = ()) -> None:
    """Save the model, all of it or nothing; `also` names files already in the folder to be sealed with it."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    check_weights(model.config, state, "The model to save")
    contents = {CONFIG: _config_text(model).encode(), WEIGHTS: save(state)}
    write_sealed(Path(folder), contents, also)


def load_model(folder: str | Path) -> Transformer:
    """The model that was saved in the folder."""
    folder = Path(folder)
    config = ModelConfig.from_json(_without_task(read_sealed(folder, CONFIG)), source=str(folder / CONFIG))
    content, source = read_sealed(folder, WEIGHTS), str(folder / WEIGHTS)
    try:
        state = load(content)
    except SafetensorError as error:
        raise CarryLensError(f"{source} holds no weights ({_line(error)}). Restore it, or save it again.") from error
    return model_from_weights(config, state, source)


def _config_text(model: Transformer) -> str:
    # What the model is for stands beside its shape, where it is known.
    spec = {} if model.task is None else dict(model.task.spec)
    shape = model.config.to_json()
    return json.dumps({**json.loads(shape), "task": spec}, indent=2) + "\n" if spec else shape


def _without_task(content: bytes) -> bytes:
    try:
        given = json.loads(content)
    except ValueError:
        return content
    if isinstance(given, dict) and "task" in given:
        return json.dumps({name: value for name, value in given.items() if name != "task"}).encode()
    return content


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
