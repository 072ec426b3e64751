"""Published: models as the paper's authors publish them.

Takes  a folder with `model.pth` and, where there are any, `training_loss.json`, `behaviors.json` and `features.json`;
       or `hf:owner/repo`, a repository on the Hugging Face Hub that holds the same files.
Gives  `PublishedModel`: our transformer with their weights, and what they wrote down beside it.
Never  takes weights that are of another shape than the one written down beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from carrylens.errors import CarryLensError
from carrylens.files import read_whole
from carrylens.json_records import Count, Schema
from carrylens.model.config import ModelConfig, first_layout
from carrylens.model.hub import HUB, Download, download_snapshot, fetch_repo
from carrylens.model.tensor_files import read_tensors
from carrylens.model.transformer import Transformer
from carrylens.model.weights import infer_config, model_from_weights, without_masks

WEIGHTS = "model.pth"
LOSSES = "training_loss.json"
BEHAVIORS = "behaviors.json"
FEATURES = "features.json"


@dataclass(frozen=True)
class TaggedNode:
    """A node with the published tool's tags on it, such as `Impact:A765`; `num` is the head where `is_head`."""

    position: Count
    layer: Count
    is_head: bool
    num: Count
    tags: tuple[str, ...]


class _Training(Struct):
    config: dict[str, Any] = field(name="Config")
    losses: tuple[float, ...] = field(name="TrainingLoss")


_TRAINING_SCHEMA = Schema(_Training, "record of a training", "Fetch it again.", others=True)
_NODES_SCHEMA = Schema(tuple[TaggedNode, ...], "list of tagged nodes", "Fetch it again.", others=True)


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
    source = str(folder / WEIGHTS)
    state = without_masks(read_tensors(folder / WEIGHTS, f"a folder with {WEIGHTS}"))
    config = infer_config(state, seed=_seed(training_config), source=source)
    digits, config = _with_layout(config, source)
    _check_agrees(training_config, config, digits, folder)
    return PublishedModel(
        model_from_weights(config, state, source),
        training_config,
        losses,
        _read_nodes(folder / BEHAVIORS),
        _read_nodes(folder / FEATURES),
    )


def published_losses(folder: Path) -> tuple[float, ...]:
    """The loss after each step, as the published tool wrote it down; nothing if it did not."""
    return _read_training(folder / LOSSES)[1]


def _seed(training_config: Mapping[str, Any]) -> int:
    seed = training_config.get("training_seed", 0)
    return seed if type(seed) is int and seed >= 0 else 0


def _with_layout(config: ModelConfig, source: str) -> tuple[int, ModelConfig]:
    # All published models have one layout, whose length says how many digits it is for.
    digits, rest = divmod(config.n_ctx - 4, 3)
    if rest or digits < 1:
        raise CarryLensError(
            f"{source} has {config.n_ctx} positions, which fits no number of digits. "
            "Give a model with 3n + 4 positions."
        )
    return digits, replace(config, reads=first_layout(digits)[1])


def _check_agrees(training_config: Mapping[str, Any], config: ModelConfig, digits: int, folder: Path) -> None:
    # The shape is read off the weights; what is written beside them must be the same, where it is written at all.
    shape: dict[str, float] = {
        name: getattr(config, name)
        for name in ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "d_vocab", "n_ctx")
    }
    shape |= {"n_digits": digits, "d_mlp_multiplier": config.d_mlp / config.d_model}
    for name, value in shape.items():
        if name in training_config and training_config[name] != value:
            raise CarryLensError(
                f"{folder / LOSSES} says {name} is {training_config[name]!r}, but the weights in {folder / WEIGHTS} "
                f"have {value:g}. Fetch both again, of one model."
            )


def _read_training(path: Path) -> tuple[Mapping[str, Any], tuple[float, ...]]:
    if not path.exists():
        return {}, ()
    given = _TRAINING_SCHEMA.decode(read_whole(path), str(path))
    config, losses = given.config, given.losses
    if (act_fn := config.get("act_fn", "relu")) != "relu":
        raise CarryLensError(f"{path} says act_fn is {act_fn!r}. Only models with relu can be read.")
    return config, losses


def _read_nodes(path: Path) -> tuple[TaggedNode, ...]:
    if not path.exists():
        return ()
    return _NODES_SCHEMA.decode(read_whole(path), str(path))
