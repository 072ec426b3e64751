"""carrylens: small transformers that add and subtract exactly, and the circuit inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError

if TYPE_CHECKING:
    from carrylens.model.transformer import Transformer

__all__ = ["CarryLensError", "__version__", "load"]

__version__ = "0.1.0"


def load(name: str) -> Transformer:
    """The model called `name`: a shipped model, a model folder, or `hf:owner/repository`."""
    from carrylens.arithmetic.zoo import shipped  # PyTorch is imported only once a model is wanted

    return shipped.load(name)
