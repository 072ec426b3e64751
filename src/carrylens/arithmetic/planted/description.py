"""Circuit descriptions: which node computes which variable, as a value to read, write and edit.

Takes  variables and nodes by name, or the JSON of a description.
Gives  `CircuitDescription`, which `planting.py` turns into a model and refuses where it cannot work.
Never  checks whether it can: `wiring.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from carrylens.arithmetic.planted.hostile import Hostile
from carrylens.arithmetic.questions import Operation, check_digits
from carrylens.errors import CarryLensError
from carrylens.json_records import Count, PositiveCount, Schema, to_plain, to_text
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.tasks.variables import Variable


class Method(Enum):
    """How a planted model comes by its carries."""

    LEFT_TO_RIGHT = "left-to-right"
    ONE_LAYER = "one-layer"
    RIGHT_TO_LEFT = "right-to-left"
    PLACE_VALUE = "place-value"


@dataclass(frozen=True)
class PlantedRole:
    """One variable and the nodes that compute it together. Several roles with one variable are copies of it.

    >>> str(PlantedRole.of("ST[3]", "P9L0H1 + P9L0MLP"))
    'ST[3] at P9L0H1 + P9L0MLP'
    """

    variable: Variable
    nodes: frozenset[Node]

    @classmethod
    def of(cls, variable: str | Variable, nodes: str) -> PlantedRole:
        """The role of the nodes that `nodes` names."""
        return cls(Variable.of(variable), parse_nodes(nodes))

    @property
    def heads(self) -> tuple[Node, ...]:
        """The heads among the nodes, in order."""
        return tuple(sorted(node for node in self.nodes if not node.is_mlp))

    @property
    def mlps(self) -> tuple[Node, ...]:
        """The MLPs among the nodes, in order."""
        return tuple(sorted(node for node in self.nodes if node.is_mlp))

    @property
    def position(self) -> int:
        """Where the nodes are."""
        return min(node.position for node in self.nodes)

    def __str__(self) -> str:
        return f"{self.variable} at {print_nodes(self.nodes)}"


@dataclass(frozen=True)
class CircuitDescription:
    """All that a planted model is: its shape, its roles, its decoys, and how its weights are finished.

    `noise` is how many of the last heads of every layer only make noise. `width` is chosen if it is None. Roles that
    share a head are polysemy, a role with two heads is sharing, several roles with one variable are redundancy.
    `hostile` dials change what some of the roles' nodes do.
    """

    operation: Operation
    digits: int
    n_layers: int
    n_heads: int
    roles: tuple[PlantedRole, ...]
    decoys: tuple[PlantedRole, ...] = ()
    method: Method = Method.LEFT_TO_RIGHT
    noise: int = 0
    rotated: bool = False
    seed: int = 0
    width: int | None = None
    hostile: Hostile = field(default_factory=Hostile)

    def __post_init__(self) -> None:
        check_digits(self.digits)
        for name, least in (("n_layers", 1), ("n_heads", 1), ("noise", 0), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise CarryLensError(f"{name} is {value!r}. Give a whole number of at least {least}.")
        if self.seed >= 1 << 63:
            raise CarryLensError(f"seed is {self.seed}. Give one below 2^63.")

    def of(self, variable: Variable | str) -> tuple[PlantedRole, ...]:
        """The roles of one variable: its copies, and the places it is brought to."""
        wanted = Variable.of(variable)
        return tuple(role for role in self.roles if role.variable == wanted)

    def to_json(self) -> str:
        """The description as JSON, one role a line."""
        plain = to_plain(DescriptionRecord.of(self))
        lines = [f"  {to_text(key)}: {_printed(value)}" for key, value in plain.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "The description") -> CircuitDescription:
        """The description that `text` states; `source` is what an error calls it."""
        given = _SCHEMA.decode(text, source)
        with _SCHEMA.refusing(source):
            return given.description()


class RoleText(Struct, frozen=True):
    """A planted role as files have it."""

    variable: Variable
    nodes: str

    def __post_init__(self) -> None:
        if not parse_nodes(self.nodes):
            raise CarryLensError(f"{self.variable} has no node. Name at least one, such as P9L0H1")


class DescriptionRecord(Struct, frozen=True, kw_only=True):
    """A circuit description as files have it; layers and heads are as many as the roles need, if nothing is said."""

    operation: Operation
    digits: PositiveCount
    n_layers: PositiveCount | UnsetType = UNSET
    n_heads: PositiveCount | UnsetType = UNSET
    roles: tuple[RoleText, ...]
    decoys: tuple[RoleText, ...] = ()
    method: Method = Method.LEFT_TO_RIGHT
    noise: Count = 0
    rotated: bool = False
    seed: Count = 0
    width: PositiveCount | None = None
    hostile: dict[str, Any] | UnsetType = UNSET

    @classmethod
    def of(cls, description: CircuitDescription) -> DescriptionRecord:
        """The record of a description."""
        given = {field.name: getattr(description, field.name) for field in fields(description)}
        texts = {name: tuple(_text(role) for role in given[name]) for name in ("roles", "decoys")}
        hostile = {"hostile": description.hostile.turned() or UNSET}
        return cls(**{**given, **texts, **hostile})

    def description(self) -> CircuitDescription:
        """The description that it states."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        made = {name: tuple(PlantedRole.of(r.variable, r.nodes) for r in given[name]) for name in ("roles", "decoys")}
        nodes = [node for roles in made.values() for role in roles for node in role.nodes]
        needed = {
            "n_layers": 1 + max((node.layer for node in nodes), default=0),
            "n_heads": 1 + max((node.head or 0 for node in nodes), default=0),
        }
        said = {name: value for name, value in given.items() if value is not UNSET}
        hostile = {"hostile": Hostile.of(said.get("hostile", {}), "it")}
        return CircuitDescription(**{**needed, **said, **made, **hostile})


_SCHEMA = Schema(DescriptionRecord, "circuit description", "Write one with carrylens plant --describe.")


def _text(role: PlantedRole) -> RoleText:
    return RoleText(role.variable, print_nodes(role.nodes))


def _printed(value: Any) -> str:
    if not isinstance(value, list):
        return to_text(value)
    return "[\n    " + ",\n    ".join(map(to_text, value)) + "\n  ]" if value else "[]"
