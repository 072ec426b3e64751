"""carrylens: small transformers that add and subtract exactly, and the circuit inside them."""

from carrylens.errors import CarryLensError

__all__ = ["CarryLensError", "__version__"]

__version__ = "0.1.0"
