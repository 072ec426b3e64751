"""Column pairs: base and source that differ in one column, and a null that differs there without saying anything else.

Takes  a branch of the algorithm, digits, a seed.
Gives  `ColumnPairs`: interchanging what depends on the column must change the answer's digits above it to the source's.
Never  changes the sign of the answer unless that is what is asked for, and never gives one pair twice.

Above column k, digits of the answer depend on it through its carry alone. So where base and source differ in nothing
but column k, the right answer of the source says what the base must become there, and a source with other digits in
that column and the same carry says what must not move: the deciding-matched null.

Where a digit is predicted the model reads the digit above it. A carry that goes on beyond the digit turns that token as
well, which gives it away, and which no null does; so pairs that turn a digit leave all above it as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import algorithm, subtasks
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.arithmetic.variables import U
from carrylens.tasks.variables import Variable

_ROUNDS = 40
_CHUNK = 512
_EQUAL = 3  # asked of a column: equal digits, at the units too
ColumnValues = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ColumnPairs:
    """Base, source and null source; they differ in column `column` alone."""

    branch: Branch
    column: int
    base: Questions
    source: Questions
    null: Questions

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, rows: NDArray[np.bool_] | slice) -> ColumnPairs:
        """Some of the pairs."""
        return ColumnPairs(self.branch, self.column, self.base[rows], self.source[rows], self.null[rows])

    @property
    def expected(self) -> NDArray[np.int8]:
        """The tokens of the source's answer: right for the base above the column, once its carry is the source's."""
        return answer_tokens(self.source)

    @property
    def above(self) -> NDArray[np.bool_]:
        """Where a token above the column must change: [pair, token]."""
        differs = self.expected != answer_tokens(self.base)
        differs[:, self.base.digits + 1 - self.column :] = False
        return differs


def contrast_pairs(branch: Branch, digits: int, column: int, values: tuple[int, int], n: int, seed: int) -> ColumnPairs:
    """Pairs whose column goes from one value of ST (MB, NB) to another, half of them the other way round."""
    random = np.random.default_rng([seed, 11])
    back = random.random(_CHUNK) < 0.5
    before, after = np.where(back, values[1], values[0]), np.where(back, values[0], values[1])
    return _draw(_PairRequest(branch, digits, column, {}, (before, after)), n, seed, random)


def deciding_pairs(branch: Branch, digits: int, digit: int, depth: int, n: int, seed: int) -> ColumnPairs:
    """Pairs in which the column that decides digit `digit` of the answer, `depth` uncertain columns away, is turned.

    The digits above `digit` stay.
    """
    random = np.random.default_rng([seed, 12])
    before = random.integers(0, 2, _CHUNK)
    fixed = {k: np.full(_CHUNK, U) for k in range(digit - depth, digit)}
    request = _PairRequest(branch, digits, digit - depth - 1, fixed, (before, 1 - before), top=digit)
    return _draw(request, n, seed, random)


def pure_pairs(branch: Branch, digits: int, digit: int, depth: int, n: int, seed: int) -> ColumnPairs:
    """As `deciding_pairs`, but what the other two branches would carry into the digit stays as it is.

    Where D<D' becomes D>D', one branch's borrow goes and the other's comes. So for a subtraction the deciding column
    goes between a borrow and equal digits, with nothing but equal digits below it.
    """
    random = np.random.default_rng([seed, 14])
    column, agree = digit - depth - 1, tuple(each.resolved[digit - 1] for each in Branch if each is not branch)
    fixed = {k: np.full(_CHUNK, U) for k in range(column + 1, digit)}
    values = (0, 1)
    if branch is not Branch.ADD:
        fixed |= {k: np.full(_CHUNK, _EQUAL) for k in range(column)}
        values = (_EQUAL, 1)
    back = random.random(_CHUNK) < 0.5
    ends = np.where(back, values[1], values[0]), np.where(back, values[0], values[1])
    return _draw(_PairRequest(branch, digits, column, fixed, ends, agree, top=digit), n, seed, random)


def sign_pairs(digits: int, depth: int, n: int, seed: int) -> ColumnPairs:
    """Pairs of subtractions in which the column that decides the sign, below `depth` equal ones, is turned."""
    random = np.random.default_rng([seed, 13])
    before = random.integers(0, 2, _CHUNK)
    fixed = {k: np.full(_CHUNK, U) for k in range(digits - depth, digits)}
    column, values = digits - depth - 1, (before, 1 - before)
    request = _PairRequest(Branch.POSITIVE, digits, column, fixed, values, turns_sign=True)
    return _draw(request, n, seed, random)


def own_carry(pairs: ColumnPairs, side: Questions) -> ColumnValues:
    """The carry, or borrow, that the pairs' column makes by itself: 0 or 1."""
    first, second = side.first[:, pairs.column], side.second[:, pairs.column]
    made = {
        Branch.ADD: first + second >= 10,
        Branch.POSITIVE: first < second,
        Branch.NEGATIVE: second < first,
    }[pairs.branch]
    return np.asarray(made).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _PairRequest:
    """What pairs are wanted: `column` goes from the first of `values` to the second, `fixed` columns have theirs.

    `agree` are variables that must stay, and so must the digits above `top`; or the sign must turn.
    """

    branch: Branch
    digits: int
    column: int
    fixed: Mapping[int, ColumnValues]
    values: tuple[ColumnValues, ColumnValues]
    agree: Sequence[Variable] = ()
    top: int | None = None
    turns_sign: bool = False

    def made_from(self, plain: Questions, random: np.random.Generator) -> ColumnPairs:
        """Pairs with the wanted columns, all else being that of some questions."""
        for k, wanted in self.fixed.items():
            plain = _with_column(plain, self.branch, k, wanted, random)
        before, after = self.values
        sides = [_with_column(plain, self.branch, self.column, each, random) for each in (before, after, before)]
        return ColumnPairs(self.branch, self.column, *sides)

    def accepts(self, pairs: ColumnPairs) -> NDArray[np.bool_]:
        """Which of the pairs are as wanted."""
        good = _turns_sign(pairs) if self.turns_sign else _fits(pairs)
        if self.top is not None:
            good &= ~pairs.above[:, : self.digits + 1 - self.top].any(1)
        if self.agree:
            good &= _all_agree((pairs.base, pairs.source, pairs.null), self.agree)
        return good


