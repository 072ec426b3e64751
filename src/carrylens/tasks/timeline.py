"""The timeline: what an algorithm knows at each position, as the tokens of a question arrive one by one.

Takes  a causal model, a layout and questions.
Gives  for every variable and position its value if the tokens read so far settle it, else that it is unknown: the
       U that resolves to 0 or 1 in the paper's algorithm figures.
Never  looks ahead: a value counts as known only if no token still to come could change it.

Step by step, for one position:
1. An input already read has one possible value; one still to come has all of them.
2. A variable's possible values are what its rule makes of every combination of its parents' possible values.
3. A variable with one possible value is known.
A rule that reads inputs waits until it has them all, as in the paper's figures. With `half_read` it does not: that 9 is
the first of two digits already says that their column of D-D' cannot borrow.
Parents are combined as if they were independent. A variable whose parents share inputs may therefore be called unknown
for too long. Nothing in any algorithm is ever called known too soon.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, Column
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import UNKNOWN, Variable

_Possible = NDArray[np.uint16]  # bit v is set where value v is still possible: [batch, position]

_MOST_CELLS = 1 << 24  # rows times combinations worked on at a time, to bound memory


def first_computable(model: CausalModel, layout: Layout, variable: Variable) -> int:
    """The first position by which `variable` is settled whatever the question: where its last input arrives."""
    return max((layout.arrival_of(each) for each in model.inputs_of(variable)), default=0)


@dataclass(frozen=True)
class Timeline:
    """What is known of each variable at each position of the question."""

    model: CausalModel
    possible: Mapping[Variable, _Possible]

    def settled(self, variable: Variable) -> Column:
        """The variable's value where it is known, else UNKNOWN: [batch, position]."""
        self.model.check(variable)
        if variable not in self.possible:
            raise CarryLensError(f"{variable} was not read in this timeline. Name it in `read`, or leave `read` out.")
        mask = self.possible[variable]
        value = np.log2(mask).astype(np.int8)
        return np.where(mask & (mask - 1), np.int8(UNKNOWN), value)


def timeline(
    model: CausalModel,
    layout: Layout,
    questions: Batch,
    read: Collection[Variable] | None = None,
    *,
    half_read: bool = False,
) -> Timeline:
    """What `model` knows of every variable, or of those in `read`, at every position of the question."""
    inputs = model.run(questions, read=model.inputs)
    positions = np.arange(layout.n_question)
    possible: dict[Variable, _Possible] = {}
    for variable in model.inputs:
        seen = positions >= layout.arrival_of(variable)
        exact = (1 << inputs[variable].astype(np.int32))[:, None]
        every = sum(1 << value for value in model.values_of(variable))
        possible[variable] = np.where(seen[None, :], exact, every).astype(np.uint16)
    wanted = set(model.variables)
    if read is not None:
        wanted = set(read).union(*(model.ancestors(variable) for variable in read))
    for mechanism in model.mechanisms:
        if mechanism.variable in wanted:
            parents = [possible[parent] for parent in mechanism.parents]
            image = _image(model, mechanism, parents, (len(questions), len(positions)))
            given = (layout.arrival_of(parent) for parent in mechanism.parents if parent in model.inputs)
            if not half_read:
                image[:, : max(given, default=0)] = np.bitwise_or.reduce(_outcomes(model, mechanism)[1])
            possible[mechanism.variable] = image
    return Timeline(model, possible)


def _image(model: CausalModel, mechanism: Mechanism, parents: list[_Possible], shape: tuple[int, int]) -> _Possible:
    # Step 2: the rule's value for every combination, kept where each parent may still take its part in it.
    combinations, bits = _outcomes(model, mechanism)
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


def _outcomes(model: CausalModel, mechanism: Mechanism) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    # Every combination of parent values, and the rule's value for it as a bit.
    combinations = parent_combinations(model, mechanism)
    outcome = np.asarray(mechanism.rule(*combinations.T), dtype=np.int32)
    return combinations, np.broadcast_to(1 << outcome, (len(combinations),)).astype(np.uint16)


def parent_combinations(model: CausalModel, mechanism: Mechanism) -> NDArray[np.int8]:
    """Every combination of values of a mechanism's parents: [combination, parent]."""
    values = [model.values_of(parent) for parent in mechanism.parents]
    return np.array(list(product(*values)), dtype=np.int8)
