"""The interface of methods: what a method of circuit discovery is given, and what it says.

Takes  a model, its task, and the algorithm it is supposed to run.
Gives  `MethodInput`, what a method may know, and two forms of answer: `ReportedCircuit`, or `NodeScores`, which need a
       threshold to become one.
Never  knows the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from carrylens.discovery.node_search import nodes_of
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.progress import Progress, silent
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class MethodInput:
    """A model, its task, the algorithm it is supposed to run, and how much work a method may do.

    `quick` asks for less evidence. `store` is a file in which a method may keep unfinished work; `progress` is
    told how far it is.
    """

    model: Transformer
    task: Task
    causal: CausalModel
    seed: int = 0
    quick: bool = False
    store: Path | None = None
    progress: Progress = silent

    @property
    def nodes(self) -> list[Node]:
        """Every node of the model whose write some output can depend on."""
        return nodes_of(self.model)


@dataclass(frozen=True)
class NodeRole:
    """A node carries a variable, for one output (by its place among the outputs), or for any of them if None."""

    node: Node
    variable: Variable
    output: int | None = None


class _SavedRole(msgspec.Struct, array_like=True):
    node: str
    variable: str
    output: int | None


class _SavedReport(msgspec.Struct):
    tags: list[_SavedRole]
    groups: list[str]


@dataclass(frozen=True)
class ReportedCircuit:
    """What a method says of a model: roles of single nodes, and the sets of nodes that it says belong together."""

    roles: frozenset[NodeRole] = frozenset()
    groups: frozenset[frozenset[Node]] = frozenset()

    @property
    def by_node(self) -> dict[Node, set[Variable]]:
        """The variables of every node, whatever the output."""
        return variables_by_node(self.roles)

    def plain(self) -> dict[str, Any]:
        """As a file of results has it."""
        ordered = sorted(self.roles, key=lambda each: (each.node, str(each.variable), each.output or 0))
        roles = [_SavedRole(str(each.node), str(each.variable), each.output) for each in ordered]
        return msgspec.to_builtins(_SavedReport(roles, sorted(map(print_nodes, self.groups))))

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> ReportedCircuit:
        """What `plain` gave."""
        saved = msgspec.convert(given, _SavedReport)
        roles = (NodeRole(Node.parse(each.node), Variable.parse(each.variable), each.output) for each in saved.tags)
        return cls(frozenset(roles), frozenset(map(parse_nodes, saved.groups)))


@dataclass(frozen=True)
class NodeScores:
    """A score for every node and variable; what reaches a threshold is a role."""

    scores: Mapping[tuple[Node, Variable], float] = field(default_factory=dict)

    def above(self, threshold: float) -> ReportedCircuit:
        """The roles that reach the threshold. A method of single nodes has no groups."""
        return ReportedCircuit(frozenset(NodeRole(*key) for key, score in self.scores.items() if score >= threshold))


MappingMethod = Callable[[MethodInput], ReportedCircuit]
"""A method that says which nodes carry what."""

ScoringMethod = Callable[[MethodInput], NodeScores]
"""A method that scores every node and variable, and needs a threshold."""


def variables_by_node(roles: Iterable[NodeRole]) -> dict[Node, set[Variable]]:
    """The variables of every node that has any."""
    found: dict[Node, set[Variable]] = {}
    for role in roles:
        found.setdefault(role.node, set()).add(role.variable)
    return found
