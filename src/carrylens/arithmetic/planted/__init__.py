"""Planted circuits: models whose weights were computed, so that what they do, and where, is known.

Takes  a circuit description.
Gives  an ordinary model that carries it out, and the truth about it.
Never  guesses, and never trains.
"""

from carrylens.arithmetic.planted.comparison import compare
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import load_truth, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.known_models import permuted_twin

__all__ = [
    "CircuitDescription",
    "Dials",
    "PlantedRole",
    "Truth",
    "compare",
    "describe",
    "load_truth",
    "permuted_twin",
    "plant",
]
