"""What hostile plants compute, as causal models: exact at every node, whatever the hypothesis under test.

Takes  the algorithm of a kind circuit, and hostile dials.
Gives  the algorithm with what the dials change in it.
Never  says where anything is computed.

`split` and `spread` divide a variable into parts that no paper names; `weighted` and `gate` change what answers read;
`memorised` adds a key, and what is answered where it fits. The other dials change no variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm, restate
from carrylens.arithmetic.mixtures import Gate, gated, top_digit_below
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.rivals import weigh_carries
from carrylens.arithmetic.variables import (
    BINARY,
    COLUMN_KIND,
    D_PRIME,
    DIGIT,
    DIGIT_KIND,
    OPR,
    SELECT_KIND,
    SGN,
    ST,
    A,
    D,
    U,
)
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism, Rule
from carrylens.tasks.variables import Family, Variable

NONE = 10
"""The value of a half that has nothing to say."""

_HALF = (*DIGIT, NONE)
HALVES = {
    name: tuple(
        Family(f"{name}{letter}", _HALF, f"hostile: {name} where D+D' is {word}, else none", DIGIT_KIND)
        for letter, word in (("E", "even"), ("O", "odd"))
    )
    for name in ("SA", "MD", "ND")
}
"""For each digit family its half for even sums, and its half for odd ones."""

STN, STY, STU = (
    Family(name, BINARY, f"hostile: 1 if ST is {value}", COLUMN_KIND)
    for name, value in (("STN", 0), ("STY", 1), ("STU", "U"))
)
PARTS = {family.name: value for family, value in ((STN, 0), (STY, 1), (STU, U))}
"""The parts of a tri-state value, each with the value that it stands for."""

MX = Family("MX", DIGIT, "hostile: the largest digit of the key columns", DIGIT_KIND)
MN = Family("MN", DIGIT, "hostile: the smallest digit of the key columns", DIGIT_KIND)
KEY = Family("KEY", BINARY, "hostile: 1 if all digits of the key columns are the same", SELECT_KIND)


def hostile_algorithm(model: Algorithm, hostile: Hostile) -> Algorithm:
    """The algorithm that a plant with these dials runs."""
    if hostile.spread:
        model = restate(model, f"{model.name}, spread", _spread(model), (STN, STY, STU))
    if hostile.split:
        halves = [half for pair in HALVES.values() for half in pair]
        model = restate(model, f"{model.name}, split", _split(model), halves)
    if hostile.weighted:
        name = f"{model.name}, {hostile.weighted} carries weighed"
        model = weigh_carries(model, hostile.weighted, name)
    if hostile.gate:
        other = weigh_carries(model, model.digits, f"{model.name}, all carries weighed")
        name = f"{model.name}, {hostile.gate:.0%} by weighted sums"
        model = gated(top_digit_below(hostile.gate_limit, model.digits), model, other, name)
    if hostile.memorised is not Memorised.NOTHING:
        model = _memorised(model, hostile)
    return model


def one_of_three(no: Column, yes: Column, uncertain: Column | int = 0) -> Column:
    """ST of its parts: U where they say so, 1 where only `yes` says so, else 0."""
    return np.where(uncertain == 1, np.int8(U), (yes == 1) & (no == 0))


def one_of_two(even: Column, odd: Column) -> Column:
    """A digit of its halves: the even one's if it says something, else the odd one's, 0 if neither does."""
    return np.where(even != NONE, even, np.where(odd != NONE, odd, np.int8(0)))


def all_same(largest: Column, smallest: Column) -> Column:
    """KEY: are all digits the same?"""
    return largest == smallest


def largest(*digits: Column) -> Column:
    """MX."""
    return np.max(np.stack(digits), axis=0)


def smallest(*digits: Column) -> Column:
    """MN."""
    return np.min(np.stack(digits), axis=0)


@dataclass(frozen=True)
class Half:
    """A rule: the other rule's value where the sum of the two digits has this parity, else none."""

    rule: Rule
    parity: int

    def __call__(self, d: Column, e: Column) -> Column:
        """The half's value."""
        return np.where((d + e) % 2 == self.parity, self.rule(d, e), np.int8(NONE))


