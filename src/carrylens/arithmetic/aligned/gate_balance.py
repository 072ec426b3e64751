"""Gate balance: as many questions behind a gate as before it, so that a route that few questions take is learnt, too.

Takes  a population, and a gate that asks whether one digit of the first operand is below a limit.
Gives  the population with that digit drawn anew: on one side of the limit in half of the questions.
Never  changes anything else of a question, or depends on what was drawn before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.mixtures import Below, G
from carrylens.arithmetic.populations import Population
from carrylens.arithmetic.questions import Questions
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.draws import below, chance, draw

_SEED = 0x6A7E  # draws of gates are other than those of questions
_RARE = 2
"""A gate that is open at so few digits, or fewer, is balanced."""


@dataclass(frozen=True)
class GateBalanced:
    """A population in which digit `index` of the first operand is below `limit` in half of the questions."""

    population: Population
    index: int
    limit: int

    def draw(self, seed: int, start: int, count: int) -> Questions:
        """Questions `start` to `start + count - 1` of the population drawn with this seed."""
        drawn, draws = self.population.draw(seed, start, count), draw((seed, _SEED), start, count, 2)
        is_open = chance(draws[:, 0], 0.5)
        digit = np.where(is_open, below(draws[:, 1], self.limit), self.limit + below(draws[:, 1], 10 - self.limit))
        first = drawn.first.copy()
        first[:, self.index] = digit
        return Questions(first, drawn.second, drawn.minus)


def training_population(population: Population, model: CausalModel) -> Population | GateBalanced:
    """What a model is trained on to run `model`: balanced, if it has a gate that few questions pass."""
    mechanism = model.by_variable.get(G.variable) if isinstance(model, Algorithm) else None
    if mechanism is None or not isinstance(mechanism.rule, Below) or mechanism.rule.limit > _RARE:
        return population
    (digit,) = mechanism.parents
    return GateBalanced(population, digit.index or 0, mechanism.rule.limit)
