"""Triples: matched pairs with a third question, to which the difference between the two is carried over.

Takes  a causal model, one of its variables, a number of triples and a seed.
Gives  effect triples, where the asked question must answer as if the variable had gone from the base's value to the
       source's, and null triples, where base and source agree in the variable and the answer must stay.
Never  hands out a triple whose asked question shares a digit with the base outside the variable's own columns.

A swap puts all that a node holds into another question. A node that carries a variable beside another, such as a
column's difference beside the borrow into it, then moves both. What such a node holds for the source less what it holds
for the base is the variable's part alone, if it has one; a third question, with other values of everything else, tells.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.pairs import own_pairs, written
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.turns import tokens_changed
from carrylens.arithmetic.variables import D_PRIME, SGN, D, Variable
from carrylens.errors import CarryLensError

_PROPOSALS = 64
_SPARE = 4  # pairs drawn for each triple wanted: some have no third question


@dataclass(frozen=True, eq=False)
class Triples:
    """Asked, base and source questions: asked and base agree in all that the variable is computed from."""

    model: CausalModel
    variable: Variable
    asked: Questions
    base: Questions
    source: Questions

    def __len__(self) -> int:
        return len(self.asked)

    def written(self, variable: Variable | None = None) -> Answers:
        """What the asked question must answer once the variable, or another, has the source's value."""
        return written(self.model, variable or self.variable, self.asked, self.source)


def effect_triples(
    model: CausalModel,
    variable: Variable,
    count: int,
    seed: int,
    tell_from: Collection[Variable] = (),
    at: int | None = None,
) -> Triples:
    """Up to `count` triples whose asked question must answer otherwise.

    Of each variable in `tell_from` it has the base's value, and must answer otherwise than if that one were moved: with
    another token `at`, counted from the sign, if that is said.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.variables import SV
    >>> triples = effect_triples(algorithm(Operation.ADD, 4), SV[2], 8, seed=0)
    >>> bool((triples.asked.first[:, :3] == triples.base.first[:, :3]).all())
    True
    >>> bool((triples.asked.first[:, 3] == triples.base.first[:, 3]).any())
    False
    """
    return _effect(model, variable, count, seed, tuple(tell_from), at)


@lru_cache(maxsize=512)
def _effect(
    model: CausalModel, variable: Variable, count: int, seed: int, tell_from: tuple[Variable, ...], at: int | None
) -> Triples:
    signs = [] if model.operation is Operation.ADD else [SGN]
    agree = [sign for sign in signs if variable != sign]
    own = _own_columns(model, variable)
    inside = [other for other in tell_from if not (_own_columns(model, other) & ~own).any()]
    pairs = own_pairs(model, variable, _SPARE * count, seed, agree=agree, tell_from=inside, at=at)
    return _with_asked(model, variable, pairs.base, pairs.source, count, seed, tell_from, at)


@lru_cache(maxsize=512)
def null_triples(model: CausalModel, variable: Variable, count: int, seed: int) -> Triples:
    """Up to `count` triples with the bases of effect triples, whose base and source agree in the variable."""
    base = _effect(model, variable, count, seed, (), None).base
    source = _same_value(model, variable, base, np.random.default_rng([seed, 5]))
    differs = (source.first != base.first).any(1) | (source.second != base.second).any(1)
    return _with_asked(model, variable, base[differs], source[differs], count, seed + 1)


def _with_asked(
    model: CausalModel,
    variable: Variable,
    base: Questions,
    source: Questions,
    count: int,
    seed: int,
    tell_from: tuple[Variable, ...] = (),
    at: int | None = None,
) -> Triples:
    # The first `count` pairs for which a third question is found: every digit differs outside the variable's columns.
    columns = _own_columns(model, variable)
    if columns.all():
        raise CarryLensError(
            f"{variable} is computed from every column, so no third question has other digits. "
            "Choose a variable of fewer columns."
        )
    random = np.random.default_rng([seed, 4])
    rows = np.repeat(np.arange(len(base)), _PROPOSALS)
    repeated = base[rows]
    shift = np.where(columns, 0, random.integers(1, 10, (2, *repeated.first.shape), dtype=np.int8))
    proposed = Questions((repeated.first + shift[0]) % 10, (repeated.second + shift[1]) % 10, repeated.minus)
    good = np.ones(len(rows), dtype=np.bool_)
    before, after = model.run(repeated), model.run(proposed)
    there = model.run(source[rows])
    moved = model.run(proposed, do=there.pick(variable))
    if SGN in model.by_variable:
        good &= (before[SGN] == after[SGN]) & (after[SGN] == moved[SGN])
    for other in tell_from:
        told = tokens_changed(moved.answers(), model.answers(proposed, do=there.pick(other)))
        good &= (before[other] == after[other]) & (told[:, 1:].any(1) if at is None else told[:, at])
    table = good.reshape(len(base), _PROPOSALS)
    kept = np.flatnonzero(table.any(1))[:count]
    return Triples(model, variable, proposed[kept * _PROPOSALS + table.argmax(1)[kept]], base[kept], source[kept])


def _same_value(model: CausalModel, variable: Variable, base: Questions, random: np.random.Generator) -> Questions:
    # For each base the variable's columns drawn anew, the variable as it was; the base itself where nothing was found.
    columns = _own_columns(model, variable)
    repeated = base[np.repeat(np.arange(len(base)), _PROPOSALS)]
    drawn = random.integers(0, 10, (2, *repeated.first.shape), dtype=np.int8)
    first, second = (
        np.where(columns, new, old) for new, old in zip(drawn, (repeated.first, repeated.second), strict=True)
    )
    proposed = Questions(first, second, repeated.minus)
    before, after = model.run(repeated), model.run(proposed)
    good = before[variable] == after[variable]
    if SGN in model.by_variable:
        good &= before[SGN] == after[SGN]
    changed = (first != repeated.first).sum(1) + (second != repeated.second).sum(1)
    score = np.where(good, changed, -1).reshape(len(base), _PROPOSALS)
    best = score.argmax(1)
    found = proposed[np.arange(len(base)) * _PROPOSALS + best]
    has = score.max(1) > 0
    return Questions(
        np.where(has[:, None], found.first, base.first), np.where(has[:, None], found.second, base.second), base.minus
    )


def _own_columns(model: CausalModel, variable: Variable) -> NDArray[np.bool_]:
    reached = model.ancestors(variable) | {variable}
    return np.array([D[k] in reached or D_PRIME[k] in reached for k in range(model.digits)])
