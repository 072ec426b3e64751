"""What a planted model computes, as a causal model: the paper's, the same with binary carries, or a hostile one.

Takes  an operation and a number of digits, or a description.
Gives  the causal model whose counterfactuals the planted nodes must show.
Never  says where anything is computed.
"""

from __future__ import annotations

from functools import cache

from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.planted.description import CircuitDescription, Method
from carrylens.arithmetic.planted.hostile import Hostile
from carrylens.arithmetic.planted.hostile_algorithm import hostile_algorithm
from carrylens.arithmetic.questions import Operation

TRI_STATE, BINARY = ("ST", "MB", "NB"), ("SC", "S9", "MC", "NC")
"""What a column says about its carry, held in one value or in two."""

DIGITS, RESOLVED = ("SA", "MD", "ND"), ("SV", "MV", "NV")
"""The digit of a column before any carry, and the carry out of it."""


@cache
def causal_model(operation: Operation, digits: int, binary: bool = False, hostile: Hostile | None = None) -> Algorithm:
    """The left-to-right algorithm, with tri-state or with binary carries, and with what hostile dials make of it."""
    model = (rivals.binary_carries if binary else algorithm)(operation, digits)
    return hostile_algorithm(model, hostile) if hostile else model


def model_of(description: CircuitDescription) -> Algorithm:
    """The causal model that a description states."""
    if description.method is Method.ONE_LAYER:
        return rivals.one_layer(description.digits)
    if description.method is Method.RIGHT_TO_LEFT:
        return rivals.ripple(description.operation, description.digits)
    binary = any(role.variable.name in BINARY for role in description.roles)
    return causal_model(description.operation, description.digits, binary, description.hostile)


def uses_binary_carry(model: Algorithm) -> bool:
    """Whether the carries of columns are binary."""
    return not any(variable.name in ("ST", "MB") for variable in model.by_variable)