def _draw(request: _PairRequest, n: int, seed: int, random: np.random.Generator) -> ColumnPairs:
    # Up to `n` different pairs.
    population = Population(PopulationKind.ENRICHED, request.branch.operation, request.digits)
    found: list[NDArray[np.int8]] = []
    seen: set[bytes] = set()
    for at in range(_ROUNDS):
        pairs = request.made_from(population.draw(seed, at * _CHUNK, _CHUNK), random)
        sides = (pairs.base, pairs.source, pairs.null)
        rows = np.stack([operand for side in sides for operand in (side.first, side.second)], axis=1)
        for row in rows[request.accepts(pairs)]:
            if (key := row[:4].tobytes()) not in seen:
                seen.add(key)
                found.append(row)
        if len(found) >= n:
            break
    kept = np.array(found[:n], dtype=np.int8).reshape(-1, 6, request.digits)
    minus = np.full(len(kept), request.branch is not Branch.ADD)
    drawn = [Questions(kept[:, side], kept[:, side + 1], minus) for side in (0, 2, 4)]
    return ColumnPairs(request.branch, request.column, *drawn)


def _all_agree(sides: Sequence[Questions], agree: Sequence[Variable]) -> NDArray[np.bool_]:
    base, *others = (subtasks(side) for side in sides)
    return np.all([other[variable] == base[variable] for other in others for variable in agree], axis=0)


def _fits(pairs: ColumnPairs) -> NDArray[np.bool_]:
    good = np.asarray(pairs.above.any(1))
    for side in (pairs.base, pairs.source, pairs.null):
        good &= is_negative(side) == (pairs.branch is Branch.NEGATIVE)
    return good & _null_differs(pairs)


def _turns_sign(pairs: ColumnPairs) -> NDArray[np.bool_]:
    base, source, null = (is_negative(side) for side in (pairs.base, pairs.source, pairs.null))
    return np.asarray((base != source) & (base == null)) & _null_differs(pairs)


def _null_differs(pairs: ColumnPairs) -> NDArray[np.bool_]:
    base, null, k = pairs.base, pairs.null, pairs.column
    return np.asarray((base.first[:, k] != null.first[:, k]) & (base.second[:, k] != null.second[:, k]))


def _with_column(
    questions: Questions, branch: Branch, column: int, wanted: ColumnValues, random: np.random.Generator
) -> Questions:
    # The questions with column `column` drawn anew among the digit pairs that have the wanted values.
    left, right = (side.ravel().astype(np.int8) for side in np.meshgrid(np.arange(10), np.arange(10)))
    mechanism = algorithm(branch.operation, questions.digits).by_variable[branch.family[column]]
    pair = (right, left) if branch is Branch.NEGATIVE else (left, right)
    classes = np.asarray(mechanism.rule(*pair)).astype(np.int64)
    first, second = np.array(questions.first), np.array(questions.second)
    for value in np.unique(wanted):
        rows = np.flatnonzero(wanted == value)
        fitting = left == right if value == _EQUAL else classes == value
        picks = random.choice(np.flatnonzero(fitting), len(rows))
        first[rows, column], second[rows, column] = left[picks], right[picks]
    return Questions(first, second, questions.minus)
