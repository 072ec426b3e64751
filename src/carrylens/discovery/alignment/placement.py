"""Placements: which node holds which targets.

Takes  nodes and targets.
Gives  `NodePlacement`, and the alignment that it comes to.
Never  knows a weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrylens.alignment import AlignedSite, Alignment
from carrylens.discovery.alignment.targets import AlignmentTarget
from carrylens.nodes import Node


@dataclass(frozen=True, eq=False)
class NodePlacement:
    """For every node the targets that it holds, as their places among the targets; none, if it is idle.

    A node of one target is interchanged whole, a node of several in the subspace of each.
    """

    held: Mapping[Node, tuple[int, ...]]

    @property
    def placed(self) -> frozenset[int]:
        """The targets that have a node."""
        return frozenset(each for held in self.held.values() for each in held)

    @cached_property
    def size(self) -> int:
        """How many targets all nodes together hold."""
        return sum(map(len, self.held.values()))

    @cached_property
    def n_shared(self) -> int:
        """How many targets stand beside another in their node."""
        return sum(max(0, len(held) - 1) for held in self.held.values())

    def given(self, targets: Mapping[Node, tuple[int, ...]]) -> NodePlacement:
        """The same, but that these nodes hold these targets."""
        return NodePlacement({**self.held, **targets})

    def nodes(self, target: int) -> tuple[Node, ...]:
        """The nodes that hold a target."""
        return tuple(sorted(node for node, held in self.held.items() if target in held))

    def alignment(self, algorithm: str, targets: Sequence[AlignmentTarget]) -> Alignment:
        """The sites of targets that have nodes; nodes that hold several targets make one site of these."""
        sites, left = list[AlignedSite](), sorted(self.placed)
        while left:
            group, nodes = {left[0]}, set[Node]()
            while more := {n for at in group for n in self.nodes(at)} - nodes:
                nodes |= more
                group |= {at for node in more for at in self.held[node]}
            left = [at for at in left if at not in group]
            some = [targets[at] for at in sorted(group)]
            variables = tuple(dict.fromkeys(v for each in some for v in each.variables))
            outputs = tuple(dict.fromkeys(o for each in some for o in each.outputs))
            sites.append(AlignedSite(variables, (tuple(sorted(nodes)),), outputs))
        return Alignment(algorithm, tuple(sites))
