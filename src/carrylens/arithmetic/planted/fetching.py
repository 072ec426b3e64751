"""Fetching: heads that bring a column's digits or one token to where they are needed, and how to read those.

Takes  a sketch, a role, a `Wiring`.
Gives  the sketch with the role's heads in it; what they bring as a number, and a variable's value for each such number.
Never  makes anything of it: tables in `circuit.py` do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.directions import brought, minus_seen, present
from carrylens.arithmetic.planted.sketch import DIGIT, MINUS, ONE, HeadSketch, Sketch, add, pos, times
from carrylens.arithmetic.planted.wiring import Wiring
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, D
from carrylens.nodes import Node
from carrylens.tasks.batches import Column
from carrylens.tasks.variables import Variable

SHARP = 25.0
"""How much a head prefers what it looks for."""

_SUMS, _PAIRS, _DIFFERENCES = range(19), range(100), range(-9, 10)


def fetch(sketch: Sketch, wiring: Wiring, role: PlantedRole) -> None:
    """Let the role's heads fetch its column."""
    k, digits = role.variable.index or 0, wiring.digits
    code = code_of(role, wiring)
    for order, node in enumerate(role.heads):
        head = fetching_head(sketch, node, digits)
        if len(role.heads) == 2:
            wanted = {f"column {k}": 2 * SHARP, "first": SHARP if order == 0 else -SHARP}
        else:
            wanted = {f"column {k}": SHARP, "first": math.log(10) / 2 if code is _PAIRS else 0.0}
        head.ask(node.position, wanted)
        head.move(DIGIT, brought(node))
        head.move(ONE, present(node))


def fetch_token(sketch: Sketch, node: Node, variable: Variable, digits: int) -> None:
    """Let a head fetch the operator or the sign."""
    head = fetching_head(sketch, node, digits)
    head.ask(node.position, {str(variable): SHARP})
    head.move(MINUS, minus_seen(node))


def code_of(role: PlantedRole, wiring: Wiring) -> range:
    """What the role's heads bring: a sum or a difference where all their roles need no more, else both digits."""
    same = [other for other in wiring.description.roles if set(other.heads) & set(role.heads)]
    adds = {other.variable.name[0] == "S" for other in (*same, role)}
    if len(role.heads) == 2 and adds == {False}:
        return _DIFFERENCES
    return _SUMS if adds == {True} else _PAIRS


def level(role: PlantedRole, code: range) -> tuple[dict[str, float], dict[str, float]]:
    """How to read what the heads brought as a whole number, and as 1 if it is there."""
    read, there = [brought(node) for node in role.heads], [present(node) for node in role.heads]
    if len(read) == 1:
        return {read[0]: float(len(code) - 1)}, {there[0]: 1.0}
    one = dict.fromkeys(there, 0.5)
    if code is _DIFFERENCES:
        return add({read[0]: 9.0, read[1]: -9.0}, times(9.0, one)), one
    return {read[0]: 9.0 if code is _SUMS else 90.0, read[1]: 9.0}, one


def column_values(variable: Variable, code: range, model: Algorithm) -> tuple[list[int], list[bool]]:
    """The variable's value, and whether the two digits are equal, for every number that heads can bring."""
    numbers = np.array(code, dtype=np.int8)
    if code is _PAIRS:
        d, e = numbers // 10, numbers % 10
    elif code is _SUMS:
        d = np.minimum(numbers, 9)
        e = numbers - d
    else:
        d = np.maximum(numbers, 0)
        e = d - numbers
    values = _worked_out(variable, {"D": d, "D'": e}, model)
    return [int(value) for value in np.asarray(values)], [bool(equal) for equal in d == e]


def _worked_out(variable: Variable, digits: Mapping[str, Column], model: Algorithm) -> ArrayLike:
    if variable.name in digits:
        return digits[variable.name]
    mechanism = model.by_variable[variable]
    return mechanism.rule(*(np.asarray(_worked_out(parent, digits, model)) for parent in mechanism.parents))


def fetching_head(sketch: Sketch, node: Node, digits: int) -> HeadSketch:
    """The head of a node, with keys for every column, the operator and the sign."""
    assert node.head is not None
    head = sketch.head(node.layer, node.head)
    for k in range(digits):
        for family, sign in ((D, 1.0), (D_PRIME, -1.0)):
            place = pos(position_of(family[k], digits))
            head.show(place, f"column {k}")
            head.show(place, "first", sign)
    for variable in (OPR, SGN):
        head.show(pos(position_of(variable, digits)), str(variable))
    return head
