"""Model: the transformer, and every way in and out of it.

Takes  a config and token ids, or a folder, a Hub repository, a TransformerLens model.
Gives  logits, activations, and the model on disk or in TransformerLens.
Never  trains.
"""

from carrylens.model.config import ModelConfig
from carrylens.model.exchange import from_transformer_lens, to_transformer_lens, to_transformer_lens_state
from carrylens.model.folder import load_model, save_model
from carrylens.model.hooks import Cache, HookFunction, HookPoint, NamesFilter
from carrylens.model.published import PublishedModel, TaggedNode, load_published
from carrylens.model.transformer import Transformer

__all__ = [
    "Cache",
    "HookFunction",
    "HookPoint",
    "ModelConfig",
    "NamesFilter",
    "PublishedModel",
    "TaggedNode",
    "Transformer",
    "from_transformer_lens",
    "load_model",
    "load_published",
    "save_model",
    "to_transformer_lens",
    "to_transformer_lens_state",
]
