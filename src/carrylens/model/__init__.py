"""Model: the transformer, and every way in and out of it.

Takes  a config and token ids, or a folder, a Hub repository, a TransformerLens model, a file that someone else saved.
Gives  logits, activations, and the model on disk or in TransformerLens.
Never  trains.
"""

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
