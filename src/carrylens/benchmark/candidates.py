"""Candidates: which variables a circuit may hold, where each can be known, and where its inputs stand.

Takes  what a method is given.
Gives  variables, positions, and whether a node could hold a variable at all.
Never  looks at the model.

Two sorts of variable have a place of their own to be looked at:
1. A token by itself: an input without an index (a switch), and an output that is fed back and has no index or is read
   by later outputs.
2. The inputs of one index, for a variable whose rule reads just those, in whatever order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.timeline import first_computable
from carrylens.tasks.variables import Variable

if TYPE_CHECKING:
    from carrylens.benchmark.method_interface import Given


def candidate_variables(causal: CausalModel) -> list[Variable]:
    """The variables that a circuit may hold: outputs, what they are computed from, and switches that are read."""
    needed = frozenset[Variable]().union(*(causal.ancestors(output) | {output} for output in causal.outputs))
    switches = (each for each in causal.inputs if each.index is None)
    return [variable for variable in (*switches, *causal.by_variable) if variable in needed]


def can_know(given: Given, node: Node, variable: Variable) -> bool:
    """Whether the node stands where the variable's last input has been read."""
    return node.position >= first_computable(given.causal, given.task.layout, variable)


def token_position(given: Given, variable: Variable) -> int | None:
    """Where a variable stands that is a token by itself; None for all others."""
    causal, layout = given.causal, given.task.layout
    if variable.index is not None and variable not in causal.steering:
        return None
    if variable in causal.outputs:
        return layout.read_position(variable) + 1 if layout.is_fed_back else None
    return layout.arrival_of(variable) if variable in causal.inputs else None


def input_positions(given: Given, variable: Variable) -> list[int]:
    """Where a head must look that brings what the variable is made from; nowhere for variables of other sorts."""
    causal, own = given.causal, token_position(given, variable)
    if own is not None:
        return [own]
    if variable in causal.outputs or variable.index is None:
        return []
    inputs = tuple(each for each in causal.inputs if each.index == variable.index)
    reads = set(causal.by_variable[variable].parents) == set(inputs)
    return [given.task.layout.arrival_of(each) for each in inputs] if reads else []


def is_useful_at(given: Given, node: Node, variable: Variable) -> bool:
    """Whether the node could know the variable, and an output that needs it is predicted there or later."""
    causal, layout = given.causal, given.task.layout
    own = token_position(given, variable)
    if own is not None and variable in causal.outputs:
        return node.position >= own
    needing = [output for output in causal.outputs if variable in causal.ancestors(output)]
    last = max((layout.read_position(output) for output in needing), default=-1)
    return can_know(given, node, variable) and node.position <= last
