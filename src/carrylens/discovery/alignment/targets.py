"""Targets: what of an algorithm must stand at a site.

Takes  a causal model, the families that must be found, and those of them that may be folded.
Gives  `AlignmentTarget`: variables that move together, and the outputs that read them from their site.
Never  knows a node.

1. A variable has one site for all outputs that depend on it.
2. A variable of a folded family has a site for each output that reads it directly: each may resolve a chain anew.
3. Switches, such as an operator, and outputs that later ones read may have a site for each output that reads them.
4. Variables that are one another's function cannot be moved apart, so they are one target; so are those of one kind
   that are made from the same inputs, and folded ones of one kind that one output reads, as the carries of a sum and of
   both differences. One that is just the output that alone reads it is no target beside that output.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_LOOKED_AT = 4096  # questions on which variables are compared


@dataclass(frozen=True)
class AlignmentTarget:
    """Variables that need a site, and the outputs that read them from there.

    One that is `optional` may have a site: a switch, or an output put out before, which heads may bring to where it is
    read and which may as well be read where it stands. An output `stands_for` a variable that is the same and has no
    site of its own.
    """

    variables: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    optional: bool = False
    stands_for: tuple[Variable, ...] = ()

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
    SA[1] for A[1]; ST[1] for A[2]; SA[0] for A[0]; ST[0]; SV[0] for A[1]; A[2] for A[2]; A[1] for A[1]; A[0] for A[0]
    """
    found = list[AlignmentTarget]()
    for variable in causal.by_variable:
        if variable.name in required:
            found += _targets(causal, variable, variable.name in folded)
    return (*_joined(causal, found, folded), *_switches(causal))


def merged(one: AlignmentTarget, other: AlignmentTarget) -> AlignmentTarget:
    """Both as one target, whose variables move together."""
    outputs = tuple(dict.fromkeys((*one.outputs, *other.outputs)))
    return AlignmentTarget(tuple(dict.fromkeys((*one.variables, *other.variables))), outputs)


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


def _switches(causal: CausalModel) -> Iterator[AlignmentTarget]:
    # What later outputs read that was put out, or given, as one token for all of them.
    fixed = {variable for variable, _ in causal.fixed}
    given = [each for each in causal.inputs if each.index is None and each not in fixed]
    for switch in (*given, *causal.steering):
        for output in causal.outputs:
            if output != switch and switch in causal.ancestors(output):
                yield AlignmentTarget((switch,), (output,), optional=True)


def _joined(
    causal: CausalModel, targets: Sequence[AlignmentTarget], folded: Collection[str]
) -> Iterator[AlignmentTarget]:
    # Step 3, by looking at many questions: two variables are one another's function if their values pair off.
    values = causal.run(population_of(causal).draw(0, 0, _LOOKED_AT))
    same = {each.outputs[0]: each.variables for each in targets if _is_its_output(causal, each, values)}
    left = [
        replace(each, stands_for=same[each.outputs[0]]) if each.variables[0] in same else each
        for each in targets
        if not _is_its_output(causal, each, values)
    ]
    while left:
        first = left.pop(0)
        for other in list(left):
            one, another = first.variables[0], other.variables[0]
            apart = folded and {one.name, another.name} & set(folded) and first.outputs != other.outputs
            if apart or another in causal.outputs:
                continue
            recoded = _pair_off(values[one], values[another]) and _parents(causal, one) == _parents(causal, another)
            resolved = {one.name, another.name} <= set(folded) and causal.family(one).kind == causal.family(
                another
            ).kind
            if recoded or resolved or _are_one_kind(causal, one, another):
                left.remove(other)
                first = merged(first, other)
        yield first


def _is_its_output(causal: CausalModel, target: AlignmentTarget, values: Values) -> bool:
    # A resolved variable that one output alone reads, and that is the same: the output's own site is its site.
    variable, output = target.variables[0], target.outputs[0]
    alone = len(target.outputs) == 1 and variable not in causal.outputs
    if set(causal.by_variable[variable].parents) <= set(causal.inputs):
        return False
    return alone and variable in causal.by_variable[output].parents and _pair_off(values[variable], values[output])


def _are_one_kind(causal: CausalModel, one: Variable, other: Variable) -> bool:
    # Both say the same kind of thing of the same inputs, as the borrows of D-D' and of D'-D do of a column.
    direct = _parents(causal, one) == _parents(causal, other) <= set(causal.inputs)
    return direct and causal.family(one).kind == causal.family(other).kind and one not in causal.outputs


def _parents(causal: CausalModel, variable: Variable) -> frozenset[Variable]:
    return frozenset(causal.by_variable[variable].parents)


def _pair_off(one: np.ndarray[tuple[int], np.dtype[np.int8]], other: np.ndarray[tuple[int], np.dtype[np.int8]]) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) and len(pairs) > 1
