"""Alike: which variables no question can tell apart by swapping them.

Takes  a causal model.
Gives  for each variable and token of the answer a fingerprint: what that token becomes when the variable takes its
       value from another question, on many pairs. Variables of one fingerprint are alike there.
Never  asks a method: whoever is scored does not decide what counts as the same.

Fingerprints are those of the causal model: a swapped borrow that turns the sign turns the digits with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.swaps import answer_tokens

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
    theirs, found = model.run(source), {}
    for variable in model.variables:
        tokens = answer_tokens(base, model.answers(base, do=theirs.pick(variable)))
        found[variable] = tuple(column.tobytes() for column in tokens.T)
    return found


def are_alike(model: CausalModel, one: Variable, other: Variable, token: int | None) -> bool:
    """Whether no question tells the two apart, at one token or, where none is named, at all."""
    prints = fingerprints(model)
    if one not in prints or other not in prints:
        return one == other
    return prints[one] == prints[other] if token is None else prints[one][token] == prints[other][token]


def _pairs(model: CausalModel) -> tuple[Questions, Questions]:
    stream = Stream(StreamKind.ENRICHED, model.operation, model.digits, seed=0)
    base, other = stream.take(0, 2 * _PAIRS), stream.take(2 * _PAIRS, 2 * _PAIRS)
    random = np.random.default_rng(0)
    keep = np.zeros(base.first.shape, dtype=np.bool_)
    keep[_PAIRS:] = True
    keep[np.arange(_PAIRS, 2 * _PAIRS), random.integers(0, model.digits, _PAIRS)] = False
    minus = np.where(np.arange(2 * _PAIRS) < _PAIRS, other.minus, base.minus)
    first, second = (
        np.where(keep, ours, drawn) for ours, drawn in ((base.first, other.first), (base.second, other.second))
    )
    return base, Questions(first, second, minus)
