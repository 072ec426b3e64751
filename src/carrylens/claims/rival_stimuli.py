"""Rival stimuli: interventions and questions for which two hypotheses about one task predict different outputs.

Takes  a task and two hypotheses about it.
Gives  `Distinction`: how the two can be told apart, if at all, with base and source questions of every interchange on
       which they disagree.
Never  runs a network.

1. Untouched questions: the share that the two answer differently.
2. For every variable that one of them requires, find what holds the same value in the other: a variable whose values
   pair off with its own, or a few that are made from the same inputs and pair off together. Within a hypothesis,
   variables that pair off and are both folded, or both not, cannot be moved apart: they move together.
3. Draw pairs in which an interchange of the variable shows. The other hypothesis predicts what an interchange of its
   own variables would give. If it has none, then no component of it reads such a value, so it predicts the base's
   outputs, unless the value follows from one that it has: then it holds the value only together with more.
4. Count the pairs on which the predictions differ, at the outputs that the hypothesis commits itself to: those of a
   folded family need move no others than the outputs that read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch, Column, Columns
from carrylens.tasks.causal import Values
from carrylens.tasks.interchanged import Taken, interchanged_outputs
from carrylens.tasks.pairs import effect_pairs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_QUESTIONS = 4096  # on which answers and values are compared
_VALUES, _CODES = 16, 1 << 20  # more than a variable has, and than there are questions
_MOST_TOGETHER = 3  # variables that may hold together what the other hypothesis holds in one


class ToldApart(Enum):
    """How two hypotheses can be told apart, the strongest first."""

    ANSWERS = "by their answers"
    SHARED = "by what a variable does that both have"
    EXISTENCE = "by a variable that only one of them has"
    SEPARATION = "only by what one holds alone and the other together with more"
    NOTHING = "not at all"


@dataclass(frozen=True, eq=False)
class RivalStimuli:
    """Pairs of questions on which an interchange of `variables`, of the hypothesis `owner`, has two predictions.

    `other` holds the same value in `against`; empty, if that has no such value. `within` are its variables from which
    the value follows. `share` is how many of `n` pairs in which the interchange shows have two predictions; `base` and
    `source` are those pairs, and `predicted` and `against_predicted` what owner and the other one say they give.
    """

    owner: str
    against: str
    variables: tuple[Variable, ...]
    other: tuple[Variable, ...]
    within: tuple[Variable, ...]
    n: int
    base: Batch
    source: Batch
    predicted: Columns
    against_predicted: Columns

    @property
    def share(self) -> float:
        """Of the pairs in which the interchange shows, those on which the two disagree."""
        return len(self.base) / self.n

    @property
    def means(self) -> ToldApart:
        """What sort of difference this is."""
        if self.other:
            return ToldApart.SHARED
        return ToldApart.SEPARATION if self.within else ToldApart.EXISTENCE


@dataclass(frozen=True, eq=False)
class Distinction:
    """How two hypotheses can be told apart: `answers` is the share of untouched questions with different answers."""

    ours: str
    theirs: str
    answers: float
    stimuli: tuple[RivalStimuli, ...]

    @property
    def means(self) -> ToldApart:
        """The strongest difference between the two."""
        if self.answers:
            return ToldApart.ANSWERS
        return min((each.means for each in self.stimuli), key=list(ToldApart).index, default=ToldApart.NOTHING)

    def best(self) -> RivalStimuli | None:
        """The interchange that tells them apart most often, of those of the strongest sort; None without any."""
        order = list(ToldApart).index
        return min(self.stimuli, key=lambda each: (order(each.means), -each.share), default=None)

    def __str__(self) -> str:
        if self.means is ToldApart.NOTHING:
            return f"{self.ours} and {self.theirs} cannot be told apart"
        found = self.best()
        said = f"{self.ours} and {self.theirs} are told apart {self.means.value}"
        if self.means is ToldApart.ANSWERS:
            return f"{said}: {self.answers:.1%} of questions"
        return f"{said}: {found.share:.0%} of interchanges of {_listed(found.variables)}" if found else said


def distinguish(task: Task, ours: Hypothesis, theirs: Hypothesis, n_pairs: int = 128, seed: int = 0) -> Distinction:
    """How the two can be told apart, with stimuli.

    >>> from carrylens.arithmetic import Operation
    >>> from carrylens.arithmetic.hypotheses import hypothesis_called, usual_for
    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> addition = arithmetic_task(Operation.ADD, 3)
    >>> found = distinguish(addition, usual_for(addition), hypothesis_called("weighted-sum add", addition))
    >>> print(found)
    left-to-right add and weighted-sum add are told apart by a variable that only one of them has: 100% of interchanges of ST[2]
    """  # noqa: E501
    for each in (ours, theirs):
        each.check_fits(task)
    questions = population_of(task.causal).draw(seed, 0, _QUESTIONS)
    differ = ours.model.output_values(questions) != theirs.model.output_values(questions)
    found = [
        each
        for owner, other in ((ours, theirs), (theirs, ours))
        for each in _stimuli(_Matching(owner, other, questions), n_pairs, seed)
    ]
    return Distinction(ours.name, theirs.name, float(differ.any(axis=1).mean()), tuple(found))


class _Matching:
    """Which variables of one hypothesis hold what a variable of another one holds."""

    def __init__(self, owner: Hypothesis, other: Hypothesis, questions: Batch) -> None:
        self.owner, self.other = owner, other
        self._mine, self._theirs = owner.model.run(questions), other.model.run(questions)
        self._candidates = [
            each for each in other.model.by_variable if each not in other.model.outputs and _is_used(other, each)
        ]

    def twins(self, variable: Variable) -> tuple[Variable, ...]:
        """The variable, and those of its owner that move together with it."""
        return _twins(self.owner, variable, self._mine)

    def same(self, variable: Variable) -> tuple[Variable, ...]:
        """Variables of the other that hold just the same, as few as can be; one of the same name first."""
        values = self._mine[variable]
        singles = sorted(self._candidates, key=lambda each: each != variable)
        for each in singles:
            if _pair_off(values, self._theirs[each]):
                return _twins(self.other, each, self._theirs)
        beside = self._beside(variable)
        for size in range(2, _MOST_TOGETHER + 1):
            for some in combinations(beside, size):
                if _pair_off(values, self._joint(some)):
                    return some
        return ()

    def within(self, variable: Variable) -> tuple[Variable, ...]:
        """Variables of the other, made from the same inputs, from which the value follows; none if it does not."""
        beside = self._beside(variable)
        return beside if beside and _follows(self._mine[variable], self._joint(beside)) else ()

    def _beside(self, variable: Variable) -> tuple[Variable, ...]:
        inputs = self.owner.model.inputs_of(variable)
        return tuple(each for each in self._candidates if self.other.model.inputs_of(each) == inputs)

    def _joint(self, some: Sequence[Variable]) -> NDArray[np.int64]:
        code = np.zeros(len(self._theirs[some[0]]), dtype=np.int64)
        for each in some:
            code = code * _VALUES + self._theirs[each]
        return np.unique(code, return_inverse=True)[1].reshape(-1)


def _stimuli(matching: _Matching, n_pairs: int, seed: int) -> Iterator[RivalStimuli]:
    owner, other = matching.owner, matching.other
    seen = set[Variable]()
    for variable in owner.model.by_variable:
        if variable.name not in owner.required or variable in owner.model.outputs or variable in seen:
            continue
        moved = matching.twins(variable)
        seen.update(moved)
        try:
            pairs = effect_pairs(owner.model, variable, n_pairs, seed)
        except CarryLensError:  # no answer ever shows it
            continue
        same = matching.same(variable)
        predicted = _predicted(owner, moved, pairs.base, pairs.source)
        against = _predicted(other, same, pairs.base, pairs.source)
        committed = _committed(owner, moved) & _committed(other, same)
        rows = np.flatnonzero(((predicted != against) & committed).any(axis=1))
        if len(rows):
            yield RivalStimuli(
                owner.name,
                other.name,
                moved,
                same,
                () if same else matching.within(variable),
                len(pairs),
                pairs.base[rows],
                pairs.source[rows],
                predicted[rows],
                against[rows],
            )


def _predicted(stated: Hypothesis, variables: Sequence[Variable], base: Batch, source: Batch) -> Columns:
    values, rows = stated.model.run(source), np.ones(len(base), dtype=np.bool_)
    taken = [Taken(each, values[each], rows, _readers(stated, each)) for each in variables]
    return interchanged_outputs(stated.model, base, taken)


def _committed(stated: Hypothesis, variables: Sequence[Variable]) -> NDArray[np.bool_]:
    # The outputs for which the hypothesis says what the interchange does.
    readers = [_readers(stated, each) for each in variables]
    return np.array([all(not some or output in some for some in readers) for output in stated.model.outputs])


def _readers(stated: Hypothesis, variable: Variable) -> tuple[Variable, ...]:
    # The outputs that read a variable of a folded family; for any other none, which stands for all.
    if variable.name not in stated.folded:
        return ()
    return tuple(each for each in stated.model.outputs if variable in stated.model.by_variable[each].parents)


def _twins(stated: Hypothesis, variable: Variable, values: Values) -> tuple[Variable, ...]:
    others = [
        each
        for each in stated.model.by_variable
        if each != variable
        and each.name in stated.required
        and each not in stated.model.outputs
        and (each.name in stated.folded) == (variable.name in stated.folded)
        and _pair_off(values[variable], values[each])
    ]
    return (variable, *others)


def _is_used(stated: Hypothesis, variable: Variable) -> bool:
    return any(variable in stated.model.ancestors(output) for output in stated.model.outputs)


def _pair_off(one: Column | NDArray[np.int64], other: Column | NDArray[np.int64]) -> bool:
    return _follows(one, other) and _follows(other, one) and len(np.unique(one)) > 1


def _follows(value: Column | NDArray[np.int64], given: Column | NDArray[np.int64]) -> bool:
    # Whether `given` decides `value`, which is below 16 or a code of few such.
    both = np.asarray(given, np.int64) * _CODES + value
    return len(np.unique(both)) == len(np.unique(given))


def _listed(variables: Sequence[Variable]) -> str:
    return " with ".join(map(str, variables))
