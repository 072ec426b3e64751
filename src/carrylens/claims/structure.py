"""Structure: what a hypothesis needs for one output, and in which order.

Takes  a hypothesis.
Gives  for each output a `TokenNeeds`: the variables that must be carried for it, what each is made from, and how many
       nodes in sequence that takes; which variables are one and the same value.
Never  looks at a map.

From an output up to the inputs:
1. What the output reads directly is needed. So is all else that it depends on, except for folded families.
2. An output that was fed back before, such as a sign, is a token to be read: no component need carry it, and what it
   was made from is not looked at again.
3. Variables that have the same value in every question are one: no stimulus could tell them apart.
4. An output that equals a variable where a gate is open, and ignores it where the gate is closed, does not need it
   beforehand: the gate may act while the output is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_SAMPLE = 1024  # questions of the model's population, in which two variables that ever differ do so


@dataclass(frozen=True)
class TokenNeeds:
    """What one output needs. `steps` is the least number of nodes that must come before a variable's own."""

    token: Variable
    steps: Mapping[Variable, int]
    edges: tuple[tuple[Variable, Variable], ...]


@cache
def needs(hypothesis: Hypothesis) -> tuple[TokenNeeds, ...]:
    """What every output that is not constant needs, in the order in which they are put out."""
    values = value_keys(hypothesis.model)
    return tuple(_token_needs(hypothesis, token) for token in hypothesis.model.outputs if token in values)


@cache
def value_keys(model: CausalModel, drawn_from: CausalModel | None = None) -> Mapping[Variable, bytes]:
    """For every variable that is not constant its values on a fixed sample: those that agree are one value.

    The sample is of the model's own population. To compare two models, draw both `drawn_from` one of them.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SA, SC, ST, SV
    >>> keys = value_keys(algorithm(Operation.ADD, 3))
    >>> keys[ST[0]] == keys[SV[0]], keys[ST[1]] == keys[SC[1]], keys[SV[2]] == keys[SC[2]]
    (True, False, False)
    """
    run = model.run(population_of(drawn_from or model).draw(0, 0, _SAMPLE))
    return {variable: column.tobytes() for variable, column in run.items() if len(np.unique(column)) > 1}


def follows(model: CausalModel, variable: Variable, other_model: CausalModel, other: Variable) -> bool:
    """Whether the value of `variable` follows from that of `other`, on the fixed sample of the other's model.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import SC, ST
    >>> addition = algorithm(Operation.ADD, 3)
    >>> follows(addition, SC[1], addition, ST[1]), follows(addition, ST[1], addition, SC[1])
    (True, False)
    """
    whole, part = value_keys(model, other_model).get(variable), value_keys(other_model).get(other)
    if whole is None or part is None:
        return False
    values, others = (np.frombuffer(key, dtype=np.int8) for key in (whole, part))
    return all(len(np.unique(values[others == value])) == 1 for value in np.unique(others))


@cache
def is_gated(model: CausalModel, variable: Variable, token: Variable, gate: Variable) -> bool:
    """Whether an output reads a variable at one value of the gate only, and has the variable's very value there.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.variables import MV, OPR, SA, SGN, SV, A
    >>> mixed = algorithm(Operation.MIX, 3)
    >>> [is_gated(mixed, variable, token, OPR) for variable, token in ((MV[2], SGN), (SV[2], A[3]), (SA[1], A[1]))]
    [True, True, False]
    """
    if variable not in model.by_variable:
        return False
    questions, clean = _sample(model)
    moved = [model.run(questions, do={variable: value}, read=[token])[token] for value in model.values_of(variable)]
    read = np.any([column != clean[token] for column in moved], axis=0)
    at = questions.column(gate)
    is_open = at == at[read][0] if read.any() else read
    return bool(read.any() and not (read & ~is_open).any() and (clean[variable] == clean[token])[is_open].all())


@cache
def _sample(model: CausalModel) -> tuple[Batch, Values]:
    questions = population_of(model).draw(0, 0, _SAMPLE)
    return questions, model.run(questions)


@cache
def one_name(model: CausalModel) -> Mapping[Variable, Variable]:
    """For every variable the name that its value goes by: an output's if there is one, else the first.

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
    """For every variable that an output depends on all those with its value, itself included, in the model's order."""
    keys = value_keys(model)
    read = frozenset(model.outputs).union(*(model.ancestors(token) for token in model.outputs))
    groups: dict[bytes, list[Variable]] = {}
    for variable in model.variables:
        if variable in keys and variable in read:
            groups.setdefault(keys[variable], []).append(variable)
    return {variable: tuple(group) for group in groups.values() for variable in group}


def is_read_as_token(model: CausalModel, variable: Variable, token: Variable) -> bool:
    """Whether `variable` is an output that stands among the tokens when `token` is predicted."""
    outputs = model.outputs
    return model.fed_back and variable in outputs and outputs.index(variable) < _place(model, token)


def dependencies(model: CausalModel, variable: Variable) -> set[Variable]:
    """The variable and all that it depends on, outputs that are fed back before it taken as they stand."""
    found, waiting = {variable}, [variable]
    while waiting:
        at = waiting.pop()
        if at == variable or not is_read_as_token(model, at, variable):
            parents = model.by_variable[at].parents if at in model.by_variable else ()
            fresh = set(parents) - found
            found |= fresh
            waiting += fresh
    return found


def _place(model: CausalModel, variable: Variable) -> int:
    # Before which output a variable is needed; one that is no output may be needed for the last.
    return model.outputs.index(variable) if variable in model.outputs else len(model.outputs)


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
        if is_read_as_token(model, parent, token):
            continue
        is_input = parent in model.inputs
        far = variable != token and (is_input or parent.name in hypothesis.folded)
        gated = any(is_gated(model, parent, token, gate) for gate in hypothesis.gates)
        wanted = parent.name in hypothesis.required and not far and not gated
        name = names[parent]
        if wanted and name != reader and parent in value_keys(model):
            yield name, reader
        if not is_input:
            yield from _edges(hypothesis, token, parent, name if wanted else reader)
