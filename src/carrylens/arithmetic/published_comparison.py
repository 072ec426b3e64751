"""Published comparison: what files in the published format say, held against the algorithm and against a map of ours.

Takes  the nodes of `behaviors.json` and `features.json`, their task, a node map where there is one.
Gives  for every variable that the algorithm needs whether it is tagged where it may stand, and by which nodes; how far
       two maps agree.
Never  supports a claim: a tag has neither a rate nor a null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.hypotheses import usual_for
from carrylens.arithmetic.published_map import PublishedNode, role_tag
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.discovery.node_map import NodeMap
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


class TagState(Enum):
    """What becomes of a variable in files that have tags alone."""

    VALID = "tagged where it may stand"
    ELSEWHERE = "tagged elsewhere only"
    MISSING = "not tagged"
    UNSAYABLE = "the format has no tag"


@dataclass(frozen=True)
class TaggedVariable:
    """A variable, the nodes with its tag, and those that carry it by our map: alone, or in a set."""

    variable: Variable
    state: TagState
    nodes: tuple[Node, ...]
    ours: tuple[Node, ...] = ()


@dataclass(frozen=True)
class MapOverlap:
    """How many useful nodes, and pairs of node and variable, both maps have, of all that either has."""

    nodes: tuple[int, int]
    roles: tuple[int, int]


def tagged_variables(
    published: Sequence[PublishedNode], task: ArithmeticTask, ours: NodeMap | None = None
) -> list[TaggedVariable]:
    """Every variable that the usual algorithm needs, but for the answer."""
    stated, carried = usual_for(task), {} if ours is None else _carriers(ours)
    found = []
    for variable in stated.model.by_variable:
        if variable.name in stated.required and variable not in task.causal.outputs:
            nodes = tuple(each.node for each in published if variable in each.roles)
            allowed = stated.valid_positions(variable, None, task.layout)
            found.append(TaggedVariable(variable, _state(variable, nodes, allowed), nodes, carried.get(variable, ())))
    return found


def overlap_of(published: Sequence[PublishedNode], ours: NodeMap) -> MapOverlap:
    """How far the files agree with a map of ours."""
    theirs = {each.node for each in published if each.fail_percent or each.hits or each.roles}
    mine = {(node, variable) for variable, nodes in _carriers(ours).items() for node in nodes if role_tag(variable)}
    tagged = {(each.node, variable) for each in published for variable in each.roles}
    return MapOverlap((len(theirs & ours.useful), len(theirs | ours.useful)), (len(tagged & mine), len(tagged | mine)))


def _state(variable: Variable, nodes: Sequence[Node], allowed: Sequence[int]) -> TagState:
    if role_tag(variable) is None:
        return TagState.UNSAYABLE
    if not nodes:
        return TagState.MISSING
    return TagState.VALID if any(node.position in allowed for node in nodes) else TagState.ELSEWHERE


def _carriers(ours: NodeMap) -> dict[Variable, tuple[Node, ...]]:
    found: dict[Variable, set[Node]] = {}
    for role in ours.roles:
        found.setdefault(role.variable, set()).update(role.nodes)
    return {variable: tuple(sorted(nodes)) for variable, nodes in found.items()}
