"""Agreeing sources: questions that agree with a base in some variables, and differ in all else.

Takes  a causal model, labels, bases.
Gives  for each label a source for every base; how free the sources are.
Never  lets a question be its own source where another one agrees.

1. Some other question is taken whole if it agrees; then, column by column, digits of others are taken over wherever the
   agreement stands. So a source differs in all that its label leaves free.
2. The operator, in mixed models, is a variable like any other: half of a site's sources are to have the other one, and
   have it wherever such a question agrees in the label. What must agree is what the base's operation reads: SA, ST, SV
   where it adds, MD to NV where it subtracts, SGN, A and the operands' digits in both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import SiteLabel
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.tasks.variables import Variable

_TRIES = 6
_SWEEPS = 2
_TURNED = 0.5  # of a site's sources are to have the other operator


def agreeing_sources(
    model: Algorithm, labels: Sequence[SiteLabel], base: Questions, seed: int, turn: Sequence[bool] = ()
) -> list[Questions]:
    """For each label questions with the base's values of it, different in all else.

    The operator is the base's, but for the labels that `turn` names: there half of the questions have the other one,
    wherever one with it agrees.
    """
    n, random = len(base), np.random.default_rng([seed, 41])
    rows = np.tile(np.arange(n), len(labels))
    wanted = _Agreement(model, labels, base)
    first, second = np.array(base.first[rows]), np.array(base.second[rows])
    turned = np.repeat(np.array(turn or [False] * len(labels)), n) & (random.random(len(rows)) < _TURNED)
    minus = base.minus[rows] ^ turned
    fresh = np.zeros(len(rows), dtype=np.bool_)
    populations = [Population(PopulationKind.ENRICHED, op, base.digits) for op in (Operation.ADD, Operation.SUB)]

    def drawn(at: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        add, sub = (population.draw(seed, at * n, n) for population in populations)
        pick = np.stack([random.permutation(n) for _ in labels]).ravel()
        sides = ((add.first, sub.first), (add.second, sub.second))
        one, other = (np.where(minus[:, None], away[pick], home[pick]) for home, away in sides)
        return one, other

    for at in range(_TRIES):
        one, other = drawn(at)
        good = ~fresh & wanted.met(Questions(one, other, minus))
        first[good], second[good] = one[good], other[good]
        fresh |= good
    minus = np.where(wanted.met(Questions(first, second, minus)), minus, base.minus[rows])
    for at in range(_SWEEPS):
        one, other = drawn(_TRIES + at)
        for column in random.permutation(base.digits):
            tried = np.array(first), np.array(second)
            tried[0][:, column], tried[1][:, column] = one[:, column], other[:, column]
            good = wanted.met(Questions(*tried, minus))
            first[good], second[good] = tried[0][good], tried[1][good]
    parts = [slice(i * n, (i + 1) * n) for i in range(len(labels))]
    return [Questions(first[part], second[part], minus[part]) for part in parts]


class _Agreement:
    """Whether questions agree with a base in labels, label after label."""

    def __init__(self, model: Algorithm, labels: Sequence[SiteLabel], base: Questions) -> None:
        self._model, self._labels, self._minus = model, labels, base.minus
        self._needed = tuple(dict.fromkeys(variable for label in labels for variable in label))
        self._values = model.run(base, read=self._needed) if self._needed else None
        adds, subs = (set(algorithm(op, base.digits).by_variable) for op in (Operation.ADD, Operation.SUB))
        self._silent = (subs - adds, adds - subs)

    def met(self, questions: Questions) -> NDArray[np.bool_]:
        """Which rows agree; a variable of the other operation is not read, so it need not."""
        n = len(self._minus)
        found = np.ones(len(questions), dtype=np.bool_)
        if self._values is None:
            return found
        values = self._model.run(questions, read=self._needed)
        for at, label in enumerate(self._labels):
            rows = slice(at * n, (at + 1) * n)
            for variable in label:
                same = values[variable][rows] == self._values[variable]
                found[rows] &= same | self._unread(variable)
        return found

    def _unread(self, variable: Variable) -> NDArray[np.bool_]:
        on_plus, on_minus = (variable in silent for silent in self._silent)
        return np.where(self._minus, on_minus, on_plus)


def freedom(base: Questions, sources: Sequence[Questions]) -> float:
    """The share of the operands' digits in which the sources differ from the base."""
    return float(np.mean([[s.first != base.first, s.second != base.second] for s in sources]))
