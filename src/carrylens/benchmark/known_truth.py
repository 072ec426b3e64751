"""Known truth: what every node of a model is for, where that is known for certain.

Takes  groups of nodes that make a variable, edges, decoys, idle nodes, and the verdict that each hypothesis deserves.
Gives  `KnownTruth`: the record that every method is scored against, whatever the task; read from and written to JSON by
       `saved_truth.py`.
Never  looks at a weight, and never imports torch: whoever made the model states it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from carrylens.claims.verdicts import RunVerdict
from carrylens.errors import CarryLensError
from carrylens.nodes import Node, parse_nodes
from carrylens.tasks.variables import Variable

HeldVariable = tuple[Node, Variable]
"""A node and a variable that it carries."""

Directions = tuple[tuple[float, ...], ...]
"""Orthonormal directions in what a node writes: one row each."""


@dataclass(frozen=True)
class TrueGroup:
    """One step in the making of one variable. Each copy suffices; the nodes of one copy do so only together.

    | field | meaning |
    |---|---|
    | `outputs` | the outputs that depend on it |
    | `brings_inputs` | its nodes bring inputs of the variable to where it is made, so that they hold those and not yet the variable |
    | `share` | the share of questions in which the model takes the variable from here; less than 1 behind a gate |
    | `as_whole` | each copy is known to carry the variable as a whole, and which of its nodes do is not known: so it is in models trained under an alignment |
    | `basis` | for nodes that hold the variable in a subspace of what they write, the directions of that subspace |

    >>> sorted(map(str, TrueGroup.of("ST[1]", "P3L0H0 + P3L0H1", "P4L0H0").nodes))
    ['P3L0H0', 'P3L0H1', 'P4L0H0']
    """  # noqa: E501

    variable: Variable
    copies: tuple[tuple[Node, ...], ...]
    outputs: tuple[Variable, ...] = ()
    brings_inputs: bool = False
    share: float = 1.0
    as_whole: bool = False
    basis: Mapping[Node, Directions] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise CarryLensError(f"{self.variable} has a share of {self.share}. Give one above 0 and at most 1.")

    @classmethod
    def of(
        cls,
        variable: Variable | str,
        *copies: str,
        outputs: Sequence[Variable | str] = (),
        brings_inputs: bool = False,
        as_whole: bool = False,
        share: float = 1.0,
    ) -> TrueGroup:
        """The group of the copies that the texts name, such as `P3L0H0 + P3L0MLP`."""
        named, for_outputs = (
            tuple(tuple(sorted(parse_nodes(copy))) for copy in copies),
            tuple(map(Variable.of, outputs)),
        )
        return cls(Variable.of(variable), named, for_outputs, brings_inputs, share, as_whole)

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
    `idle` are nodes that hold nothing a later component reads; None says that all are idle that no group names.
    `deserved` has, for each hypothesis by its name, what the model deserves to be called under it.
    """

    groups: tuple[TrueGroup, ...]
    edges: tuple[TrueEdge, ...] = ()
    decoys: Mapping[Node, frozenset[Variable]] = field(default_factory=dict)
    single_inputs: frozenset[HeldVariable] = frozenset()
    idle: frozenset[Node] | None = None
    deserved: Mapping[str, RunVerdict] = field(default_factory=dict)

    @cached_property
    def roles(self) -> Mapping[Node, frozenset[Variable]]:
        """For every node that matters, the variables it carries; a site known as a whole counts for all its nodes."""
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
