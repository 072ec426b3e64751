"""Optional pairs: stimuli for variables that are declared though no output depends on them.

Takes  a causal model, such a variable, and one that settles it and that outputs depend on.
Gives  pairs made for the latter and an output: those in which the former differs, and as their null the others.
Never  says that a variable is needed.

No output depends on such a variable, so none shows it by itself. But it may be a part of one that outputs depend on: a
binary carry is what a carry with three values says, less whether it is undecided. What carries the part alone moves an
output as the other would where the part differs, and leaves it where only the rest does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.output_pairs import output_pairs, shown_outputs
from carrylens.tasks.pairs import Pairs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_QUESTIONS = 2048  # on which it is seen whether one variable settles another
_TIMES = 4  # pairs drawn for each that is wanted: some show the one kind, some the other


@dataclass(frozen=True)
class OptionalClaim:
    """That `variable` is carried, and read by `output` in place of `read_as`."""

    variable: Variable
    read_as: Variable
    output: Variable


@cache
def unneeded_variables(model: CausalModel) -> dict[Variable, tuple[Variable, ...]]:
    """The declared variables that no output depends on, each with those by which it may be read.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> unneeded_variables(algorithm(Operation.ADD, 2))[Variable("SC", 1)]
    (Variable(name='ST', index=1),)
    """
    read = set(model.outputs).union(*(model.ancestors(output) for output in model.outputs))
    needed = [each for each in model.by_variable if each in read]
    values = model.run(population_of(model).draw(0, 0, _QUESTIONS))
    found = {}
    for variable in model.by_variable:
        if variable not in read:
            beside = [each for each in needed if model.inputs_of(each) == model.inputs_of(variable)]
            settled = [each for each in beside if _settles(values[each], values[variable])]
            found[variable] = tuple(each for each in settled if not _settles(values[variable], values[each]))
    return found


def optional_claims(model: CausalModel) -> Iterator[OptionalClaim]:
    """All that can be asked about such variables."""
    for variable, readers in unneeded_variables(model).items():
        for read_as in readers:
            for output in shown_outputs(model, read_as):
                yield OptionalClaim(variable, read_as, output)


@cache
def optional_pairs(model: CausalModel, claim: OptionalClaim, count: int, seed: int) -> tuple[Pairs, Pairs] | None:
    """Up to `count` effect pairs and as many null pairs, as pairs of the variable by which it is read; None if none."""
    try:
        pairs = output_pairs(model, claim.read_as, claim.output, _TIMES * count, seed)
    except CarryLensError:
        return None
    sides = (pairs.base, pairs.source)
    base, source = (model.run(side, read=[claim.variable])[claim.variable] for side in sides)
    effect, null = (np.flatnonzero(some)[:count] for some in (base != source, base == source))
    return _some(pairs, effect), _some(pairs, null)


def _some(pairs: Pairs, rows: np.ndarray) -> Pairs:
    return replace(pairs, base=pairs.base[rows], source=pairs.source[rows], expected=pairs.expected[rows])


def _settles(one: Column, other: Column) -> bool:
    return all(len(np.unique(other[one == value])) == 1 for value in np.unique(one))
