"""Mixtures: two algorithms in one, a predicate on the question decides which of them makes the answer.

Takes  a `Gate` and two algorithms for the same questions.
Gives  an algorithm whose every output is that of the one or of the other.
Never  judges which is right.

1. What both compute in the same way stands once. What they call alike and compute differently stands twice, with `_2`
   for the second algorithm's.
2. The gate is a variable of its own, 1 where the second algorithm makes the answer.
3. Each output has the gate and both algorithms' parents as its parents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm, restate
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import Operation, check_digits
from carrylens.arithmetic.rivals import weighted_sum
from carrylens.arithmetic.variables import BINARY, SELECT_KIND, D
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism, Rule
from carrylens.tasks.variables import Family, Variable

G = Family("G", BINARY, "rival: 1 if the question takes the other route", SELECT_KIND, title="route")
"""The route that a question takes."""

GATED_TENTHS = (1, 3, 5)
"""How many tenths of the questions take another route in the mixtures that have a name."""


@dataclass(frozen=True)
class Gate:
    """Which questions the second algorithm answers: the value of the last mechanism's variable, and what it needs.

    `families` are those of its variables.
    """

    mechanisms: tuple[Mechanism, ...]
    families: tuple[Family, ...] = (G,)

    @property
    def variable(self) -> Variable:
        """The variable that is 1 where the second algorithm makes the answer."""
        return self.mechanisms[-1].variable


@dataclass(frozen=True)
class Below:
    """A rule: is the value below a limit?

    >>> Below(3)(np.array([0, 2, 3, 9]))
    array([ True,  True, False, False])
    """

    limit: int

    def __call__(self, value: Column) -> NDArray[np.bool_]:
        """True where it is."""
        return value < self.limit


@dataclass(frozen=True)
class Either:
    """A rule: one rule's value where the gate is 0, else the other's. Each reads the parents at the places given."""

    first: Rule
    first_reads: tuple[int, ...]
    second: Rule
    second_reads: tuple[int, ...]

    def __call__(self, gate: Column, *parents: Column) -> Column:
        """The value that the gate chooses."""
        one = self.first(*(parents[place] for place in self.first_reads))
        other = self.second(*(parents[place] for place in self.second_reads))
        return np.where(gate == 1, other, one)


def top_digit_below(limit: int, digits: int) -> Gate:
    """The questions whose first operand starts with a digit below `limit`: that many tenths of all.

    >>> str(top_digit_below(3, 4).mechanisms[0].parents[0])
    'D[3]'
    """
    check_digits(digits)
    if type(limit) is not int or not 1 <= limit <= 9:
        raise CarryLensError(f"The limit of the gate is {limit!r}. Give a whole number from 1 to 9.")
    return Gate((Mechanism(G.variable, (D[digits - 1],), Below(limit)),))


def weighted_on_some(operation: Operation, digits: int, tenths: int) -> Algorithm:
    """The left-to-right algorithm, but weighted sums where the first operand starts with a digit below `tenths`.

    >>> weighted_on_some(Operation.ADD, 3, 3).name
    'left-to-right add, weighted-sum on 30%'
    """
    usual = algorithm(operation, digits)
    name = f"{usual.name}, weighted-sum on {tenths}0%"
    return gated(top_digit_below(tenths, digits), usual, weighted_sum(operation, digits), name)


def units_digit_below(limit: int) -> Gate:
    """The questions whose first operand ends with a digit below `limit`: that many tenths of all.

    >>> str(units_digit_below(3).mechanisms[0].parents[0])
    'D[0]'
    """
    return top_digit_below(limit, 1)


def gated(gate: Gate, first: Algorithm, second: Algorithm, name: str | None = None) -> Algorithm:
    """The algorithm that answers as `second` does where the gate is 1, and as `first` does elsewhere.

    >>> from carrylens.arithmetic import Operation, algorithm, rivals
    >>> mixed = gated(top_digit_below(3, 2), algorithm(Operation.ADD, 2), rivals.weighted_sum(Operation.ADD, 2))
    >>> [str(parent) for parent in mixed.by_variable[Variable("A", 1)].parents]
    ['G', 'SA[1]', 'SV[0]', 'WS[0]']
    """
    if (first.operation, first.digits) != (second.operation, second.digits):
        raise CarryLensError(
            f"{first.name!r} and {second.name!r} are for different questions. Give two of one operation and width."
        )
    other, renamed = _beside(first, second, gate)
    outputs = set(first.outputs)
    ours, theirs = ([each for each in some if each.variable not in outputs] for some in (first.mechanisms, other))
    looks_inside = any(parent in first.by_variable for each in gate.mechanisms for parent in each.parents)
    inner = dict.fromkeys((*ours, *gate.mechanisms, *theirs) if looks_inside else (*gate.mechanisms, *ours, *theirs))
    seconds = {each.variable: each for each in other}
    merged = [_merged(gate, first.by_variable[output], seconds[output]) for output in first.outputs]
    stated = name or f"{first.name}, and {second.name} on some questions"
    families = (*gate.families, *first.families, *second.families, *renamed)
    return restate(first, stated, (*inner, *merged), families)


def _merged(gate: Gate, first: Mechanism, second: Mechanism) -> Mechanism:
    if first == second:
        return first
    parents = tuple(dict.fromkeys((*first.parents, *second.parents)))
    reads = [tuple(map(parents.index, each.parents)) for each in (first, second)]
    return Mechanism(first.variable, (gate.variable, *parents), Either(first.rule, reads[0], second.rule, reads[1]))


def _beside(first: Algorithm, second: Algorithm, gate: Gate) -> tuple[list[Mechanism], list[Family]]:
    # The second algorithm's mechanisms, with new names for what the first computes in another way.
    known = {**first.by_variable} | {each.variable: each for each in gate.mechanisms}
    inner = [each for each in second.mechanisms if each.variable not in second.outputs]
    clashing: set[str] = set()
    while True:  # a new name changes the parents of others, which may then differ, too
        names = {each.variable: _again(each.variable, clashing) for each in inner}
        found = {
            each.variable.name
            for each in inner
            if names[each.variable] == each.variable
            and each.variable in known
            and known[each.variable] != _named(each, names)
        }
        if not found:
            break
        clashing |= found
    families = [replace(second.family_called[name], name=f"{name}_2") for name in sorted(clashing)]
    return [_named(each, names) for each in second.mechanisms], families


def _again(variable: Variable, clashing: Iterable[str]) -> Variable:
    return Variable(f"{variable.name}_2", variable.index) if variable.name in clashing else variable


def _named(mechanism: Mechanism, names: dict[Variable, Variable]) -> Mechanism:
    parents = tuple(names.get(parent, parent) for parent in mechanism.parents)
    return Mechanism(names.get(mechanism.variable, mechanism.variable), parents, mechanism.rule)
