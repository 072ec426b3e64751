"""Attention only: a head that looks at a column is said to carry that column's variables.

Takes  a model and an algorithm.
Gives  for every head and variable the share of its attention that it gives to the variable's inputs.
Never  changes anything in the model, and says nothing about MLPs.

A variable is considered at a place if its inputs have been read there and a token that needs it is still to be written.
Carries out of a column that are resolved from several columns, and answer digits, look at no column of their own.
"""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, D
from carrylens.benchmark.method_result import Given, Scored
from carrylens.benchmark.node_outputs import asked_variables, knows
from carrylens.discovery.attention import average_pattern
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable

N_QUESTIONS = 128


def look(given: Given) -> Scored:
    """The average attention of every head to what each variable is made from."""
    causal = given.causal
    stream = Stream(StreamKind.ENRICHED, causal.operation, causal.digits, given.seed)
    pattern = average_pattern(given.model, stream.take(0, N_QUESTIONS))
    scores = {}
    for variable in asked_variables(causal):
        places = looked_at(causal, variable)
        for node in given.nodes if places else ():
            if node.head is not None and is_open(causal, node, variable):
                scores[node, variable] = float(np.sum(pattern[node.layer, node.head, node.position, places]))
    return Scored(scores)


def looked_at(causal: CausalModel, variable: Variable) -> list[int]:
    """The positions of a variable's inputs: its column's two digits, the operator, or the sign that was written."""
    if variable in (OPR, SGN):
        return [position_of(variable, causal.digits)]
    if variable in causal.outputs or variable.index is None:
        return []
    pair = (D[variable.index], D_PRIME[variable.index])
    return [position_of(v, causal.digits) for v in pair] if causal.by_variable[variable].parents == pair else []


def is_open(causal: CausalModel, node: Node, variable: Variable) -> bool:
    """Whether the node could know the variable, and a token that needs it is predicted there or later."""
    if variable == SGN:
        return node.position >= position_of(SGN, causal.digits)
    needing = [token for token in causal.outputs if variable in causal.ancestors(token)]
    last = max((position_of(token, causal.digits) - 1 for token in needing), default=-1)
    return knows(causal, node, variable) and node.position <= last
