"""What a planted model computes, as a causal model: the paper's, the same with binary carries, or a hostile one.

Takes  an operation and a number of digits, or a description.
Gives  the causal model whose counterfactuals the planted nodes must show.
Never  says where anything is computed.

With binary carries a column says two binary things instead of one of three values: SC and S9 for an addition, MC and
NC (D<D' and D'<D) for a subtraction. Resolving is as before: a column that passes on takes what comes from below.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithm_model import Algorithm, state_algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.planted.description import CircuitDescription, Method
from carrylens.arithmetic.planted.hostile import Hostile
from carrylens.arithmetic.planted.hostile_algorithm import hostile_algorithm
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.subtasks import same, sums_to_nine
from carrylens.arithmetic.variables import D_PRIME, MC, MV, NC, NV, S9, SC, SV, D
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism

TRI_STATE, BINARY = ("ST", "MB", "NB"), ("SC", "S9", "MC", "NC")
"""What a column says about its carry, held in one value or in two."""

DIGITS, RESOLVED = ("SA", "MD", "ND"), ("SV", "MV", "NV")
"""The digit of a column before any carry, and the carry out of it."""


@cache
def causal_model(operation: Operation, digits: int, binary: bool = False, hostile: Hostile | None = None) -> Algorithm:
    """The left-to-right algorithm, with tri-state or with binary carries, and with what hostile dials make of it."""
    model = algorithm(operation, digits)
    if binary:
        model = state_algorithm(f"{model.name} with binary carries", operation, digits, _binary(model))
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


def carry_or_pass(carry: Column, nine: Column, below: Column) -> Column:
    """SV of binary carries: what comes from below where the column sums to 9, else its own carry."""
    return np.where(nine == 1, below, carry)


def borrow_or_pass(borrow: Column, other: Column, below: Column) -> Column:
    """MV of (MC, NC), NV of (NC, MC): what comes from below where neither digit is the smaller one."""
    return np.where((borrow == 0) & (other == 0), below, borrow)


def _binary(model: Algorithm) -> Iterator[Mechanism]:
    # Columns first, because MV is made of NC too.
    resolved = [mechanism for mechanism in model.mechanisms if mechanism.variable.name in RESOLVED]
    answers = [mechanism for mechanism in model.mechanisms if mechanism.variable in model.outputs]
    for mechanism in model.mechanisms:
        if mechanism not in resolved and mechanism not in answers and mechanism.variable.name not in TRI_STATE:
            yield mechanism
        if mechanism.variable.name == "SC" and (k := mechanism.variable.index):
            yield Mechanism(S9[k], (D[k], D_PRIME[k]), sums_to_nine)
    for mechanism in resolved:
        name, digit = mechanism.variable.name, mechanism.variable.index or 0
        own, other, family = {"SV": (SC, S9, SV), "MV": (MC, NC, MV), "NV": (NC, MC, NV)}[name]
        rule = carry_or_pass if name == "SV" else borrow_or_pass
        parents = (own[digit], other[digit], family[digit - 1]) if digit else (own[0],)
        yield Mechanism(family[digit], parents, rule if digit else same)
    yield from answers
