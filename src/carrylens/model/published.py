"""Published: models as the paper's authors publish them.

Takes  a folder with `model.pth` and, where there are any, `training_loss.json`, `behaviors.json` and `features.json`;
       or `hf:owner/repo`, a repository on the Hugging Face Hub that holds the same files.
Gives  `PublishedModel`: our transformer with their weights, and what they wrote down beside it.
Never  runs what a file holds: only plain tensors are read from a pickle, and anything else refuses the file. Never
       takes weights that are of another shape than the one written down beside them.
"""

import json
import pickle
import re
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig
from carrylens.model.hub import HUB, Download, download_snapshot, fetch_repo
from carrylens.model.transformer import Transformer
from carrylens.model.weights import infer_config, model_from_weights, without_masks

WEIGHTS = "model.pth"
LOSSES = "training_loss.json"
BEHAVIORS = "behaviors.json"
FEATURES = "features.json"


@dataclass(frozen=True)
class TaggedNode:
    """A node with the published tool's tags on it, such as `Impact:A765`; `num` is the head where `is_head`."""

    position: int
    layer: int
    is_head: bool
    num: int
    tags: tuple[str, ...]


@dataclass(frozen=True)
class PublishedModel:
    """A published model; what its folder did not hold is empty."""

    model: Transformer
    training_config: Mapping[str, Any]
    losses: tuple[float, ...]
    behaviors: tuple[TaggedNode, ...]
    features: tuple[TaggedNode, ...]


def load_published(source: str | Path, download: Download = download_snapshot) -> PublishedModel:
    """The model in a local folder, or in a Hub repository written `hf:owner/repo`, which `download` fetches."""
    if str(source).startswith(HUB):
        folder = fetch_repo(str(source), (WEIGHTS, LOSSES, BEHAVIORS, FEATURES), download)
    else:
        folder = Path(source)
    training_config, losses = _read_training(folder / LOSSES)
    state = read_state(folder / WEIGHTS)
    config = infer_config(state, seed=_seed(training_config), source=str(folder / WEIGHTS))
    _check_agrees(training_config, config, folder)
    return PublishedModel(
        model_from_weights(config, state, str(folder / WEIGHTS)),
        training_config,
        losses,
        _read_nodes(folder / BEHAVIORS),
        _read_nodes(folder / FEATURES),
    )


def read_state(path: str | Path) -> dict[str, Tensor]:
    """The weights in a `.pth` file, which must be a plain dictionary of tensors."""
    try:
        _check_sums(path)
        with warnings.catch_warnings(action="ignore"):  # PyTorch remarks on files that are then refused
            state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CarryLensError(_refusal(path, str(error))) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{path} cannot be read ({reason}). Give a folder with {WEIGHTS}.") from error
    except Exception as error:  # a damaged file can trip the reader anywhere
        raise CarryLensError(f"{path} is damaged or no PyTorch file. Fetch it again.") from error
    if not isinstance(state, dict) or not all(_is_weight(name, value) for name, value in state.items()):
        raise CarryLensError(f"{path} is not a dictionary of tensors. Give a state dict saved with torch.save.")
    return without_masks(state)


def _check_sums(path: str | Path) -> None:
    # PyTorch does not look at the check sums of its own files, so a flipped bit would go unseen.
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if archive.testzip() is not None:
                raise zipfile.BadZipFile


def _is_weight(name: object, value: object) -> bool:
    return isinstance(name, str) and isinstance(value, Tensor) and value.layout is torch.strided


def _refusal(path: str | Path, reason: str) -> str:
    named = re.search(r"GLOBAL ([\w.]+)", reason)
    what = f"code ({named[1]})" if named else "something else than tensors"
    return f"{path} holds {what}, so it was refused and nothing in it was run. Give a plain state dict of tensors."


def _seed(training_config: Mapping[str, Any]) -> int:
    seed = training_config.get("training_seed", 0)
    return seed if type(seed) is int and seed >= 0 else 0


def _check_agrees(training_config: Mapping[str, Any], config: ModelConfig, folder: Path) -> None:
    # The shape is read off the weights; what is written beside them must be the same, where it is written at all.
    shape: dict[str, float] = {
        name: getattr(config, name)
        for name in ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "d_vocab", "n_ctx")
    }
    shape |= {"n_digits": config.digits, "d_mlp_multiplier": config.d_mlp / config.d_model}
    for name, value in shape.items():
        if name in training_config and training_config[name] != value:
            raise CarryLensError(
                f"{folder / LOSSES} says {name} is {training_config[name]!r}, but the weights in {folder / WEIGHTS} "
                f"have {value:g}. Fetch both again, of one model."
            )


def _read_training(path: Path) -> tuple[Mapping[str, Any], tuple[float, ...]]:
    if not path.exists():
        return {}, ()
    try:
        given = _read_json(path)
        config, losses = dict(given["Config"]), tuple(float(loss) for loss in given["TrainingLoss"])
    except (KeyError, TypeError, ValueError) as error:
        raise CarryLensError(f'{path} is not {{"Config": {{...}}, "TrainingLoss": [...]}}. Fetch it again.') from error
    if (act_fn := config.get("act_fn", "relu")) != "relu":
        raise CarryLensError(f"{path} says act_fn is {act_fn!r}. Only models with relu can be read.")
    return config, losses


def _read_nodes(path: Path) -> tuple[TaggedNode, ...]:
    if not path.exists():
        return ()
    try:
        return tuple(_tagged_node(**entry) for entry in _read_json(path))
    except (KeyError, TypeError, ValueError) as error:
        raise CarryLensError(f"{path} is not a list of nodes with position, layer, is_head, num and tags.") from error


def _tagged_node(position: int, layer: int, is_head: bool, num: int, tags: list[str]) -> TaggedNode:
    return TaggedNode(int(position), int(layer), bool(is_head), int(num), tuple(str(tag) for tag in tags))


def _read_json(path: Path) -> Any:
    return json.loads(path.read_bytes())
