"""Rival contrast: which questions two algorithms answer differently, untouched or under an interchange intervention.

Takes  a task and two causal models for its questions.
Gives  `RivalContrast`: the share of questions on which their answers differ, the share of pairs on which their
       predictions of an interchange differ, with an example of each.
Never  runs a network.

The interchange: one algorithm's first variable that is made from the inputs of one index alone, and that outputs of
other indices depend on, takes its value from another question; in addition, that is the carry of a column. The other
algorithm's variable of the same description is interchanged beside it. An algorithm that has none predicts nothing.
That is one line for a page. `rival_stimuli.py` looks at every variable, and has stimuli for rivals that answer alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.json_records import Share
from carrylens.tasks.batches import Batch, Columns
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.pairs import effect_pairs
from carrylens.tasks.samplers import Sampler, population_of
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_QUESTIONS = 10_000
_PAIRS = 256


@dataclass(frozen=True)
class RivalContrast:
    """Shares from 0 to 1, None where one of the two predicts nothing. An example is one line, or empty.

    `swapped` names the variables of the interchange. The fields are keys of `claims.json`.
    """

    natural: Share
    enriched: Share
    example: str
    swapped: str
    interchange: Share | None
    interchange_example: str


def contrast_rivals(task: Task, ours: CausalModel, theirs: CausalModel) -> RivalContrast:
    """What tells two algorithms for the same task apart.

    >>> from carrylens.arithmetic import Operation, rivals
    >>> from carrylens.arithmetic.task import arithmetic_task
    >>> addition = arithmetic_task(Operation.ADD, 3)
    >>> told = contrast_rivals(addition, addition.causal, rivals.one_layer(3))
    >>> told.example
    '827+276= is +1103 by left-to-right add, +1003 by one-layer add'
    >>> told.natural < told.enriched
    True
    """
    (natural, first), (enriched, second) = (_answers(task, each, ours, theirs) for each in _samplers(task))
    return RivalContrast(natural, enriched, first or second, *_interchange(task, ours, theirs))


def _samplers(task: Task) -> tuple[Sampler, Sampler]:
    # The natural and the enriched questions; where a task has no such names, its first sampler and the causal model's.
    first = next(iter(task.samplers.values()))
    return task.samplers.get("natural", first), task.samplers.get("enriched", population_of(task.causal))


def _answers(task: Task, sampler: Sampler, ours: CausalModel, theirs: CausalModel) -> tuple[float, str]:
    # The share of questions with different answers, and the first of them.
    questions = sampler.draw(0, 0, _QUESTIONS)
    one, other = ours.output_values(questions), theirs.output_values(questions)
    differ = _differ(one, other)
    if not differ.any():
        return 0.0, ""
    at = int(np.argmax(differ))
    said = f"{_text(task, one, at)} by {ours.name}, {_text(task, other, at)} by {theirs.name}"
    return float(differ.mean()), f"{_question(task, questions, at)} is {said}"


def _interchange(task: Task, ours: CausalModel, theirs: CausalModel) -> tuple[str, float | None, str]:
    variable = _far_reaching(ours, grid_of(ours).size // 2) or _far_reaching(ours, 0)
    if variable is None:
        return "", None, ""
    try:
        pairs = effect_pairs(ours, variable, _PAIRS, seed=0)
    except CarryLensError:  # an algorithm of the user's whose answers never show it
        return "", None, ""
    (index,) = grid_of(ours).indices_of(ours.inputs_of(variable))
    other = _far_reaching(theirs, index)
    if other is None:
        return f"{variable}, for which {theirs.name} has nothing,", None, ""
    named = f"{variable} or {other}"
    given = theirs.output_values(pairs.base, do=theirs.run(pairs.source, read=[other]).pick(other))
    differ = _differ(pairs.expected, given)
    if not differ.any():
        return named, 0.0, ""
    at = int(np.argmax(differ))
    said = f"{_text(task, pairs.expected, at)} by {ours.name}, {_text(task, given, at)} by {theirs.name}"
    base, source = (_question(task, side, at) for side in (pairs.base, pairs.source))
    return named, float(differ.mean()), f"{base} with {source} put in is {said}"


def _far_reaching(model: CausalModel, index: int) -> Variable | None:
    # The first variable made from all inputs of this index, and no others, that an output of another index depends on;
    # where no output has an index, that any output depends on.
    own = {each for each in model.inputs if each.index == index}
    indexed = [output for output in model.outputs if output.index is not None]
    far = [output for output in indexed if output.index != index] if indexed else model.outputs
    for variable in model.by_variable:
        if own and model.inputs_of(variable) == own and any(variable in model.ancestors(output) for output in far):
            return variable
    return None


def _differ(one: Columns, other: Columns) -> NDArray[np.bool_]:
    return np.asarray((one != other).any(axis=1))


def _question(task: Task, questions: Batch, at: int) -> str:
    return task.question_text(questions[at])[0]


def _text(task: Task, outputs: Columns, at: int) -> str:
    return task.layout.output_text(task.layout.output_ids(outputs[at : at + 1]))[0]
