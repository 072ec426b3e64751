"""Wiring: who does what in a description.

Takes  a `CircuitDescription` of the left-to-right method.
Gives  `Wiring`, the same roles sorted by what they are for.
Never  checks whether it can work: `wiring_checks.py` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import predicting_place
from carrylens.arithmetic.planted.algorithm_of import BINARY, RESOLVED, TRI_STATE
from carrylens.arithmetic.planted.description import CircuitDescription, PlantedRole
from carrylens.arithmetic.planted.hostile_algorithm import HALVES
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

COLUMN = (*TRI_STATE, *BINARY)
Lane = Mapping[str, PlantedRole]
"""One copy of what a column says about its carry: a role for each variable it is held in."""


@dataclass(frozen=True)
class Wiring:
    """The roles of a description by what they are for. `model` is the algorithm they carry out."""

    description: CircuitDescription
    model: Algorithm

    @property
    def digits(self) -> int:
        """How many digits the operands have."""
        return self.description.digits

    @cached_property
    def tokens(self) -> dict[Variable, int]:
        """The answer's tokens that depend on the question, and where each is predicted."""
        names = [token for token in self.model.outputs if self.model.by_variable[token].parents]
        return {token: predicting_place(token, self.digits) for token in names}

    def parents(self, token: Variable, names: Iterable[str]) -> list[Variable]:
        """Those variables that a token is made of which have one of these names."""
        wanted = set(names)
        return [parent for parent in self.model.by_variable[token].parents if parent.name in wanted]

    @cached_property
    def columns(self) -> dict[str, list[int]]:
        """For S, M and N the columns whose carry some token needs, from the units up."""
        needed: dict[str, int] = {}
        for token in self.tokens:
            for parent in self.parents(token, RESOLVED):
                needed[parent.name[0]] = max(needed.get(parent.name[0], 0), parent.index or 0)
        return {letter: list(range(highest + 1)) for letter, highest in needed.items()}

    def column_variables(self, letter: str, k: int) -> list[Variable]:
        """What column k says about its carry, such as ST[3], or SC[3] and S9[3]."""
        own = self.model.by_variable[Variable(f"{letter}V", k)].parents
        return [parent for parent in own if parent.name in COLUMN]

    def lanes(self, letter: str, k: int) -> list[Lane]:
        """The copies of what column k says about its carry."""
        copies = [self.description.of(variable) for variable in self.column_variables(letter, k)]
        return [{role.variable.name: role for role in lane} for lane in zip(*copies, strict=False)]

    def carriers(self, token: Variable, resolved: Variable) -> list[PlantedRole]:
        """The heads that bring a resolved carry to where a token is predicted, one for each lane."""
        found, hostile = _bringing(self, token, resolved), self.description.hostile
        return found[:1] if hostile.cancel or hostile.backup else found

    def selector(self, token: Variable, variable: Variable) -> Node | None:
        """The head that brings the operator or the sign to where a token is predicted."""
        place = self.tokens[token]
        found = [role for role in self.description.of(variable) if role.position == place and role.heads]
        return found[0].heads[0] if found else None

    def combiner(self, token: Variable) -> Node | None:
        """The MLP that makes a token."""
        found = [role for role in self.description.of(token) if role.position == self.tokens[token] and role.mlps]
        return found[0].mlps[-1] if found else None

    @cached_property
    def resolver(self) -> PlantedRole | None:
        """The head and MLP that resolve all carries at once, if they are not resolved lazily."""
        found = [role for role in self.description.roles if role.variable.name in RESOLVED and role.mlps]
        return found[0] if found else None


def extra_carriers(wiring: Wiring, token: Variable, resolved: Variable) -> dict[str, PlantedRole]:
    """What else brings a carry there: a head that makes up for another, one with the negative, a backup."""
    hostile = wiring.description.hostile
    names = (["makes up", "negative"] if hostile.cancel else []) + (["backup"] if hostile.backup else [])
    return dict(zip(names, _bringing(wiring, token, resolved)[1:], strict=False))


def bringers(wiring: Wiring, token: Variable, resolved: Variable) -> list[tuple[int, Node]]:
    """Every head that brings a carry, with the lane it brings; those that cancel or back up bring the first."""
    first = [(lane, role.heads[0]) for lane, role in enumerate(wiring.carriers(token, resolved))]
    return [*first, *((0, role.heads[0]) for role in extra_carriers(wiring, token, resolved).values())]


def fetched(wiring: Wiring, token: Variable, variable: Variable) -> list[PlantedRole]:
    """The roles that fetch a variable where a token is predicted, and work it out there."""
    return [role for role in wiring.description.of(variable) if role.position == wiring.tokens[token]]


def halves(wiring: Wiring, role: PlantedRole) -> list[PlantedRole]:
    """A role by what its heads fetch: itself, or one for even and one for odd sums where it is split."""
    description = wiring.description
    if not description.hostile.split or role.variable.name not in HALVES or role in description.decoys:
        return [role]
    pair = zip(HALVES[role.variable.name], role.heads, strict=True)
    return [PlantedRole(half[role.variable.index or 0], frozenset({head, *role.mlps})) for half, head in pair]


def _bringing(wiring: Wiring, token: Variable, resolved: Variable) -> list[PlantedRole]:
    place = wiring.tokens[token]
    return [role for role in wiring.description.of(resolved) if role.position == place and not role.mlps]
