"""The slow route to a deserved verdict: interchange every variable that a hypothesis names, wherever it could stand.

What a model computes is known as a causal model, and which outputs read a variable of it from which nodes. For each
variable of the hypothesis, every set of the model's variables of the same column is tried as its carrier. It is one,
for an output, if taking the set's values from other questions does to the output what the hypothesis says of it.
Questions that the model treats in another way, by a switch of its own, are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.benchmark.known_truth import KnownTruth, RunVerdict
from carrylens.tasks.batches import Batch
from carrylens.tasks.interchanged import Taken, interchanged_outputs
from carrylens.tasks.variables import Variable

_COUNT, _ENOUGH = 1200, 25
_SWITCHES, _FOLDED = ("G", "KEY"), ("SV", "MV", "NV")
_MOST_TOGETHER = 3
_EXACT, _MOST = 0.999, 0.9

Readers = Mapping[Variable, tuple[Variable, ...]]


def readers_of(truth: KnownTruth) -> Readers:
    """The outputs that read each variable from some node."""
    found: dict[Variable, set[Variable]] = {}
    for group in truth.groups:
        found.setdefault(group.variable, set()).update(group.outputs)
    return {variable: tuple(sorted(outputs)) for variable, outputs in found.items()}


def verdict_by_interchange(truth: Algorithm, readers: Readers, stated: Algorithm) -> RunVerdict:
    """What a model that computes `truth` deserves to be called under the algorithm `stated`."""
    questions = Population(PopulationKind.ENRICHED, truth.operation, truth.digits).draw(77, 0, _COUNT)
    natural = Population(PopulationKind.NATURAL, truth.operation, truth.digits).draw(77, 0, 20_000)
    side, weight = _sides(truth, questions), _sides(truth, natural)
    outputs = [output for output in stated.outputs if stated.by_variable[output].parents]
    whole, some = 0.0, False
    for value in np.unique(side):
        rows = np.flatnonzero(side == value)
        if len(rows) < _ENOUGH:
            continue
        trial = _Trial(truth, readers, stated, questions[rows])
        held = [output for output in outputs if trial.holds(output)]
        whole += (weight == value).mean() if held == outputs else 0.0
        some |= any(_tells(output, truth.digits) for output in held)
    return RunVerdict.RUNS if round(whole, 2) > _MOST else RunVerdict.IN_PART if some else RunVerdict.DOES_NOT_RUN


def _tells(output: Variable, digits: int) -> bool:
    # Below, carries come through so few columns that hypotheses agree.
    return output.index is None or output.index >= min(3, digits)


def _sides(truth: Algorithm, questions: Batch) -> NDArray[np.int64]:
    values, side = truth.run(questions), np.zeros(len(questions), dtype=np.int64)
    for variable in truth.by_variable:
        if variable.name in _SWITCHES:
            side = 2 * side + np.asarray(values[variable], dtype=np.int64)
    return side


class _Trial:
    """Base questions, each with a source."""

    def __init__(self, truth: Algorithm, readers: Readers, stated: Algorithm, base: Batch) -> None:
        self.truth, self.readers, self.stated, self.base = truth, readers, stated, base
        self.source = np.random.default_rng(0).permutation(len(base))
        self.true_values, self.stated_values = truth.run(base), stated.run(base)
        self.rows = np.ones(len(base), dtype=np.bool_)

    def holds(self, output: Variable) -> bool:
        at = self.stated.outputs.index(output)
        true, said = (interchanged_outputs(each, self.base, [])[:, at] for each in (self.truth, self.stated))
        if (true == said).mean() < _EXACT:
            return False
        needed = [each for each in self.stated.by_variable if each in self.stated.ancestors(output)]
        read = self.stated.by_variable[output].parents
        inner = [each for each in needed if each.name not in _FOLDED or each in read]
        return all(self._is_carried(each, output, at, said) for each in inner if each not in self.stated.outputs)

    def _is_carried(self, variable: Variable, output: Variable, at: int, before: NDArray[np.int8]) -> bool:
        taken = Taken(variable, np.asarray(self.stated_values[variable])[self.source], self.rows, (output,))
        wanted = interchanged_outputs(self.stated, self.base, [taken])[:, at]
        if (wanted == before).all():
            return True  # nothing that could be seen is said of it
        near = [each for each in self.readers if each.index == variable.index and each.name not in _SWITCHES]
        for count in range(1, _MOST_TOGETHER + 1):
            for some in combinations(near, count):
                found = interchanged_outputs(self.truth, self.base, [self._taken(each) for each in some])[:, at]
                telling = (wanted != before) | (found != before)
                if telling.any() and (found == wanted)[telling].mean() >= _EXACT:
                    return True
        return False

    def _taken(self, variable: Variable) -> Taken:
        values = np.asarray(self.true_values[variable])[self.source]
        return Taken(variable, values, self.rows, self.readers[variable])
