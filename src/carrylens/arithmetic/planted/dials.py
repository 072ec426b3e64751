"""Dials: a sensible description for any operation and number of digits, turned to be as ugly as one likes.

Takes  an operation, a number of digits and `Dials`.
Gives  a `CircuitDescription` in which every role is written out, to plant, to read or to edit.
Never  computes a weight.

The circuit, by place:
- D'[k] (or, with a delay, that many places later): a layer-0 head for each of ST, MB, NB fetches column k, the MLP
  makes the tri-state value.
- the place that predicts A[k]: a layer-0 head for each of SA, MD, ND fetches column k, the MLP makes the digit; heads
  fetch OPR and SGN; in the last layer a head for each of SV, MV, NV brings the resolved carry, the MLP combines.
- lazily, that last head resolves the carry itself: it attends to the nearest lower column that is not U. At the tail,
  layer 1 sorts the tri-state values by column, and `=` gathers and resolves all of them in layer 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layout import equals_position, position_of, predicting_place
from carrylens.arithmetic.planted.algorithm_of import causal_model, uses_binary_carry
from carrylens.arithmetic.planted.description import CircuitDescription, Method, PlantedRole
from carrylens.arithmetic.planted.hostile import Hostile, KindDials, check_hostile
from carrylens.arithmetic.planted.hostile_roles import HostileDraft
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, A
from carrylens.errors import CarryLensError
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable


class Carry(Enum):
    """How a column's carry is held: as one value with U, or as two binary ones."""

    TRI_STATE = "tri-state"
    BINARY = "binary"


class Timing(Enum):
    """Where carries are resolved: at the answer, digit by digit, or at `=`, all at once."""

    LAZY = "lazy"
    TAIL = "tail"


class Copies(Enum):
    """Where the copies of a tri-state value are: in other heads of one place, or at other places."""

    HEADS = "heads"
    PLACES = "places"


