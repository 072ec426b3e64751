"""Folder: a model on disk as `config.json`, `model.safetensors` and the `manifest.json` that seals them.

Takes  a model and a path.
Gives  the folder, or from a folder the very model that was saved there.
Never  loads a model that is unfinished, changed, misshapen or not finite.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from carrylens.folders import CONFIG, WEIGHTS, read_sealed, write_sealed
from carrylens.json_records import to_text
from carrylens.model.config import ConfigRecord, ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.model.weights import check_weights, model_from_weights
from carrylens.tensor_bytes import TensorBytes, tensors_in


def save_model(
    model: Transformer, folder: str | Path, also: Sequence[str] = (), beside: Mapping[str, bytes] | None = None
) -> None:
    """Save the model and the files `beside` it, all or nothing; `also` names files there to be sealed."""
    write_sealed(Path(folder), {**model_files(model), **(beside or {})}, also)


def model_files(model: Transformer) -> dict[str, bytes]:
    """The files that a model is saved as, by name."""
    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    check_weights(model.config, state, "The model to save")
    return {CONFIG: _config_text(model).encode(), WEIGHTS: save(state)}


def load_model(folder: str | Path) -> Transformer:
    """The model that was saved in the folder."""
    folder = Path(folder)
    config = ModelConfig.from_json(read_sealed(folder, CONFIG), source=str(folder / CONFIG))
    content, source = read_sealed(folder, WEIGHTS), str(folder / WEIGHTS)
    state = {name: _tensor(each) for name, each in tensors_in(content, source).items()}
    return model_from_weights(config, state, source)


def _tensor(given: TensorBytes) -> Tensor:
    dtype = getattr(torch, given.dtype)
    if not given.values:
        return torch.empty(given.shape, dtype=dtype)
    return torch.frombuffer(bytearray(given.values), dtype=dtype).reshape(given.shape)


def _config_text(model: Transformer) -> str:
    # What the model is for stands beside its shape, where it is known.
    spec = {} if model.task is None else dict(model.task.spec)
    return to_text(ConfigRecord.of(model.config, spec), indent=2) + "\n"
