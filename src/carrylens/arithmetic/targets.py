"""Targets: questions of one class or of one exact depth, as quick to draw as any others.

Takes  a class or a depth, a number of digits and a seed.
Gives  a population of just those questions, each equally likely, the i-th the same however it is drawn.
Never  draws questions to throw them away.

Step by step, reading a question from its top column down:
1. A column makes a carry or borrow, passes one on, or stops one: 45, 10 and 45 of its 100 digit pairs. Where leading
   0-0 columns must not count, that pair is a kind of its own.
2. What matters of the columns read so far is a small state: how many columns in a row just passed, whether a run was
   long enough, whether a subtraction's sign is decided. `_next_state` says how a column changes it.
3. From the bottom up, count exactly how many ways each state can be completed.
4. From the top down, draw each column's kind in proportion to those counts, then one of the kind's digit pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.questions import Questions, check_digits
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import Draws, below, draw

_TARGET_KEY = 101  # keeps these draws apart from those of the kinds in populations.py


class Chain(Enum):
    """What travels: the carry of D+D', the borrow of D-D' that ends in a minus sign, or the borrow of the answer."""

    CASCADE = "cascade"
    SIGN = "sign"
    BORROW = "borrow"


@dataclass(frozen=True)
class Target:
    """Which questions are wanted: the longest run in `chain` from `lowest` to `highest` (None: any length).

    A run of -1 means that no column makes a carry or borrow. `negative` is the answer's sign.

    >>> Target.of_class(QuestionClass.S5)
    Target(chain=<Chain.CASCADE: 'cascade'>, lowest=4, highest=None, negative=False)
    """

    chain: Chain
    lowest: int
    highest: int | None
    negative: bool = False

    def __post_init__(self) -> None:
        always = {Chain.CASCADE: False, Chain.SIGN: True}.get(self.chain, self.negative)
        if self.negative is not always:
            wrong, right = ("negative", "positive") if self.negative else ("positive", "negative")
            raise CarryLensError(
                f"A {self.chain.value} depth goes with a {right} answer, not a {wrong} one. Write a borrow depth."
            )

    @classmethod
    def of_class(cls, question_class: QuestionClass) -> Target:
        """All questions of one class."""
        if not isinstance(question_class, QuestionClass):
            raise CarryLensError(f"{question_class!r} is not a class. Give one such as QuestionClass.S5.")
        letter, number = question_class.value[0], int(question_class.value[1])
        chain = {"S": Chain.CASCADE, "M": Chain.BORROW, "N": Chain.SIGN}[letter]
        deepest = 5 if letter == "S" else 4
        return cls(chain, number - 1, None if number == deepest else number - 1, negative=letter == "N")

    @classmethod
    def of_depth(cls, chain: Chain, depth: int, negative: bool | None = None) -> Target:
        """All questions whose depth in `chain` is exactly `depth`, and whose answer has the sign asked for.

        If none is asked for: negative for a sign depth, positive for the others.
        """
        if depth < 0:
            raise CarryLensError(f"{depth} is not a depth. Write 0 or more.")
        return cls(chain, depth if depth else -1, depth, chain is Chain.SIGN if negative is None else negative)


def is_possible(target: Target, digits: int) -> bool:
    """Whether any question of that width meets the target.

    >>> is_possible(Target.of_class(QuestionClass.S5), 4), is_possible(Target.of_class(QuestionClass.S5), 5)
    (False, True)
    """
    return _plan(target, check_digits(digits)).n_questions > 0


@dataclass(frozen=True)
class TargetPopulation:
    """The questions that meet `target`, to be drawn with any seed.

    >>> deep = TargetPopulation(Target.of_depth(Chain.CASCADE, 19), digits=20)
    >>> from carrylens.arithmetic.classes import classify
    >>> classify(deep.draw(0, 0, 4)).cascade_depth
    array([19, 19, 19, 19], dtype=int8)
    """

    target: Target
    digits: int

    def __post_init__(self) -> None:
        if not is_possible(self.target, self.digits):
            raise CarryLensError(
                f"No question with {self.digits} digits meets {self.target}. Give more digits or a smaller depth."
            )

    @property
    def n_questions(self) -> int:
        """How many different questions meet the target."""
        return _plan(self.target, self.digits).n_questions

    def draw(self, seed: int, start: int, count: int) -> Questions:
        """Questions `start` to `start + count - 1` of the population drawn with this seed."""
        n, plan = self.digits, _plan(self.target, self.digits)
        draws = draw(self._key(seed), start, count, 2 * n)
        left, right = np.empty((count, n), dtype=np.int8), np.empty((count, n), dtype=np.int8)
        state = np.zeros(count, dtype=np.int64)
        for k in range(n - 1, -1, -1):
            kind = (plan.bounds[k][state] <= draws[:, k : k + 1]).sum(axis=1)
            left[:, k], right[:, k] = _pairs_of(self.target.chain, kind, draws[:, n + k])
            state = plan.follows[state, kind]
        if self.target.negative and self.target.chain is Chain.BORROW:
            left, right = right, left  # the chain of D'-D
        return Questions(left, right, np.full(count, self.target.chain is not Chain.CASCADE))

    def _key(self, seed: int) -> tuple[int, ...]:
        highest = self.digits if self.target.highest is None else self.target.highest
        place = list(Chain).index(self.target.chain)
        return (seed, _TARGET_KEY, self.digits, place, self.target.lowest + 1, highest + 1, self.target.negative)


_MAKES, _PASSES, _PASSES_ZEROS, _STOPS = range(4)
_KINDS = (_MAKES, _PASSES, _PASSES_ZEROS, _STOPS)


@dataclass(frozen=True)
class _State:
    # What the columns read so far, from the top, leave behind.
    run: int = 0  # columns in a row that just passed, capped where more makes no difference
    long_enough: bool = False
    leading: bool = False  # still among leading 0-0 columns that do not count
    decided: bool = False  # the sign of the difference is known


@dataclass(frozen=True, eq=False)
class _Plan:
    follows: NDArray[np.int64]  # [state, kind] -> state
    bounds: NDArray[np.float64]  # [column, state, kind]: a draw at or above it asks for a later kind
    n_questions: int


@cache
def _plan(target: Target, digits: int) -> _Plan:
    states, follows = _reachable(target)
    ways = _kind_counts(target.chain)
    completions = [int(_accepted(target, state)) for state in states]
    bounds = np.zeros((digits, len(states), len(_KINDS)))
    for k in range(digits):  # step 3, from the units up
        options = [
            [
                ways[kind] * completions[after] if after is not None else 0
                for kind, after in zip(_KINDS, row, strict=True)
            ]
            for row in follows
        ]
        completions = [sum(row) for row in options]
        bounds[k] = [_bounds(row) for row in options]
    table = np.array([[0 if after is None else after for after in row] for row in follows])
    return _Plan(table, bounds, completions[0])


def _reachable(target: Target) -> tuple[list[_State], list[list[int | None]]]:
    states = [_State(long_enough=target.lowest < 0, leading=target.chain is Chain.SIGN)]
    follows: list[list[int | None]] = []
    for state in states:  # grows while new states turn up
        afters = [_next_state(target, state, kind) for kind in _KINDS]
        states.extend(after for after in dict.fromkeys(afters) if after is not None and after not in states)
        follows.append([None if after is None else states.index(after) for after in afters])
    return states, follows


def _next_state(target: Target, state: _State, kind: int) -> _State | None:
    # Step 2. None: this column would make the question miss the target.
    cap = target.lowest if target.highest is None else target.highest + 1
    if kind == _PASSES_ZEROS and state.leading:
        return state
    if kind in (_PASSES, _PASSES_ZEROS):
        return _State(min(state.run + 1, cap), state.long_enough, False, state.decided)
    undecided = target.chain is not Chain.CASCADE and not state.decided
    if undecided and kind != (_MAKES if target.chain is Chain.SIGN else _STOPS):
        return None  # the highest unequal column sets the sign
    if kind == _STOPS:
        return _State(0, state.long_enough, False, True)
    if target.highest is not None and state.run > target.highest:
        return None
    return _State(0, state.long_enough or state.run >= target.lowest, False, True)


def _accepted(target: Target, state: _State) -> bool:
    # Equal operands leave the sign undecided: their answer is +0.
    return state.long_enough and (state.decided or not target.negative)


def _bounds(options: list[int]) -> list[float]:
    # Where in 0 .. 2**32 each kind ends; a kind without ways gets no room, the last one with ways gets the rest.
    total, last = sum(options), max((kind for kind, ways in enumerate(options) if ways), default=-1)
    if not total:
        return [0.0] * len(options)
    return [2.0**32 if kind >= last else sum(options[: kind + 1]) / total * 2.0**32 for kind in range(len(options))]


def _kind_counts(chain: Chain) -> tuple[int, ...]:
    return tuple(len(pairs) for pairs in _kind_pairs(chain))


@cache
def _kind_pairs(chain: Chain) -> tuple[NDArray[np.int8], ...]:
    d, e = np.repeat(np.arange(10, dtype=np.int8), 10), np.tile(np.arange(10, dtype=np.int8), 10)
    makes, passes = (d + e >= 10, d + e == 9) if chain is Chain.CASCADE else (d < e, d == e)
    zeros = passes & (d == 0) & (e == 0)
    kinds = (makes, passes & ~zeros, zeros, ~makes & ~passes)
    return tuple(np.stack([d[kind], e[kind]], axis=1) for kind in kinds)


def _pairs_of(chain: Chain, kind: NDArray[np.int64], draws: Draws) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    groups = _kind_pairs(chain)
    sizes = np.array([len(group) for group in groups])
    offsets = np.cumsum(sizes) - sizes
    chosen = np.concatenate(groups)[offsets[kind] + below(draws, sizes[kind])]
    return chosen[:, 0], chosen[:, 1]
