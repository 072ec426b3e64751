"""Populations: questions of a kind, the i-th one of a seed the same however they are drawn.

Takes  a kind, an operation, a number of digits, a seed and a range of indices.
Gives  any range of the population's questions.
Never  depends on the size of a batch, or on what was drawn before.

The kinds:
- natural: every digit uniform.
- enriched: ours. Two numbers are drawn that are alike in some way, for a subtraction; for an addition the second one is
  then replaced by its nines' complement, which turns equal columns into columns that sum to 9 and borrows into carries.
  So one mechanism serves both, and long cascades stay common at every width. See ENRICHED for the shares.
- paper: the published generator. Batches of 64 have one operation each; 40% of them are enriched. An enriched batch of
  additions has 40% of all its columns made to sum to 9, in one operand chosen per batch. One in a hundred enriched
  batches of subtractions has equal operands, the others have every digit of D' below 9 raised by one.
- structured: few distinct digits, repeated digits, operands that are alike, powers of ten, runs of 9 and 0, in equal
  parts, or one of these alone; `structures.py` says what each is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.operands import digit_pairs, nearby
from carrylens.arithmetic.questions import Operation, Questions, check_digits, check_operation
from carrylens.arithmetic.structures import Structure, n_draws, structured_operands, without_overflow
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import Draws, below, chance, check_range, draw


class PopulationKind(Enum):
    """How the questions of a population are drawn."""

    NATURAL = "natural"
    PAPER = "paper"
    ENRICHED = "enriched"
    STRUCTURED = "structured"


ENRICHED = {"natural": 0.40, "columns": 0.49, "equal": 0.02, "one column": 0.06, "near": 0.03}
"""Shares of the enriched kind: uniform digits; each column alike with a chance p, p itself drawn from U(0,1) for each
question; alike in all columns; in all but one, anywhere; two numbers that differ by 1 to 9."""

PAPER_BATCH = 64
_PAPER_ENRICHED, _PAPER_NINES, _PAPER_EQUAL = 0.40, 0.40, 0.01


@dataclass(frozen=True)
class Population:
    """Questions of one kind, to be drawn with any seed. `minus_share` is the share of subtractions of a mixed one.

    `small`: no sum has more digits than its operands, as every top digit is halved, or, in structured questions, as
    operands that start with 5 or more lose their last digit. `structure`: of the structured kind only this one.

    >>> population = Population(PopulationKind.ENRICHED, Operation.ADD, digits=6)
    >>> population.draw(1, 1000, 3) == population.draw(1, 0, 1010)[1000:1003]
    True
    """

    kind: PopulationKind
    operation: Operation
    digits: int
    minus_share: float | None = None
    small: bool = False
    structure: Structure | None = None

    def __post_init__(self) -> None:
        check_digits(self.digits)
        check_operation(self.operation)
        if not isinstance(self.kind, PopulationKind):
            choices = ", ".join(f"PopulationKind.{choice.name}" for choice in PopulationKind)
            raise CarryLensError(f"{self.kind!r} is not a kind of population. Give {choices}.")
        if self.minus_share is not None and not (self.operation is Operation.MIX and 0 <= self.minus_share <= 1):
            raise CarryLensError(
                f"A share of {self.minus_share} subtractions does not fit {self.operation.value!r}. "
                "Write a share from 0 to 1, and only for mix."
            )
        if self.structure is not None and self.kind is not PopulationKind.STRUCTURED:
            raise CarryLensError(
                f"{self.kind.value} questions have no structure. Leave it out, or make them structured."
            )

    def draw(self, seed: int, start: int, count: int) -> Questions:
        """Questions `start` to `start + count - 1` of the population drawn with this seed."""
        check_range(self.key(seed), start, count)
        make = {
            PopulationKind.NATURAL: _natural,
            PopulationKind.PAPER: _paper,
            PopulationKind.ENRICHED: _enriched,
            PopulationKind.STRUCTURED: _structured,
        }
        drawn = make[self.kind](self, seed, start, count)
        if not self.small or self.kind is PopulationKind.STRUCTURED:
            return drawn
        halved = np.array([*[1] * (self.digits - 1), 2], dtype=np.int8)
        return Questions(drawn.first // halved, drawn.second // halved, drawn.minus)

    def key(self, seed: int) -> tuple[int, ...]:
        """What the draws depend on; the share of subtractions only decides what is made of them."""
        one = () if self.structure is None else (list(Structure).index(self.structure),)
        return (seed, list(PopulationKind).index(self.kind), list(Operation).index(self.operation), self.digits, *one)

    def minus(self, draws: Draws) -> NDArray[np.bool_]:
        """Which questions, or batches, subtract: one draw each."""
        default = 0.66 if self.kind is PopulationKind.PAPER else 0.5
        mixed = default if self.minus_share is None else self.minus_share
        share = {Operation.ADD: 0.0, Operation.SUB: 1.0, Operation.MIX: mixed}[self.operation]
        return chance(draws, share)


def _natural(population: Population, seed: int, start: int, count: int) -> Questions:
    draws = draw(population.key(seed), start, count, 1 + population.digits)
    first, second = digit_pairs(draws[:, 1:])
    return Questions(first, second, population.minus(draws[:, 0]))


def _enriched(population: Population, seed: int, start: int, count: int) -> Questions:
    n = population.digits
    draws = draw(population.key(seed), start, count, 6 + 2 * n)
    minus, kind = population.minus(draws[:, 0]), _kinds(draws[:, 1])
    first, second = digit_pairs(draws[:, 6 : 6 + n])
    step = 1 + below(draws[:, 4], 9).astype(np.int8)
    with_chance_p = draws[:, 6 + n :] < draws[:, 2:3]  # p is drawn once per question
    odd_one = np.arange(n) == below(draws[:, 3], n)[:, None]
    alternatives = {
        "columns": np.where(with_chance_p, first, second),
        "equal": first,
        "one column": np.where(odd_one, (first + step[:, None]) % np.int8(10), first),
        "near": nearby(first, step, chance(draws[:, 3], 0.5)),
    }
    for name, alternative in alternatives.items():
        second = np.where((kind == name)[:, None], alternative, second)
    exchanged = chance(draws[:, 5], 0.5)[:, None]  # which of the two operands was the one changed
    first, second = np.where(exchanged, second, first), np.where(exchanged, first, second)
    return Questions(first, np.where(minus[:, None], second, np.int8(9) - second), minus)


def _kinds(draws: Draws) -> NDArray[np.str_]:
    bounds = np.cumsum(list(ENRICHED.values()))[:-1] * 2.0**32
    return np.array(list(ENRICHED))[np.searchsorted(bounds, draws, side="right")]


def _structured(population: Population, seed: int, start: int, count: int) -> Questions:
    draws = draw(population.key(seed), start, count, 1 + n_draws(population.digits))
    mixed = list(Structure) if population.structure is None else [population.structure]
    operands = structured_operands(draws[:, 1:], population.digits, mixed)
    first, second = without_overflow(operands) if population.small else operands
    return Questions(first, second, population.minus(draws[:, 0]))


def _paper(population: Population, seed: int, start: int, count: int) -> Questions:
    n, cells = population.digits, PAPER_BATCH * population.digits
    batch = start // PAPER_BATCH
    n_batches = -(-(start + count) // PAPER_BATCH) - batch
    draws = draw(population.key(seed), batch, n_batches, 4 + 2 * cells)
    minus, enriched = population.minus(draws[:, 0])[:, None], chance(draws[:, 1], _PAPER_ENRICHED)[:, None]
    first, second = digit_pairs(draws[:, 4 : 4 + cells])
    nines = enriched & ~minus & _smallest(draws[:, 4 + cells :], int(_PAPER_NINES * cells))
    changes_first = chance(draws[:, 2], 0.5)[:, None]
    equal = enriched & minus & chance(draws[:, 3], _PAPER_EQUAL)[:, None]
    raised = enriched & minus & ~equal & (second < 9)
    new_first = np.where(nines & changes_first, np.int8(9) - second, first)
    new_second = np.where(nines & ~changes_first, np.int8(9) - first, second + raised)
    new_second = np.where(equal, first, new_second)
    rows = slice(start - batch * PAPER_BATCH, start - batch * PAPER_BATCH + count)
    return Questions(
        new_first.reshape(-1, n)[rows], new_second.reshape(-1, n)[rows], np.repeat(minus[:, 0], PAPER_BATCH)[rows]
    )


def _smallest(draws: Draws, count: int) -> NDArray[np.bool_]:
    # Exactly `count` random cells of each row: those with the smallest draws, ties broken by place.
    if not count:
        return np.zeros(draws.shape, dtype=np.bool_)
    ranks = draws.astype(np.uint64) << np.uint64(16) | np.arange(draws.shape[1], dtype=np.uint64)
    return ranks <= np.partition(ranks, count - 1, axis=1)[:, count - 1 : count]
