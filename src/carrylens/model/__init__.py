"""Model: the transformer, and every way in and out of it.

Takes  a config and token ids, or a folder, a Hub repository, a TransformerLens model, a file that someone else saved.
Gives  logits, activations, and the model on disk or in TransformerLens.
Never  trains.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carrylens.model.config import ModelConfig
    from carrylens.model.exchange import from_transformer_lens, to_transformer_lens, to_transformer_lens_state
    from carrylens.model.folder import load_model, save_model
    from carrylens.model.formats import ForeignWeights, load_foreign, read_foreign
    from carrylens.model.hooks import Cache, HookFunction, HookPoint, NamesFilter
    from carrylens.model.published import PublishedModel, TaggedNode, load_published
    from carrylens.model.transformer import Transformer

__all__ = [
    "Cache",
    "ForeignWeights",
    "HookFunction",
    "HookPoint",
    "ModelConfig",
    "NamesFilter",
    "PublishedModel",
    "TaggedNode",
    "Transformer",
    "from_transformer_lens",
    "load_foreign",
    "load_model",
    "load_published",
    "read_foreign",
    "save_model",
    "to_transformer_lens",
    "to_transformer_lens_state",
]

_MODULES = {
    "Cache": "carrylens.model.hooks",
    "ForeignWeights": "carrylens.model.formats",
    "HookFunction": "carrylens.model.hooks",
    "HookPoint": "carrylens.model.hooks",
    "ModelConfig": "carrylens.model.config",
    "NamesFilter": "carrylens.model.hooks",
    "PublishedModel": "carrylens.model.published",
    "TaggedNode": "carrylens.model.published",
    "Transformer": "carrylens.model.transformer",
    "from_transformer_lens": "carrylens.model.exchange",
    "load_foreign": "carrylens.model.formats",
    "load_model": "carrylens.model.folder",
    "load_published": "carrylens.model.published",
    "read_foreign": "carrylens.model.formats",
    "save_model": "carrylens.model.folder",
    "to_transformer_lens": "carrylens.model.exchange",
    "to_transformer_lens_state": "carrylens.model.exchange",
}


def __getattr__(name: str) -> Any:
    # PyTorch is imported with the first name that is asked for: folders and sources are read without it.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
