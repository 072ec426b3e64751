"""Deserved verdicts: what a right judge says of every known hypothesis about a planted model.

Takes  a circuit description.
Gives  `DeservedVerdict` for the left-to-right algorithm, for each rival, and for the mixture that the circuit runs.
Never  looks at a model: what runs is known from how it was made.

A hypothesis runs on a question for an output if the variables that it names, each from its parents, make that output
there, whatever values the others are given. `runs`: for every output, on more than nine questions in ten. `runs in
part`: on fewer, or for some outputs only, or with wrong answers to questions of a kind that people ask, however few:
structured ones. `does not run`: for no output at which hypotheses differ. They agree where a
carry comes out of one column, whichever way it is made.

The weighted sum states less than the left-to-right algorithm, not something else: its carries are the resolved ones,
made of the digits in a way that it leaves open. So whatever runs the one holds the other, on every question, and no
verdict on it is deserved there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.hypotheses import rival_algorithms
from carrylens.arithmetic.mixtures import gated, top_digit_below
from carrylens.arithmetic.planted.description import CircuitDescription, Method
from carrylens.arithmetic.planted.hostile import Memorised
from carrylens.arithmetic.rivals import one_layer, weighted_sum
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.tasks.variables import Variable

MOST_QUESTIONS = 0.9
"""A hypothesis that holds on no more questions than this runs in part."""


@dataclass(frozen=True)
class DeservedVerdict:
    """The verdict on one hypothesis: on which share of natural questions it holds, and for which outputs.

    `algorithm` states the hypothesis.
    """

    algorithm: Algorithm
    verdict: RunVerdict
    questions: float
    outputs: tuple[Variable, ...]

    @property
    def hypothesis(self) -> str:
        """The name of the hypothesis."""
        return self.algorithm.name

    def plain(self) -> dict[str, Any]:
        """The verdict, ready for JSON."""
        return {
            "hypothesis": self.hypothesis,
            "verdict": self.verdict.value,
            "questions": self.questions,
            "outputs": [str(output) for output in self.outputs],
        }


def deserved_verdicts(description: CircuitDescription) -> tuple[DeservedVerdict, ...]:
    """The verdict that each known hypothesis deserves, the left-to-right one first."""
    operation, digits, hostile = description.operation, description.digits, description.hostile
    usual, weighed = algorithm(operation, digits), weighted_sum(operation, digits)
    known = [usual, *rival_algorithms(operation, digits), *([] if _resolves_columns(description) else [weighed])]
    mixture = gated(top_digit_below(hostile.gate_limit, digits), usual, weighed) if hostile.gate else None
    found = [_verdict(each, *_holds(each, description)) for each in known if each != mixture]
    if mixture is not None:
        outputs = _outputs(mixture) if not hostile.weighted else _resolving(description)
        found.append(_verdict(mixture, 1.0 - hostile.key_share(digits), outputs))
    return tuple(map(_with_backdoor, found) if hostile.memorised is Memorised.BACKDOOR else found)


def _with_backdoor(deserved: DeservedVerdict) -> DeservedVerdict:
    runs = deserved.verdict is RunVerdict.RUNS
    return replace(deserved, verdict=RunVerdict.IN_PART) if runs else deserved


def _resolves_columns(description: CircuitDescription) -> bool:
    # Whether some carry, on some question, is resolved from what columns say of theirs.
    return description.method is Method.LEFT_TO_RIGHT and description.hostile.weighted < description.digits


def _holds(hypothesis: Algorithm, description: CircuitDescription) -> tuple[float, tuple[Variable, ...]]:
    # On which share of questions the hypothesis holds, and for which outputs.
    operation, digits, hostile = description.operation, description.digits, description.hostile
    if description.method is Method.ONE_LAYER and hypothesis == one_layer(digits):
        return 1.0, _outputs(hypothesis)
    if description.method is not Method.LEFT_TO_RIGHT:
        return 0.0, ()
    usual = 1.0 - hostile.key_share(digits)
    if hypothesis == algorithm(operation, digits):
        return usual * (1.0 - hostile.gate), _resolving(description)
    if hypothesis == weighted_sum(operation, digits):
        return usual, _outputs(hypothesis)
    return 0.0, ()


def _resolving(description: CircuitDescription) -> tuple[Variable, ...]:
    # The outputs whose carries are resolved from columns; of one column's carry it makes no difference.
    operation, digits, n_weighed = description.operation, description.digits, description.hostile.weighted
    model = algorithm(operation, digits)
    found, telling = [], False
    for output in _outputs(model):
        carries = [each.index or 0 for each in model.by_variable[output].parents if each.name in ("SV", "MV", "NV")]
        if all(not carry or carry >= n_weighed for carry in carries):
            found.append(output)
            telling |= any(carry >= min(1, digits - 1) for carry in carries)
    return tuple(found) if telling else ()


def _outputs(model: Algorithm) -> tuple[Variable, ...]:
    return tuple(output for output in model.outputs if model.by_variable[output].parents)


def _verdict(hypothesis: Algorithm, questions: float, outputs: tuple[Variable, ...]) -> DeservedVerdict:
    if not outputs or questions <= 0.0:
        return DeservedVerdict(hypothesis, RunVerdict.DOES_NOT_RUN, 0.0, ())
    whole = outputs == _outputs(hypothesis) and questions > MOST_QUESTIONS
    return DeservedVerdict(hypothesis, RunVerdict.RUNS if whole else RunVerdict.IN_PART, questions, outputs)
