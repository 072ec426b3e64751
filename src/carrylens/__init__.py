"""carrylens: small transformers that add and subtract exactly, and the circuit inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError

if TYPE_CHECKING:
    from pathlib import Path

    from carrylens.model.transformer import Transformer
    from carrylens.workflow.exploring import Explorer

__all__ = ["CarryLensError", "__version__", "explore", "load"]

__version__ = "0.1.0"


def load(name: str) -> Transformer:
    """The model called `name`: a shipped model, a model folder, or `hf:owner/repository`."""
    from carrylens.arithmetic.zoo import shipped  # PyTorch is imported only once a model is wanted

    return shipped.load(name)


def explore(model: str | Path | Transformer, *, half: bool = False) -> Explorer:
    """One page that runs the model: a notebook shows it, `save` writes it to a file that any browser opens."""
    from carrylens.workflow.exploring import explore as explore_model

    return explore_model(model, half=half)
