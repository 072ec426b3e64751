"""Telling rivals apart: which questions two algorithms answer differently, untouched or with a value swapped.

Takes  two causal models for the same questions.
Gives  `Telling`: the share of questions on which their answers differ, the share of pairs on which their interchange
       predictions differ, with an example of each.
Never  asks a network.

An interchange: the carry that one column says by itself is taken from another question. In the left-to-right account
that is ST (or MB); in a rival it is the first value that it makes from that column alone and that other columns read. A
rival that makes none predicts nothing about such a swap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Answers
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import D_PRIME, D
from carrylens.errors import CarryLensError
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.pairs import effect_pairs
from carrylens.tasks.variables import Variable

_QUESTIONS = 10_000
_PAIRS = 256


@dataclass(frozen=True)
class Telling:
    """Shares from 0 to 1, None where one of the two predicts nothing. An example is one line, or empty."""

    natural: float
    enriched: float
    example: str
    swapped: str
    interchange: float | None
    interchange_example: str


def telling_questions(ours: CausalModel, theirs: CausalModel) -> Telling:
    """What tells two algorithms apart.

    >>> from carrylens.arithmetic import Operation, algorithm, rivals
    >>> told = telling_questions(algorithm(Operation.ADD, 3), rivals.one_layer(3))
    >>> told.example
    '827+276= is +1103 by left-to-right add, +1003 by one-layer add'
    >>> told.natural < told.enriched
    True
    """
    shares: dict[StreamKind, float] = {}
    example = ""
    for kind in (StreamKind.NATURAL, StreamKind.ENRICHED):
        questions = Stream(kind, ours.operation, ours.digits, seed=0).take(0, _QUESTIONS)
        one, other = ours.answers(questions), theirs.answers(questions)
        differ = _differ(one, other)
        shares[kind] = float(differ.mean())
        if differ.any() and not example:
            at = int(np.argmax(differ))
            said = f"{_text(one, at)} by {ours.name}, {_text(other, at)} by {theirs.name}"
            example = f"{questions.text()[at]} is {said}"
    swapped, share, pair = _interchange(ours, theirs)
    return Telling(shares[StreamKind.NATURAL], shares[StreamKind.ENRICHED], example, swapped, share, pair)


def _interchange(ours: CausalModel, theirs: CausalModel) -> tuple[str, float | None, str]:
    variable = _column_carry(ours, ours.digits // 2) or _column_carry(ours, 0)
    if variable is None or variable.index is None:
        return "", None, ""
    try:
        pairs = effect_pairs(ours, variable, _PAIRS, seed=0)
    except CarryLensError:  # an algorithm of the user's whose answers never show it
        return "", None, ""
    other = _column_carry(theirs, variable.index)
    if other is None:
        return f"{variable}, for which {theirs.name} has nothing,", None, ""
    swapped = f"{variable} or {other}"
    given = theirs.answers(pairs.base, do=theirs.run(pairs.source, read=[other]).pick(other))
    differ = _differ(pairs.expected, given)
    if not differ.any():
        return swapped, 0.0, ""
    at = int(np.argmax(differ))
    said = f"{_text(pairs.expected, at)} by {ours.name}, {_text(given, at)} by {theirs.name}"
    return swapped, float(differ.mean()), f"{pairs.base.text()[at]} with {pairs.source.text()[at]} put in is {said}"


def _column_carry(model: CausalModel, k: int) -> Variable | None:
    # The first variable made from column k alone that something of a higher column depends on.
    column = {D[k], D_PRIME[k]}
    for variable in model.by_variable:
        reached = model.ancestors(variable) & set(model.inputs)
        if reached == column and any(
            variable in model.ancestors(token) for token in model.outputs if token.digit not in (None, k)
        ):
            return variable
    return None


def _differ(one: Answers, other: Answers) -> NDArray[np.bool_]:
    return (one.negative != other.negative) | (one.digits != other.digits).any(axis=1)


def _text(given: Answers, at: int) -> str:
    return given.text()[at]
