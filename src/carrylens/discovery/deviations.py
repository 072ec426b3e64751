"""Deviations: on which questions an algorithm fails to say what interventions do, in one simple predicate.

Takes  questions, and for each whether it failed.
Gives  the predicate on one input, or on the question's class, that accounts best for the failures, if one surely does.
Never  confirms a predicate on the questions that it was found with.

1. On half of the questions, of every input at or below, at or above, or equal to a value, and of every class, find the
   predicate whose questions fail most clearly more often than the others.
2. On the other half, keep it if they still do, by Fisher's exact test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.evidence.rates import Rate, p_above
from carrylens.tasks.batches import Batch
from carrylens.tasks.task import Task

_LEVEL = 0.001
_LEAST_SHARE = 0.01  # of the questions, on either side of a predicate


@dataclass(frozen=True)
class Deviation:
    """Where `where` holds, `inside` of the rows fail, elsewhere `outside`; it holds for a `share` of the questions."""

    where: str
    share: float
    inside: Rate
    outside: Rate

    def __str__(self) -> str:
        return (
            f"fails where {self.where} ({self.share:.0%} of questions): {self.inside.value:.2f} there, "
            f"{self.outside.value:.2f} elsewhere"
        )


def find_deviation(task: Task, questions: Batch, failed: NDArray[np.bool_]) -> Deviation | None:
    """The predicate that accounts for the failures, if one was confirmed."""
    half = len(questions) // 2
    found, best = None, 0.0
    for where, holds in _predicates(task, questions):
        inside, outside = _rates(failed[:half], holds[:half])
        gain = abs(inside.value - outside.value) * np.sqrt(min(inside.n, outside.n))
        if inside.value > outside.value and gain > best and min(inside.n, outside.n) >= _LEAST_SHARE * half:
            found, best = (where, holds), gain
    if found is None:
        return None
    where, holds = found
    inside, outside = _rates(failed[half:], holds[half:])
    if p_above(inside, outside) > _LEVEL:
        return None
    return Deviation(where, float(holds.mean()), inside, outside)


def _predicates(task: Task, questions: Batch) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    causal = task.causal
    for variable in questions.inputs:
        column, values = questions.column(variable), sorted(causal.values_of(variable))
        label = causal.family(variable).label
        for value in values[:-1] if len(values) > 2 else ():
            yield f"{variable} <= {label(value)}", column <= value
            yield f"{variable} > {label(value)}", column > value
        for value in values:
            yield f"{variable} = {label(value)}", column == value
    if task.strata is not None:
        strata = task.strata(questions)
        for at, name in enumerate(strata.names):
            yield f"the class is {name}", strata.code == at


def _rates(failed: NDArray[np.bool_], holds: NDArray[np.bool_]) -> tuple[Rate, Rate]:
    return (
        Rate(int((failed & holds).sum()), int(holds.sum())),
        Rate(int((failed & ~holds).sum()), int((~holds).sum())),
    )
