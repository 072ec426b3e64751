"""Predicates: gates from what people, and the search for deviations, write about questions.

Takes  a text such as `D[5] <= 2`, `D[5] > 2 and OPR = -` or `the class is S3`.
Gives  the gate that is open where it holds.
Never  runs anything but a comparison: a text is not code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.classes import CLASSES, classify
from carrylens.arithmetic.mixtures import G, Gate
from carrylens.arithmetic.questions import Questions
from carrylens.errors import CarryLensError, quote
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism, Rule
from carrylens.tasks.variables import Variable

_COMPARISON = re.compile(r"(?P<variable>[A-Za-z0-9_']+(?:\[\d+\])?)\s*(?P<sign><=|>=|!=|<|>|=)\s*(?P<value>\S+)")
_CLASS = re.compile(r"the class is (?P<name>[SMN]\d)")
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "<=": operator.le,
        ">=": operator.ge,
        "!=": operator.ne,
        "<": operator.lt,
        ">": operator.gt,
        "=": operator.eq,
    }
)


@dataclass(frozen=True)
class Compared:
    """A rule: do all comparisons hold, each of one parent with one value?

    >>> Compared((("<=", 2), ("=", 1)))(np.array([0, 2, 3]), np.array([1, 0, 1]))
    array([ True, False, False])
    """

    comparisons: tuple[tuple[str, int], ...]

    def __call__(self, *parents: Column) -> NDArray[np.bool_]:
        """True where they do."""
        held = [_COMPARE[sign](each, value) for each, (sign, value) in zip(parents, self.comparisons, strict=True)]
        return np.asarray(np.logical_and.reduce(held))


@dataclass(frozen=True)
class InClass:
    """A rule on all inputs of a question: is it of this class?"""

    name: str

    def __call__(self, *inputs: Column) -> NDArray[np.bool_]:
        """True where it is."""
        digits = len(inputs) // 2
        first, second = (np.stack(side[::-1], axis=1) for side in (inputs[:digits], inputs[digits + 1 :]))
        questions = Questions(first.astype(np.int8), second.astype(np.int8), inputs[digits] == 1)
        return np.asarray(classify(questions).code == [each.value for each in CLASSES].index(self.name))


def gate_where(predicate: str, model: Algorithm) -> Gate:
    """The questions for which the predicate on the variables of `model` holds.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> [str(parent) for parent in gate_where("D[2] <= 4 and ST[1] = U", algorithm(Operation.ADD, 3)).mechanisms[0].parents]
    ['D[2]', 'ST[1]']
    """  # noqa: E501
    text = predicate.strip()
    if match := _CLASS.fullmatch(text):
        if match["name"] not in (names := [each.value for each in CLASSES]):
            raise CarryLensError(f"{quote(match['name'])} is not a class of questions. Write one of {' '.join(names)}.")
        return _gate(model.inputs, InClass(match["name"]))
    parents, comparisons = [], []
    for part in re.split(r"\s+and\s+", text):
        if (match := _COMPARISON.fullmatch(part)) is None:
            raise CarryLensError(
                f"{quote(predicate)} is not a predicate on questions. Write a variable, one of <= >= < > = != and a "
                "value, such as 'D[5] <= 2', several joined by 'and'; or a class, such as 'the class is S3'."
            )
        variable = _variable(match["variable"], model)
        parents.append(variable)
        comparisons.append((match["sign"], _value(match["value"], variable, model)))
    return _gate(tuple(parents), Compared(tuple(comparisons)))


def _gate(parents: tuple[Variable, ...], rule: Rule) -> Gate:
    return Gate((Mechanism(G.variable, parents, rule),))


def _variable(text: str, model: Algorithm) -> Variable:
    variable = Variable.of(text)
    if variable not in model.variables:
        raise CarryLensError(f"{quote(text)} is not a variable of {model.name!r}. Name one, such as {model.inputs[0]}.")
    return variable


def _value(text: str, variable: Variable, model: Algorithm) -> int:
    labels = {model.family(variable).label(value): value for value in model.values_of(variable)}
    if text not in labels:
        raise CarryLensError(f"{variable} is never {quote(text)}. Write one of {' '.join(labels)}.")
    return labels[text]
