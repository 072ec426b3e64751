"""Alike: which variables no question can tell apart by swapping them.

Takes  a causal model.
Gives  for each variable and token of the answer a fingerprint: what that token becomes when the variable takes its
       value from another question, on many pairs. Variables of one fingerprint are alike there.
Never  asks a network.

The digits are those of a reader of the base's right answer: see `pairs.written`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.pairs import written
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import Variable

_PAIRS = 2048  # as many unrelated pairs, and as many that differ in one column
Fingerprints = Mapping[Variable, tuple[bytes, ...]]


@cache
def fingerprints(model: CausalModel) -> Fingerprints:
    """For every variable, by token of the answer from the sign on, what swapping it does.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SA, ST, SV, A
    >>> of = fingerprints(algorithm(Operation.ADD, 3))
    >>> of[ST[0]] == of[SV[0]], of[SA[0]] == of[A[0]], of[ST[1]] == of[SV[1]], of[SA[1]] == of[A[1]]
    (True, True, False, False)
    """
    base, source = _pairs(model)
    found = {}
    for variable in model.variables:
        answers = written(model, variable, base, source)
        columns = (answers.negative, *answers.digits.T[::-1])
        found[variable] = tuple(np.ascontiguousarray(column).tobytes() for column in columns)
    return found


def are_alike(model: CausalModel, one: Variable, other: Variable, token: int | None = None) -> bool:
    """Whether no question tells the two apart, at one token or, where none is named, at all."""
    prints = fingerprints(model)
    if one not in prints or other not in prints:
        return one == other
    return prints[one] == prints[other] if token is None else prints[one][token] == prints[other][token]


def _pairs(model: CausalModel) -> tuple[Questions, Questions]:
    stream = Stream(StreamKind.ENRICHED, model.operation, model.digits, seed=0)
    base, other = stream.take(0, 2 * _PAIRS), stream.take(2 * _PAIRS, 2 * _PAIRS)
    keep = np.zeros(base.first.shape, dtype=np.bool_)
    keep[_PAIRS:] = True
    column = np.random.default_rng(0).integers(0, model.digits, _PAIRS)
    keep[np.arange(_PAIRS, 2 * _PAIRS), column] = False
    minus = np.where(np.arange(2 * _PAIRS) < _PAIRS, other.minus, base.minus)
    first, second = np.where(keep, base.first, other.first), np.where(keep, base.second, other.second)
    return base, Questions(first, second, minus)
