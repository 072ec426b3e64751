"""Branch pairs: pairs of questions whose branch differs, to test how a mixed model chooses among its three answers.

Takes  a turn, such as from a sum to a difference, digits, a seed.
Gives  `Turns`: a base, sources of the other branch with the same operands and with others, a null source, and the
       digit that the base must become if nothing but the branch is turned.
Never  gives a null source with another digit at the place in question.

The operator is turned by asking the same operands with the other one. The sign follows from the operands: there the
same question is read with the other sign written behind `=`, and the causal model says what the digits become.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.arithmetic.variables import SGN

_CHUNK = 1024
_ROUNDS = 20
_TRIES = 12
_MOST = 6
DigitTokens = NDArray[np.int64]


class Turn(Enum):
    """From one branch to another; the value is what people read."""

    TO_POSITIVE = "add to positive"
    TO_ADD = "positive to add"
    TO_NEGATIVE = "positive to negative"
    FROM_NEGATIVE = "negative to positive"

    @property
    def branches(self) -> tuple[Branch, Branch]:
        """From which, to which."""
        before, _, after = self.value.split()
        return Branch(before), Branch(after)

    @property
    def of_operator(self) -> bool:
        """Whether the operator is turned, rather than the sign."""
        return Branch.ADD in self.branches


@dataclass(frozen=True, eq=False)
class BranchPairs:
    """Base and sources. `same` has the base's operands, with the other operator or, for the sign, the very question;
    `same_read` is the answer it is read with: its right one, or, for the sign, the base's with the other sign.

    `other` is of the other branch with other operands; `null` of the base's branch, with the base's digit at the place
    in question. `before` and `after` are the base's token there, and what the turn must make of it.
    """

    turn: Turn
    digit: int
    base: Questions
    same: Questions
    same_read: Answers
    other: Questions
    null: Questions
    before: DigitTokens
    after: DigitTokens

    def __len__(self) -> int:
        return len(self.base)


def draw_branch_pairs(turn: Turn, digits: int, digit: int, n: int, seed: int) -> BranchPairs:
    """Up to `n` different bases whose digit `digit` the turn must change, to no digit in more than about a sixth.

    Equal digits are common in these questions, so that without it always saying 0 would pass for a difference.
    """
    random = np.random.default_rng([seed, 21])
    population = Population(PopulationKind.ENRICHED, Operation.SUB, digits)
    found: list[NDArray[np.int8]] = []
    seen: set[bytes] = set()
    left = dict.fromkeys(range(10), -(-n // _MOST))
    for at in range(_ROUNDS):
        drawn = population.draw(seed, at * _CHUNK, _CHUNK)
        for row, wanted in zip(*_rows(turn, digit, drawn, random), strict=True):
            if (key := row[:2].tobytes()) not in seen and left[int(wanted)]:
                seen.add(key)
                left[int(wanted)] -= 1
                found.append(row)
        if len(found) >= n:
            break
    kept = np.array(found[:n], dtype=np.int8).reshape(-1, 8, digits)
    before, after = turn.branches
    minuses = [branch is not Branch.ADD for branch in (before, after, after, before)]
    base, same, other, null = (
        Questions(kept[:, 2 * at], kept[:, 2 * at + 1], np.full(len(kept), minus)) for at, minus in enumerate(minuses)
    )
    token, read = digits + 1 - digit, answers(same)
    if not turn.of_operator:
        read = Answers(~read.negative, read.digits)
    after_turn = _after(turn, base, same)[:, token]
    return BranchPairs(turn, digit, base, same, read, other, null, _before(base)[:, token], after_turn)


def _rows(
    turn: Turn, digit: int, drawn: Questions, random: np.random.Generator
) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    # Operands of base, same, other and null, one row for each base that has all of them; and what its digit becomes.
    before, after = turn.branches
    base, others = _of_branch(drawn, before), _of_branch(drawn, after)
    if not len(base) or not len(others):
        return np.zeros((0, 8, drawn.digits), dtype=np.int8), np.zeros(0, dtype=np.int64)
    same = _turned(base, turn)
    other = others[random.integers(0, len(others), len(base))]
    null, good = _null(base, digit, random)
    token = drawn.digits + 1 - digit
    wanted = _after(turn, base, same)[:, token]
    good &= _before(base)[:, token] != wanted
    sides = (base, same, other, null)
    return np.stack([part for side in sides for part in (side.first, side.second)], axis=1)[good], wanted[good]


def _of_branch(drawn: Questions, branch: Branch) -> Questions:
    # The operands of differences; a sum takes those with D>=D', so that it has the sign of the difference.
    negative = is_negative(drawn)
    kept = drawn[negative if branch is Branch.NEGATIVE else ~negative]
    return Questions(kept.first, kept.second, np.full(len(kept), branch is not Branch.ADD))


def _turned(base: Questions, turn: Turn) -> Questions:
    return Questions(base.first, base.second, ~base.minus) if turn.of_operator else base


def _null(base: Questions, digit: int, random: np.random.Generator) -> tuple[Questions, NDArray[np.bool_]]:
    # Other questions of the branch that get the base's column: kept if their digit and sign come out as the base's.
    first, second = np.array(base.first), np.array(base.second)
    good = np.zeros(len(base), dtype=np.bool_)
    token, wanted = base.digits + 1 - digit, _before(base)
    for _ in range(_TRIES):
        pool = base[random.permutation(len(base))]
        tried = [np.array(pool.first), np.array(pool.second)]
        for side, own in zip(tried, (base.first, base.second), strict=True):
            side[:, digit] = own[:, digit]
        tokens = _before(Questions(tried[0], tried[1], base.minus))
        differs = ((tried[0] != base.first) | (tried[1] != base.second)).any(1)
        fits = ~good & differs & (tokens[:, token] == wanted[:, token]) & (tokens[:, 0] == wanted[:, 0])
        first[fits], second[fits] = tried[0][fits], tried[1][fits]
        good |= fits
    return Questions(first, second, base.minus), good


def _before(base: Questions) -> DigitTokens:
    return answer_tokens(base).astype(np.int64)


def _after(turn: Turn, base: Questions, same: Questions) -> DigitTokens:
    if turn.of_operator:
        return answer_tokens(same).astype(np.int64)
    sign = int(turn is Turn.TO_NEGATIVE)
    given = algorithm(Operation.MIX, base.digits).answers(base, do={SGN: sign})
    return answer_tokens(base, given).astype(np.int64)
