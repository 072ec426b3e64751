"""Targets: what of an algorithm must stand at a site.

Takes  a causal model, the families that must be found, and those of them that may be folded.
Gives  `AlignmentTarget`: variables that move together, and the outputs that read them from their site.
Never  knows a node.

1. A variable has one site for all outputs that depend on it.
2. A variable of a folded family has a site for each output that reads it directly: each may resolve a chain anew.
3. Variables that are one another's function cannot be moved apart, so they are one target.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_LOOKED_AT = 4096  # questions on which variables are compared


@dataclass(frozen=True)
class AlignmentTarget:
    """Variables that need a site, and the outputs that read them from there."""

    variables: tuple[Variable, ...]
    outputs: tuple[Variable, ...]

    @property
    def family(self) -> str:
        """The names of its families, by which rates are reported."""
        return " ".join(dict.fromkeys(variable.name for variable in self.variables))

    def __str__(self) -> str:
        read_by = f" for {self.outputs[0]}" if len(self.outputs) == 1 else ""
        return " ".join(map(str, self.variables)) + read_by


def targets_of(
    causal: CausalModel, required: Collection[str], folded: Collection[str] = ()
) -> tuple[AlignmentTarget, ...]:
    """Everything of the required families that needs a site, in the order in which it is computed.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> print(*targets_of(algorithm(Operation.ADD, 2), ("SA", "ST", "SV", "A"), ("SV",)), sep="; ")
    SA[1] for A[1]; ST[1] for A[2]; SA[0] for A[0]; ST[0]; SV[0] for A[1]; SV[1] for A[2]; A[2] for A[2]; A[1] for A[1]; A[0] for A[0]
    """  # noqa: E501
    found = list[AlignmentTarget]()
    for variable in causal.by_variable:
        if variable.name in required:
            found += _targets(causal, variable, variable.name in folded)
    return tuple(_joined(causal, found, folded))


def merged(one: AlignmentTarget, other: AlignmentTarget) -> AlignmentTarget:
    """Both as one target, whose variables move together."""
    outputs = tuple(dict.fromkeys((*one.outputs, *other.outputs)))
    return AlignmentTarget(tuple(dict.fromkeys((*one.variables, *other.variables))), outputs)


def may_merge(causal: CausalModel, one: AlignmentTarget, other: AlignmentTarget) -> bool:
    """Whether two targets may stand together: both are made from the same inputs, and neither is an output."""
    if any(each in causal.outputs for target in (one, other) for each in target.variables):
        return False
    first, second = (
        frozenset[Variable]().union(*(causal.inputs_of(each) for each in target.variables)) for target in (one, other)
    )
    return first == second


def _targets(causal: CausalModel, variable: Variable, is_folded: bool) -> Iterator[AlignmentTarget]:
    if variable in causal.outputs:
        if causal.by_variable[variable].parents:
            yield AlignmentTarget((variable,), (variable,))
        return
    if is_folded:
        for output in causal.outputs:
            if variable in causal.by_variable[output].parents:
                yield AlignmentTarget((variable,), (output,))
        return
    outputs = tuple(output for output in causal.outputs if variable in causal.ancestors(output))
    if outputs:
        yield AlignmentTarget((variable,), outputs)


def _joined(
    causal: CausalModel, targets: Sequence[AlignmentTarget], folded: Collection[str]
) -> Iterator[AlignmentTarget]:
    # Step 3, by looking at many questions: two variables are one another's function if their values pair off.
    values = causal.run(population_of(causal).draw(0, 0, _LOOKED_AT))
    left = list(targets)
    while left:
        first = left.pop(0)
        for other in list(left):
            one, another = first.variables[0], other.variables[0]
            apart = folded and {one.name, another.name} & set(folded) and first.outputs != other.outputs
            if not (apart or another in causal.outputs) and _pair_off(values[one], values[another]):
                left.remove(other)
                first = merged(first, other)
        yield first


def _pair_off(one: np.ndarray[tuple[int], np.dtype[np.int8]], other: np.ndarray[tuple[int], np.dtype[np.int8]]) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) and len(pairs) > 1
