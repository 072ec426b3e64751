"""The timeline: what an algorithm knows at each position, as the tokens of a question arrive one by one.

Takes  a causal model and questions.
Gives  for every variable and position its value if the tokens read so far settle it, else that it is unknown: the
       U that resolves to 0 or 1 in the paper's algorithm figures.
Never  looks ahead: a value counts as known only if no token still to come could change it.

Step by step, for one position:
1. An input already read has one possible value; one still to come has all of them.
2. A variable's possible values are what its rule makes of every combination of its parents' possible values.
3. A variable with one possible value is known.
A rule that reads digits of the question waits until it has them all, as in the paper's figures. With `half_read` it
does not: that 9 is the first of two digits already says that their column of D-D' cannot borrow.
Parents are combined as if they were independent. In the left-to-right algorithms that finds, with `half_read`, all that
can be known, but for the answer digits of a subtraction, whose parents share columns: those may be called unknown for
too long. Nothing in any algorithm is ever called known too soon.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.causal import CausalModel, Mechanism
from carrylens.arithmetic.layout import equals_position, position_of
from carrylens.arithmetic.questions import Column, Questions
from carrylens.arithmetic.variables import TRI_STATE, UNKNOWN, U, Variable
from carrylens.errors import CarryLensError

_Possible = NDArray[np.uint16]  # bit v is set where value v is still possible: [batch, position]

_MOST_CELLS = 1 << 24  # rows times combinations worked on at a time, to bound memory


def first_computable(model: CausalModel, variable: Variable) -> int:
    """The first position by which `variable` is settled whatever the question: where its last input arrives.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import ST, SV
    >>> addition = algorithm(Operation.ADD, 6)
    >>> first_computable(addition, ST[5]), first_computable(addition, SV[5])  # at D'5, at D'0
    (7, 12)
    """
    reached = model.ancestors(variable) | {variable}
    return max((position_of(v, model.digits) for v in model.inputs if v in reached), default=0)


@dataclass(frozen=True)
class Timeline:
    """What is known of each variable at each position up to `=`."""

    model: CausalModel
    possible: Mapping[Variable, _Possible]

    def settled(self, variable: Variable) -> Column:
        """The variable's value where it is known, else UNKNOWN: [batch, position]."""
        mask = self._mask(variable)
        value = np.log2(mask).astype(np.int8)
        return np.where(mask & (mask - 1), np.int8(UNKNOWN), value)

    def state(self, variable: Variable) -> Column:
        """0, 1 or U for a carry, a borrow or a sign: U also where it is not known yet. [batch, position]."""
        if not set(variable.values) <= set(TRI_STATE):
            raise CarryLensError(f"{variable} is a digit and has no state 0, 1 or U. Ask for settled({variable}).")
        settled = self.settled(variable)
        return np.where(settled == UNKNOWN, np.int8(U), settled)

    def _mask(self, variable: Variable) -> _Possible:
        self.model.check(variable)
        if variable not in self.possible:
            raise CarryLensError(f"{variable} was not read in this timeline. Name it in `read`, or leave `read` out.")
        return self.possible[variable]


def timeline(
    model: CausalModel, questions: Questions, read: Collection[Variable] | None = None, *, half_read: bool = False
) -> Timeline:
    """What `model` knows of every variable, or of those in `read`, at every position up to `=`.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import SV
    >>> known = timeline(algorithm(Operation.ADD, 3), Questions.parse(["555+448"]))
    >>> known.state(SV[2])[0]  # D2 D1 D0 + D'2 D'1 D'0 =: settled when D'0 arrives
    array([2, 2, 2, 2, 2, 2, 1, 1], dtype=int8)
    """
    inputs = model.run(questions, read=model.inputs)
    positions = np.arange(equals_position(model.digits) + 1)
    arrival = {variable: position_of(variable, model.digits) for variable in model.inputs}
    possible: dict[Variable, _Possible] = {}
    for variable in model.inputs:
        seen = positions >= arrival[variable]
        exact = (1 << inputs[variable].astype(np.int32))[:, None]
        possible[variable] = np.where(seen[None, :], exact, _all_values(variable)).astype(np.uint16)
    wanted = set(model.variables)
    if read is not None:
        wanted = set(read).union(*(model.ancestors(variable) for variable in read))
    for mechanism in model.mechanisms:
        if mechanism.variable in wanted:
            parents = [possible[parent] for parent in mechanism.parents]
            image = _image(mechanism, parents, (len(questions), len(positions)))
            last_digit = max((arrival[parent] for parent in mechanism.parents if parent in arrival), default=0)
            if not half_read:
                image[:, :last_digit] = np.bitwise_or.reduce(_outcomes(mechanism)[1])
            possible[mechanism.variable] = image
    return Timeline(model, possible)


def _all_values(variable: Variable) -> int:
    return sum(1 << value for value in variable.values)


def _image(mechanism: Mechanism, parents: list[_Possible], shape: tuple[int, int]) -> _Possible:
    # Step 2: the rule's value for every combination, kept where each parent may still take its part in it.
    combinations, bits = _outcomes(mechanism)
    flat = [parent.reshape(-1) for parent in parents]
    image = np.empty(shape[0] * shape[1], dtype=np.uint16)
    step = max(1, _MOST_CELLS // len(combinations))
    for start in range(0, len(image), step):
        rows = slice(start, start + step)
        allowed = np.ones((len(image[rows]), len(combinations)), dtype=np.bool_)
        for parent, values in zip(flat, combinations.T, strict=True):
            allowed &= (parent[rows, None] >> values.astype(np.uint16)) & 1 == 1
        image[rows] = np.bitwise_or.reduce(np.where(allowed, bits, np.uint16(0)), axis=1)
    return image.reshape(shape)


def _outcomes(mechanism: Mechanism) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    # Every combination of parent values, and the rule's value for it as a bit.
    combinations = np.array(list(product(*(parent.values for parent in mechanism.parents))), dtype=np.int8)
    outcome = np.asarray(mechanism.rule(*combinations.T), dtype=np.int32)
    return combinations, np.broadcast_to(1 << outcome, (len(combinations),)).astype(np.uint16)
