"""Comparing: how much of a planted circuit a map has found, and how much of the map is true.

Takes  a `Truth`, and a map: variables by node, and groups of nodes that belong together.
Gives  the score that any method gets for it.
Never  counts by itself: `benchmark/scores.py` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.method_interface import Found, FoundRole
from carrylens.benchmark.scores import CircuitScore, score_roles
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


def compare(
    truth: Truth, found: Mapping[Node, Collection[Variable]], groups: Iterable[Collection[Node]] = ()
) -> CircuitScore:
    """How well a map fits the truth of a planted model: `roles` up to equivalent variables, `strict` without."""
    roles = tuple(FoundRole.of(node, variable) for node, variables in found.items() for variable in variables)
    report = Found(roles, frozenset(map(frozenset, groups)))
    return score_roles(known_truth(truth), model_of(truth.description), report)
