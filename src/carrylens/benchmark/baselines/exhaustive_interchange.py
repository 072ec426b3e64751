"""Exhaustive interchange: every node takes what it writes for another question, for every variable in turn.

Takes  what a method is given; it uses the algorithm.
Gives  for every node and variable how often an interchange does to the outputs what changing the variable would.
Never  tests sets of nodes, compares with a null, or tells variables of one node apart.

For each variable: draw matched pairs of base and source; interchange each node that could know the variable; the score
is the share of outputs that should change which become the counterfactual ones (interchange intervention accuracy,
Geiger et al. 2021, over those outputs).
"""

from __future__ import annotations

import numpy as np

from carrylens.benchmark.candidates import can_know, candidate_variables
from carrylens.benchmark.known_truth import HeldVariable
from carrylens.benchmark.method_interface import Found, Given
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.tasks.pairs import interchange_pairs

_PAIRS = 64


def score_interchange(given: Given) -> Found:
    """The interchange accuracy of every node that could know each variable."""
    scores: dict[HeldVariable, float] = {}
    variables = candidate_variables(given.causal)
    with Engine(given.model, given.task) as engine:
        for at, variable in enumerate(variables):
            given.progress("interchanging", at, len(variables))
            nodes = [node for node in given.nodes if can_know(given, node, variable)]
            try:
                pairs = interchange_pairs(given.causal, variable, _PAIRS // (1 + given.quick), given.seed)
            except CarryLensError:  # a variable whose value no question can show
                continue
            wanted = given.task.output_ids(pairs.base, pairs.counterfactual())
            due = wanted != given.task.output_ids(pairs.base)
            if not nodes or not due.any():
                continue
            outcomes = engine.run([interchange([node]) for node in nodes], pairs.base, pairs.source)
            hits = np.asarray(outcomes.tokens == wanted)[:, due].mean(-1)
            scores |= {(node, variable): float(hit) for node, hit in zip(nodes, hits, strict=True)}
    return Found(role_scores=scores)
