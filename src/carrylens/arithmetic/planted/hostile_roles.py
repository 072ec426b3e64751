"""Hostile roles: where a circuit with hostile dials computes what.

Takes  the roles of the kind circuit, the algorithm to run, hostile dials.
Gives  `HostileDraft`, and through it all roles: some of the kind ones moved or divided, and new ones.
Never  computes a weight.

- spread: STN, STY and STU of column k are made at D'[k] and the two places after it; three heads of layer 1 gather them
  at the last. What reads carries moves one layer up.
- split: each digit's role has a second head.
- cancel: each carry has two more heads beside the first: one that writes its negative, and one that makes up for it.
- backup: each carry has one more head, a layer later, where the answer is then made, too.
- weighted, gate: heads of layer 0 where a token is predicted weigh all columns below; one brings the gate's digit.
- memorised: two heads of layer 0 there bring the largest and the smallest digit of the key columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import position_of, predicting_place
from carrylens.arithmetic.mixtures import G
from carrylens.arithmetic.planted.description import PlantedRole
from carrylens.arithmetic.planted.hostile import Hostile
from carrylens.arithmetic.planted.hostile_algorithm import HALVES, KEY, MN, MX
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.rivals import WEIGHED
from carrylens.arithmetic.variables import D_PRIME, ST
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

WEIGHED_NAMES = tuple(family.name for family, _ in WEIGHED.values())
"""The carries that are read off weighted sums: WS, WM, WN."""

Roles = tuple[PlantedRole, ...]


@dataclass(frozen=True)
class HostileDraft:
    """What the roles depend on: the algorithm, the dials, the decoys that are there already, how columns are fetched.

    `n_copies` is how many copies of every variable there are, `n_sharing` how many heads fetch a column together.
    """

    model: Algorithm
    hostile: Hostile
    decoys: Roles
    n_copies: int = 1
    n_sharing: int = 1

    def roles(self, kind: Roles) -> Roles:
        """All roles, from those of the kind circuit."""
        found = self._spread(kind) if self.hostile.spread else kind
        found = self._split(found) if self.hostile.split else found
        carriers = [role for role in found if role.variable.name in WEIGHED and not role.mlps]
        if self.hostile.cancel:
            found = (*found, *self._cancel(found, carriers))
        if self.hostile.backup:
            later = [self._later(role) if self._makes_token(role) else role for role in found]
            found = (*later, *(self._later(carrier) for carrier in carriers))
        return (*found, *self._routes(found))

    def _spread(self, kind: Roles) -> Roles:
        found: list[PlantedRole] = []
        gather = self._free((), 1)
        for role in kind:
            if role.variable.name == ST.name:
                found += self._column_parts(role.variable, gather)
            elif role.variable.name in WEIGHED or self._makes_token(role):
                found.append(self._later(role))
            else:
                found.append(role)
        return tuple(found)

    def _column_parts(self, column: Variable, gather: int) -> Iterator[PlantedRole]:
        home = position_of(D_PRIME[column.index or 0], self.model.digits)
        parts = self.model.by_variable[column].parents
        for i, part in enumerate(parts):
            heads = {Node(home + i, 0, self.n_sharing * i + j) for j in range(self.n_sharing)}
            yield PlantedRole(part, frozenset({*heads, Node(home + i, 0, None)}))
        yield PlantedRole(column, frozenset(Node(home + 2, 1, gather + i) for i in range(len(parts))))

    def _split(self, roles: Roles) -> Roles:
        free = self._free(roles, 0)
        return tuple(
            replace(
                role,
                nodes=role.nodes | {Node(head.position, head.layer, free + (head.head or 0)) for head in role.heads},
            )
            if role.variable.name in HALVES
            else role
            for role in roles
        )

    def _cancel(self, roles: Roles, carriers: Sequence[PlantedRole]) -> Iterator[PlantedRole]:
        for carrier in carriers:
            (head,) = carrier.heads
            free = self._free(roles, head.layer) + 2 * (head.head or 0)
            yield from (replace(carrier, nodes=frozenset({Node(head.position, head.layer, free + i)})) for i in (0, 1))

    def _routes(self, roles: Roles) -> Iterator[PlantedRole]:
        # What is fetched for other routes, wherever a token that can take one is predicted.
        n_heads = max(self.n_sharing, 1 if self.model.operation is Operation.ADD else 2)
        free = self._free(roles, 0)
        weighs = any(variable.name in WEIGHED_NAMES for variable in self._read)
        single = free + (self.n_copies * n_heads if weighs else 0)
        others = [pair for pair in ((G, G), (MX, KEY), (MN, KEY)) if pair[1].variable in self._read]
        for token in self.model.outputs:
            place, parents = predicting_place(token, self.model.digits), self.model.by_variable[token].parents
            mlp = Node(place, 0, None)
            for variable in (parent for parent in parents if parent.name in WEIGHED_NAMES):
                for copy in range(self.n_copies):
                    heads = {Node(place, 0, free + copy * n_heads + i) for i in range(n_heads)}
                    yield PlantedRole(variable, frozenset({*heads, mlp}))
            for number, (family, chooser) in enumerate(others):
                if chooser.variable in parents:
                    yield PlantedRole(family.variable, frozenset({Node(place, 0, single + number), mlp}))

    @property
    def _read(self) -> set[Variable]:
        return {parent for token in self.model.outputs for parent in self.model.by_variable[token].parents}

    def _makes_token(self, role: PlantedRole) -> bool:
        return role.variable in self.model.outputs and bool(role.mlps)

    def _later(self, role: PlantedRole) -> PlantedRole:
        return replace(role, nodes=frozenset(Node(node.position, node.layer + 1, node.head) for node in role.nodes))

    def _free(self, roles: Roles, layer: int) -> int:
        nodes = [node for role in (*roles, *self.decoys) for node in role.nodes if node.layer == layer]
        return 1 + max((node.head for node in nodes if node.head is not None), default=-1)
