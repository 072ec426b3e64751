"""Map checks: whether a map that was read can be of one model at all.

Takes  a node map as it came from a file.
Gives  nothing if it holds together, else an error that says which part does not.
Never  judges what was found: a map that holds together may still be wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

if TYPE_CHECKING:
    from carrylens.discovery.behaviours import Behaviour
    from carrylens.discovery.node_map import NodeMap


def check_map(found: NodeMap) -> None:
    """Raise an error that says what is wrong, unless all parts are of one model with this task, layers and heads."""
    _Checks(found).check()


class _Checks:
    # What is measured against the map's own task, layers and heads.
    def __init__(self, found: NodeMap) -> None:
        self.found = found
        self.n_tokens = len(found.task.outputs)
        self.places = found.task.layout.place_names
        self.n_positions = found.task.layout.reads.stop
        self.variables = frozenset((*found.task.causal.variables, *found.causal.variables))

    def check(self) -> None:
        self.nodes("the nodes", [each.node for each in self.found.nodes])
        self.uses()
        for at, role in enumerate(self.found.roles):
            self.carried(f"role {at}", role.nodes, (role.variable, *role.same_as), role.token)
        for at, role in enumerate(self.found.optional):
            self.carried(f"optional role {at}", role.nodes, (role.variable,), role.token)
        for at, order in enumerate(self.found.orders):
            for nodes, variable in ((order.part, order.part_variable), (order.whole, order.whole_variable)):
                self.carried(f"order {at}", nodes, (variable,), order.token)
        for at, missed in enumerate(self.found.near_misses):
            self.carried(f"near miss {at}", missed.nodes, (missed.variable,), missed.token)
        for at, group in enumerate(self.found.groups):
            if not group.sets:
                raise CarryLensError(f"group {at} has no sets")
            for nodes in group.sets:
                self.carried(f"group {at}", nodes, (group.variable,), group.token)
        for each in self.found.behaviours:
            self.behaviour(each)

    def uses(self) -> None:
        found = self.found
        for tokens in (*(each.tokens for each in found.nodes), *(each.tokens for each in found.places)):
            if len(tokens) not in (0, self.n_tokens):
                raise CarryLensError(
                    f"it counts failures in {len(tokens)} outputs, but {found.task.name} has {self.n_tokens}"
                )
        for place in found.places:
            if self.places[place.position : place.position + 1] != (place.place,):
                raise CarryLensError(
                    f"position {place.position!r} is called {place.place!r}, which it is not in {found.task.name}"
                )

    def nodes(self, what: str, nodes: Collection[Node]) -> None:
        last = self.n_positions - 1  # a later position is read by no output
        for node in nodes:
            if node.position > last or node.layer >= self.found.n_layers or (node.head or 0) >= self.found.n_heads:
                shape = f"positions 0 to {last}, layers: {self.found.n_layers}, heads: {self.found.n_heads}"
                raise CarryLensError(f"{what} name {node}, which the model does not have ({shape})")
        if len(set(nodes)) < len(nodes):
            raise CarryLensError(f"{what} name a node twice")

    def ordered(self, what: str, nodes: Sequence[Node]) -> None:
        if list(nodes) != sorted(nodes):
            raise CarryLensError(f"{what} are out of order; write them by position, layer and head")

    def carried(self, what: str, nodes: Sequence[Node], variables: Iterable[Variable], token: int) -> None:
        if not nodes:
            raise CarryLensError(f"{what} has no nodes")
        self.nodes(f"the nodes of {what}", nodes)
        self.ordered(f"the nodes of {what}", nodes)
        self.known(what, variables)
        if token >= self.n_tokens:
            raise CarryLensError(f"{what} is for output {token!r}; outputs run from 0 to {self.n_tokens - 1}")

    def known(self, what: str, variables: Iterable[Variable]) -> None:
        for variable in variables:
            if variable not in self.variables:
                raise CarryLensError(f"{what} is about {variable}, which {self.found.causal.name!r} does not have")

    def behaviour(self, seen: Behaviour) -> None:
        what = f"the behaviour of {seen.node}"
        self.nodes(what, (seen.node,))
        self.known(what, (clusters.variable for clusters in seen.clusters))
        for attention in seen.attention:
            for look in attention.looks:
                if look.place not in self.places:
                    raise CarryLensError(f"{what} looks at {look.place!r}, which is not a place")
        if seen.backups is not None:
            self.nodes(f"the backups of {seen.node}", seen.backups.nodes)
