"""Structure: what a hypothesis needs for one token of the answer, and in which order.

Takes  a hypothesis.
Gives  for each token a `TokenNeeds`: the variables that must be carried for it, what each is made from, and how many
       nodes one after another that takes; which variables are one and the same value.
Never  looks at a map.

From a token up to the question:
1. What the token reads itself is needed. So is all else that it depends on, but for folded families.
2. A part of the answer that was written before, such as the sign, is a token to be read: nobody need carry it, and what
   it was made from is not looked at again.
3. Variables that have the same value in every question are one: no stimulus could tell them apart.
4. A token that is a value where the operator asks for it, and nothing where it does not, need not have it before: the
   operator may have its say at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable

_SAMPLE = 1024  # enriched questions, in which two variables that ever differ do so


@dataclass(frozen=True)
class TokenNeeds:
    """What one token needs. `steps` is how many nodes must come before a variable's own, at the least."""

    token: Variable
    steps: Mapping[Variable, int]
    edges: tuple[tuple[Variable, Variable], ...]


@cache
def needs(hypothesis: Hypothesis) -> tuple[TokenNeeds, ...]:
    """What every token of the answer that is not always the same needs, in the order they are written."""
    values = value_keys(hypothesis.model)
    return tuple(_token_needs(hypothesis, token) for token in hypothesis.model.outputs if token in values)


@cache
def value_keys(model: CausalModel) -> Mapping[Variable, bytes]:
    """For every variable that is not constant its values on a fixed sample: those that agree are one value.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SA, SC, ST, SV
    >>> keys = value_keys(algorithm(Operation.ADD, 3))
    >>> keys[ST[0]] == keys[SV[0]], keys[ST[1]] == keys[SC[1]], keys[SV[2]] == keys[SC[2]]
    (True, False, False)
    """
    questions = Stream(StreamKind.ENRICHED, model.operation, model.digits, seed=0).take(0, _SAMPLE)
    run = model.run(questions)
    return {variable: column.tobytes() for variable, column in run.items() if len(np.unique(column)) > 1}


def follows(model: CausalModel, variable: Variable, other_model: CausalModel, other: Variable) -> bool:
    """Whether the value of `variable` follows from that of `other`, on the fixed sample.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SC, ST
    >>> addition = algorithm(Operation.ADD, 3)
    >>> follows(addition, SC[1], addition, ST[1]), follows(addition, ST[1], addition, SC[1])
    (True, False)
    """
    whole, part = value_keys(model).get(variable), value_keys(other_model).get(other)
    if whole is None or part is None:
        return False
    values, others = (np.frombuffer(key, dtype=np.int8) for key in (whole, part))
    return all(len(np.unique(values[others == value])) == 1 for value in np.unique(others))


@cache
def is_gated(model: CausalModel, variable: Variable, token: Variable) -> bool:
    """Whether a token of a mixed algorithm reads a variable for one operator only, and has its very value there.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import MV, SA, SGN, SV, A
    >>> mixed = algorithm(Operation.MIX, 3)
    >>> is_gated(mixed, MV[2], SGN), is_gated(mixed, SV[2], A[3]), is_gated(mixed, SA[1], A[1])
    (True, True, False)
    """
    if model.operation is not Operation.MIX or variable not in model.by_variable:
        return False
    questions = Stream(StreamKind.ENRICHED, model.operation, model.digits, seed=0).take(0, _SAMPLE)
    clean = model.run(questions)
    moved = [model.run(questions, do={variable: value}, read=[token])[token] for value in variable.values]
    read = np.any([column != clean[token] for column in moved], axis=0)
    asked = questions.minus == questions.minus[read][0] if read.any() else read
    return bool(read.any() and not (read & ~asked).any() and (clean[variable] == clean[token])[asked].all())


@cache
def one_name(model: CausalModel) -> Mapping[Variable, Variable]:
    """For every variable the one that its value is called by: a token of the answer if there is one, else the first.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SV
    >>> names = one_name(algorithm(Operation.ADD, 3))
    >>> str(names[SV[0]]), str(names[SV[1]]), str(names[SV[2]])
    ('ST[0]', 'SV[1]', 'A[3]')
    """
    return {
        variable: next((each for each in model.outputs if each in group), group[0])
        for group in set(same_value(model).values())
        for variable in group
    } | {variable: variable for variable in model.variables if variable not in same_value(model)}


@cache
def same_value(model: CausalModel) -> Mapping[Variable, tuple[Variable, ...]]:
    """For every variable that an answer depends on all those with its value, itself too, in the model's order."""
    keys = value_keys(model)
    read = frozenset(model.outputs).union(*(model.ancestors(token) for token in model.outputs))
    groups: dict[bytes, list[Variable]] = {}
    for variable in model.variables:
        if variable in keys and variable in read:
            groups.setdefault(keys[variable], []).append(variable)
    return {variable: tuple(group) for group in groups.values() for variable in group}


def _token_needs(hypothesis: Hypothesis, token: Variable) -> TokenNeeds:
    edges = tuple(dict.fromkeys(_edges(hypothesis, token, token, token)))
    made_of: dict[Variable, list[Variable]] = {token: []}
    for part, whole in edges:
        made_of.setdefault(part, [])
        made_of.setdefault(whole, []).append(part)
    steps: dict[Variable, int] = {}

    def count(variable: Variable) -> int:
        if variable not in steps:
            steps[variable] = max((1 + count(part) for part in made_of[variable]), default=0)
        return steps[variable]

    return TokenNeeds(token, {variable: count(variable) for variable in made_of}, edges)


def _edges(
    hypothesis: Hypothesis, token: Variable, variable: Variable, reader: Variable
) -> Iterator[tuple[Variable, Variable]]:
    # Every edge between needed variables from `variable` upwards; `reader` is the nearest needed one below.
    model, names = hypothesis.model, one_name(hypothesis.model)
    for parent in model.by_variable[variable].parents:
        if parent in model.outputs:
            continue
        is_input = parent in model.inputs
        far = variable != token and (is_input or parent.name in hypothesis.folded)
        wanted = parent.name in hypothesis.required and not far and not is_gated(model, parent, token)
        name = names[parent]
        if wanted and name != reader and parent in value_keys(model):
            yield name, reader
        if not is_input:
            yield from _edges(hypothesis, token, parent, name if wanted else reader)