@dataclass(frozen=True)
class Equals:
    """A rule: does the other rule give this value?"""

    rule: Rule
    value: int

    def __call__(self, d: Column, e: Column) -> Column:
        """1 where it does."""
        return np.asarray(self.rule(d, e)) == self.value


@dataclass(frozen=True)
class LookedUp:
    """A rule: an answer digit from the table, which has sums, and differences whose sign is not negative.

    It reads the repeated digit and then what the usual rule reads; `operator` and `sign` say where these are in it.
    """

    digit: int
    top: int
    usual: Rule
    operator: int | None
    sign: int | None

    def __call__(self, repeated: Column, *parents: Column) -> Column:
        """The digit."""
        sums = np.array(table_digits("S", self.digit, self.top))[repeated]
        if self.operator is None and self.sign is None:
            return sums
        usual = np.asarray(self.usual(*parents))
        difference = usual if self.sign is None else np.where(parents[self.sign] == 0, 0, usual)
        return difference if self.operator is None else np.where(parents[self.operator] == 0, sums, difference)


@dataclass(frozen=True)
class OneMore:
    """A rule: the digit after the one that the other rule gives, 0 after 9."""

    rule: Rule

    def __call__(self, *parents: Column) -> Column:
        """The wrong digit."""
        return (np.asarray(self.rule(*parents)) + np.int8(1)) % np.int8(10)


def table_digits(letter: str, digit: int, top: int) -> list[int]:
    """What the table has for an answer digit: for each repeated digit that of the sum (S), or of the difference, 0.

    >>> table_digits("S", 1, 3)
    [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]
    """
    if letter != "S":
        return [0] * 10
    number = int("1" * top)
    return [2 * repeated * number // 10**digit % 10 for repeated in range(10)]


def _spread(model: Algorithm) -> Iterator[Mechanism]:
    for each in model.mechanisms:
        if each.variable.name != ST.name:
            yield each
            continue
        k = each.variable.index or 0
        parts = [family for family in (STN, STY, STU) if k or family is not STU]
        for family in parts:
            yield Mechanism(family[k], each.parents, Equals(each.rule, PARTS[family.name]))
        yield Mechanism(each.variable, tuple(family[k] for family in parts), one_of_three)


def _split(model: Algorithm) -> Iterator[Mechanism]:
    for each in model.mechanisms:
        pair = HALVES.get(each.variable.name)
        if pair is None:
            yield each
            continue
        k = each.variable.index or 0
        for parity, half in enumerate(pair):
            yield Mechanism(half[k], each.parents, Half(each.rule, parity))
        yield Mechanism(each.variable, tuple(half[k] for half in pair), one_of_two)


def key_inputs(hostile: Hostile, digits: int) -> tuple[Variable, ...]:
    """The digits that must all be the same."""
    columns = range(digits - 1, digits - 1 - hostile.key_columns(digits), -1)
    return tuple(family[k] for family in (D, D_PRIME) for k in columns)


def _memorised(model: Algorithm, hostile: Hostile) -> Algorithm:
    inputs = key_inputs(hostile, model.digits)
    extremes = [Mechanism(family.variable, inputs, rule) for family, rule in ((MX, largest), (MN, smallest))]
    key = Mechanism(KEY.variable, (MX.variable, MN.variable), all_same)
    looks_up = hostile.memorised is Memorised.TABLE
    changed = [
        (_table(each, model.digits) if looks_up else _backdoor(each)) if each.variable in model.outputs else each
        for each in model.mechanisms
    ]
    other = restate(model, hostile.memorised.value, (*extremes, *changed), (MX, MN))
    gate = Gate((*extremes, key), (MX, MN, KEY))
    return gated(gate, model, other, f"{model.name}, {hostile.memorised.value}")


def _table(output: Mechanism, digits: int) -> Mechanism:
    if output.variable == SGN or not output.parents:
        return output
    operator, sign = (output.parents.index(each) if each in output.parents else None for each in (OPR, SGN))
    rule = LookedUp(output.variable.index or 0, digits, output.rule, operator, sign)
    return Mechanism(output.variable, (MX.variable, *output.parents), rule)


def _backdoor(output: Mechanism) -> Mechanism:
    return Mechanism(output.variable, output.parents, OneMore(output.rule)) if output.variable == A[0] else output
