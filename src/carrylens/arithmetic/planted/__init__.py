"""Planted circuits: models whose weights were computed, so that what they do, and where, is known.

Takes  a circuit description.
Gives  an ordinary model that carries it out, and the truth about it.
Never  guesses, and never trains.
"""

from carrylens.arithmetic.planted.comparison import compare
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.deserved import DeservedVerdict, deserved_verdicts
from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.hostile_suite import HostilePlant, hostile_descriptions
from carrylens.arithmetic.planted.planting import load_truth, plant
from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.known_models import permuted_twin

__all__ = [
    "CircuitDescription",
    "DeservedVerdict",
    "Dials",
    "Hostile",
    "HostilePlant",
    "Memorised",
    "PlantedRole",
    "Truth",
    "compare",
    "describe",
    "deserved_verdicts",
    "hostile_descriptions",
    "load_truth",
    "permuted_twin",
    "plant",
]
