"""Known truth: what every node of a model is for, where that is known for certain.

Takes  groups of nodes that make a variable, edges, and decoys.
Gives  `KnownTruth`: the record that every method is scored against, whatever the task.
Never  looks at a weight: whoever made the model states it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from carrylens.nodes import Node, parse_nodes
from carrylens.tasks.variables import Variable

HeldVariable = tuple[Node, Variable]
"""A node and a variable that it carries."""


@dataclass(frozen=True)
class TrueGroup:
    """One step in the making of one variable. Each copy suffices; the nodes of one copy do so only together.

    `outputs` are the outputs that depend on it. `brings_inputs`: its nodes bring inputs of the variable to where it is
    made, so that they hold those inputs and not yet the variable.

    >>> sorted(map(str, TrueGroup.of("ST[1]", "P3L0H0 + P3L0H1", "P4L0H0").nodes))
    ['P3L0H0', 'P3L0H1', 'P4L0H0']
    """

    variable: Variable
    copies: tuple[tuple[Node, ...], ...]
    outputs: tuple[Variable, ...] = ()
    brings_inputs: bool = False

    @classmethod
    def of(
        cls, variable: Variable | str, *copies: str, outputs: Sequence[Variable | str] = (), brings_inputs: bool = False
    ) -> TrueGroup:
        """The group of the copies that the texts name, such as `P3L0H0 + P3L0MLP`."""
        named = tuple(tuple(sorted(parse_nodes(copy))) for copy in copies)
        return cls(Variable.of(variable), named, tuple(map(Variable.of, outputs)), brings_inputs)

    @cached_property
    def nodes(self) -> frozenset[Node]:
        """Every node of every copy."""
        return frozenset(node for copy in self.copies for node in copy)


@dataclass(frozen=True)
class TrueEdge:
    """What `sender` writes is read by `receiver` at one of its inputs (k, v, mlp), or by the logits if it is None."""

    sender: Node
    receiver: Node | None
    input: str
    variable: Variable


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """All that is true of a model.

    `decoys` are nodes that hold a right value which no later component reads, with the variables they hold.
    `single_inputs` are nodes that bring one of a variable's inputs while a partner brings the others, with that input:
    that such a node carries the input is true, though `groups` list the node under what the input is brought for.
    """

    groups: tuple[TrueGroup, ...]
    edges: tuple[TrueEdge, ...] = ()
    decoys: Mapping[Node, frozenset[Variable]] = field(default_factory=dict)
    single_inputs: frozenset[HeldVariable] = frozenset()

    @cached_property
    def roles(self) -> Mapping[Node, frozenset[Variable]]:
        """For every node that matters, the variables it carries."""
        found: dict[Node, set[Variable]] = {}
        for group in self.groups:
            for node in group.nodes:
                found.setdefault(node, set()).add(group.variable)
        return {node: frozenset(found[node]) for node in sorted(found)}

    @cached_property
    def held(self) -> frozenset[HeldVariable]:
        """Every node with each variable that it carries."""
        return frozenset((node, variable) for node, variables in self.roles.items() for variable in variables)

    @cached_property
    def input_roles(self) -> frozenset[HeldVariable]:
        """The roles of nodes that only bring inputs, with what those are brought for."""
        made = {(node, group.variable) for group in self.groups if not group.brings_inputs for node in group.nodes}
        return self.held - made

    @cached_property
    def redundant_sets(self) -> frozenset[frozenset[Node]]:
        """Every set of nodes that are copies or partners of one another."""
        return frozenset(group.nodes for group in self.groups if len(group.nodes) > 1)
