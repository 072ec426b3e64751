"""Planted circuits: models whose weights were computed, so that what they do, and where, is known.

Takes  a circuit description.
Gives  an ordinary model that carries it out, and the truth about it.
Never  guesses, and never trains.
"""

from carrylens.planted.compare import compare
from carrylens.planted.description import CircuitDescription, Role
from carrylens.planted.dials import Dials, describe
from carrylens.planted.plant import load_truth, permuted_twin, plant
from carrylens.planted.truth import Truth

__all__ = [
    "CircuitDescription",
    "Dials",
    "Role",
    "Truth",
    "compare",
    "describe",
    "load_truth",
    "permuted_twin",
    "plant",
]