@dataclass(frozen=True)
class Dials:
    """Everything that can be turned, each independent of the others; the default is the cleanest circuit.

    `redundancy` is how many copies the digits, tri-state values and carries have. `sharing` splits each fetching head
    in two, one for D and one for D'. `polysemy` gives all families one fetching head. `decoys` is how many variables
    of each column are also computed where no component reads them. `noise` is how many heads of each layer are random.
    `delay` is how many places after D'[k] its tri-state value is computed. `hostile` are the dials that mislead.
    """

    redundancy: int = 1
    copies: Copies = Copies.HEADS
    sharing: bool = False
    polysemy: bool = False
    decoys: int = 0
    noise: int = 0
    delay: int = 0
    timing: Timing = Timing.LAZY
    carry: Carry = Carry.TRI_STATE
    rotated: bool = False
    seed: int = 0
    hostile: Hostile = field(default_factory=Hostile)

    def __post_init__(self) -> None:
        for name, least, most in (("redundancy", 1, 9), ("decoys", 0, 3), ("noise", 0, 9), ("delay", 0, 99)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise CarryLensError(f"{name} is {value!r}. Give a whole number from {least} to {most}.")

    @property
    def kind(self) -> KindDials:
        """Which kind dials are turned that hostile ones may not go with."""
        tail, binary = self.timing is Timing.TAIL, self.carry is Carry.BINARY
        return KindDials(self.redundancy > 1, self.sharing, self.delay > 0, tail, binary)


def describe(operation: Operation, digits: int, dials: Dials | None = None) -> CircuitDescription:
    """The left-to-right circuit for `operation`, as the dials say.

    >>> addition = describe(Operation.ADD, 6)
    >>> print(*addition.of("ST[3]"), *addition.of("SA[3]"), *addition.of("SV[2]"), *addition.of("A[3]"), sep="; ")
    ST[3] at P9L0H0 + P9L0MLP; SA[3] at P17L0H0 + P17L0MLP; SV[2] at P17L1H0; A[3] at P17L1MLP
    """
    dials = dials or Dials()
    check_hostile(dials.hostile, operation, digits, dials.kind)
    draft = _Draft(causal_model(operation, digits, dials.carry is Carry.BINARY, dials.hostile), dials)
    decoys = tuple(draft.decoys())
    hostile = HostileDraft(draft.model, dials.hostile, decoys, dials.redundancy, 1 + dials.sharing)
    roles = hostile.roles(tuple(draft.roles()))
    heads = [node.head for role in (*roles, *decoys) for node in role.nodes if node.head is not None]
    return CircuitDescription(
        operation=operation,
        digits=digits,
        n_layers=1 + max(node.layer for role in (*roles, *decoys) for node in role.nodes),
        n_heads=max(heads) + 1 + dials.noise,
        roles=roles,
        decoys=decoys,
        noise=dials.noise,
        rotated=dials.rotated,
        seed=dials.seed,
        hostile=dials.hostile,
    )


def right_to_left(operation: Operation, digits: int) -> CircuitDescription:
    """The schoolbook circuit: each carry where its digit is written, from the carry of the digit before. Refused."""
    letters = {Operation.ADD: "C", Operation.SUB: "B", Operation.MIX: "CB"}[operation]
    roles = [
        PlantedRole(Variable(letter, k), frozenset({Node(predicting_place(A[k], digits), 0, 0)}))
        for letter in letters
        for k in range(digits)
    ]
    roles += [
        PlantedRole(A[k], frozenset({Node(predicting_place(A[k], digits), digits, None)}))
        for k in range(digits, -1, -1)
    ]
    return CircuitDescription(operation, digits, digits + 1, 1, tuple(roles), method=Method.RIGHT_TO_LEFT)


def one_layer(digits: int, dials: Dials | None = None) -> CircuitDescription:
    """Addition by SA and the binary carry of the column below, in one layer: wrong where a carry must pass a 9."""
    dials, roles = dials or Dials(), []
    for k in range(digits, -1, -1):
        place = predicting_place(A[k], digits)
        if k < digits:
            roles.append(PlantedRole(Variable("SA", k), frozenset({Node(place, 0, 0)})))
        if k:
            roles.append(PlantedRole(Variable("SC", k - 1), frozenset({Node(place, 0, 1)})))
        roles.append(PlantedRole(A[k], frozenset({Node(place, 0, None)})))
    return _rival(Method.ONE_LAYER, digits, 2, tuple(roles), dials)


def place_value(digits: int, dials: Dials | None = None) -> CircuitDescription:
    """Addition by one head that weighs columns by powers of ten, and the place value of their sum."""
    dials = dials or Dials()
    roles = [
        PlantedRole(A[k], frozenset({Node(predicting_place(A[k], digits), 0, head) for head in (0, None)}))
        for k in range(digits, -1, -1)
    ]
    return _rival(Method.PLACE_VALUE, digits, 1, tuple(roles), dials)


def _rival(
    method: Method, digits: int, n_heads: int, roles: tuple[PlantedRole, ...], dials: Dials
) -> CircuitDescription:
    kept = Dials(noise=dials.noise, rotated=dials.rotated, seed=dials.seed)
    if dials != kept:
        raise CarryLensError(
            f"A {method.value} plant takes only the dials noise, rotated and seed, and was given others. "
            "Leave those out."
        )
    return CircuitDescription(
        Operation.ADD,
        digits,
        1,
        n_heads + dials.noise,
        roles,
        method=method,
        noise=dials.noise,
        rotated=dials.rotated,
        seed=dials.seed,
    )


@dataclass(frozen=True)
class _Draft:
    model: Algorithm
    dials: Dials

    @property
    def tail(self) -> bool:
        return self.dials.timing is Timing.TAIL

    @property
    def last(self) -> int:
        return 3 if self.tail else 1

    def roles(self) -> Iterator[PlantedRole]:
        for k in range(self.model.digits - 1, -1, -1):
            yield from self._tri_states(k)
        if self.tail:
            resolved = [variable for variable in self.model.by_variable if variable.name in ("SV", "MV", "NV")]
            place = equals_position(self.model.digits)
            yield from (
                PlantedRole(v, frozenset({Node(place, 2, 0), Node(place, 2, None)}))
                for v in resolved
                if self._is_read(v)
            )
        for token in self.model.outputs:
            yield from self._answer(token)

    def decoys(self) -> Iterator[PlantedRole]:
        base = [name for name in ("ST", "SA", "MB", "MD", "NB", "ND") if Variable(name, 0) in self.model.by_variable]
        if uses_binary_carry(self.model):
            base = [
                name for name in ("SC", "SA", "MC", "MD", "NC", "ND") if Variable(name, 0) in self.model.by_variable
            ]
        layer = 2 if self.tail else 1
        for k in range(self.model.digits - 1, -1, -1):
            place = position_of(D_PRIME[k], self.model.digits)
            for head, name in enumerate(base[: self.dials.decoys]):
                yield PlantedRole(Variable(name, k), frozenset({Node(place, layer, head), Node(place, layer, None)}))

    def _is_read(self, variable: Variable) -> bool:
        return any(variable in self.model.by_variable[token].parents for token in self.model.outputs)

    @property
    def _first_reader(self) -> int:
        # The first place that reads a carry: `=` for the sign, or for all at the tail; else the place after it.
        tokens = [token for token in self.model.outputs if self.model.by_variable[token].parents]
        return equals_position(self.model.digits) if self.tail else predicting_place(tokens[0], self.model.digits)

    @property
    def _n_fetching(self) -> int:
        # How many heads of layer 0 fetch columns; the operator and the sign are fetched by those after them.
        families = 1 if self.model.operation is Operation.ADD else 2 if self.model.operation is Operation.SUB else 3
        binary = uses_binary_carry(self.model) and self.model.operation is not Operation.SUB
        n_roles = 1 if self.dials.polysemy else max(families, 2 if binary else 1)
        return n_roles * self.dials.redundancy * (1 + self.dials.sharing)

    def _tri_states(self, k: int) -> Iterator[PlantedRole]:
        # The variables that resolved carries are made of, if any that is read is made of this column's.
        needed = {
            parent
            for variable in self.model.by_variable
            if variable.name in ("SV", "MV", "NV") and self._is_read(variable)
            for parent in self.model.ancestors(variable)
            if parent.index == k and parent.name in ("ST", "MB", "NB", "SC", "S9", "MC", "NC")
        }
        names = [variable for variable in self.model.by_variable if variable in needed]
        home = position_of(D_PRIME[k], self.model.digits) + self.dials.delay
        room = max(0, self._first_reader - position_of(D_PRIME[0], self.model.digits) - self.dials.delay)
        for copy in range(self.dials.redundancy):
            place = home + (min(copy, room) if self.dials.copies is Copies.PLACES else 0)
            for order, variable in enumerate(names):
                together = self.dials.polysemy or variable.name in ("MC", "NC")
                first = (0 if together else order) * self.dials.redundancy + copy
                slot = {Node(place, 1, None)} if self.tail else set()
                yield PlantedRole(variable, self._fetch(place, first) | slot)

    def _answer(self, token: Variable) -> Iterator[PlantedRole]:
        place = predicting_place(token, self.model.digits)
        parents = self.model.by_variable[token].parents
        if not parents:
            return
        digits = [parent for parent in parents if parent.name in ("SA", "MD", "ND")]
        for order, variable in enumerate(digits):
            for copy in range(self.dials.redundancy):
                first = (0 if self.dials.polysemy else order) * self.dials.redundancy + copy
                yield PlantedRole(variable, self._fetch(place, first))
        for order, variable in enumerate(parent for parent in parents if parent in (OPR, SGN)):
            yield PlantedRole(variable, frozenset({Node(place, 0, self._n_fetching + order)}))
        carries = [parent for parent in parents if parent.name in ("SV", "MV", "NV")]
        for order, variable in enumerate(carries):
            for copy in range(self.dials.redundancy):
                yield PlantedRole(variable, frozenset({Node(place, self.last, order * self.dials.redundancy + copy)}))
        yield PlantedRole(token, frozenset({Node(place, self.last, None)}))

    def _fetch(self, place: int, number: int) -> frozenset[Node]:
        heads = (2 * number, 2 * number + 1) if self.dials.sharing else (number,)
        return frozenset({Node(place, 0, None), *(Node(place, 0, head) for head in heads)})
