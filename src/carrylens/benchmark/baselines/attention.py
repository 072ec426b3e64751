"""Attention only: a head that looks at the inputs of one index is said to carry the variables made from them.

Takes  what a method is given.
Gives  for every head and variable the share of its attention that it gives to the variable's inputs.
Never  changes anything in the model, and says nothing about MLPs.

A variable is considered at a place if its inputs have been read there and an output that needs it is still to be
predicted. Variables made from inputs of several indices, and indexed outputs, have no inputs of their own to look at.
"""

from __future__ import annotations

import numpy as np

from carrylens.benchmark.candidates import candidate_variables, input_positions, is_useful_at
from carrylens.benchmark.method_interface import Found, Given
from carrylens.discovery.attention import average_pattern

_QUESTIONS = 128


def score_attention(given: Given) -> Found:
    """The average attention of every head to what each variable is made from."""
    questions = given.draw(_QUESTIONS)
    pattern = average_pattern(given.model, given.task, questions)
    scores = {}
    for variable in candidate_variables(given.causal):
        positions = input_positions(given, variable)
        for node in given.nodes if positions else ():
            if node.head is not None and is_useful_at(given, node, variable):
                scores[node, variable] = float(np.sum(pattern[node.layer, node.head, node.position, positions]))
    return Found(role_scores=scores)
