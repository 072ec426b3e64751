"""Circuit descriptions: which node computes which variable, as a value to read, write and edit.

Takes  variables and nodes by name, or the JSON of a description.
Gives  `CircuitDescription`, which `planting.py` turns into a model and refuses where it cannot work.
Never  checks whether it can: `wiring.py` does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Self

from carrylens.arithmetic.planted.hostile import Hostile
from carrylens.arithmetic.questions import Operation, check_digits
from carrylens.errors import CarryLensError, quote
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

    def of(self, variable: Variable | str) -> tuple[PlantedRole, ...]:
        """The roles of one variable: its copies, and the places it is brought to."""
        wanted = Variable.of(variable)
        return tuple(role for role in self.roles if role.variable == wanted)

    def to_json(self) -> str:
        """The description as JSON, one role a line."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "hostile"}
        plain |= {"operation": self.operation.value, "method": self.method.value}
        plain |= {"hostile": self.hostile.turned()} if self.hostile else {}
        lines = [f"  {json.dumps(key)}: {_printed(value)}" for key, value in plain.items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "The description") -> Self:
        """The description that `text` states; `source` is what an error calls it."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise CarryLensError(
                f"{source} is not JSON ({error}). Write one with carrylens plant --describe."
            ) from error
        names = {each.name for each in fields(cls)}
        if not isinstance(given, dict) or given.keys() - names or not {"operation", "digits", "roles"} <= given.keys():
            raise CarryLensError(
                f"{source} is no circuit description. Give an object with operation, digits, roles and any of "
                f"{', '.join(sorted(names - {'operation', 'digits', 'roles'}))}."
            )
        roles, decoys = (tuple(_roles(given.get(key, []), source)) for key in ("roles", "decoys"))
        return cls(
            **given
            | {"roles": roles, "decoys": decoys}
            | _shape(given, (*roles, *decoys))
            | {"hostile": Hostile.of(given.get("hostile", {}), source)}
            | {"operation": _choice(Operation, given["operation"], source)}
            | {"method": _choice(Method, given.get("method", "left-to-right"), source)}
        )


def _printed(value: Any) -> str:
    if not isinstance(value, tuple):
        return json.dumps(value)
    rows = [json.dumps({"variable": str(r.variable), "nodes": print_nodes(r.nodes)}) for r in value]
    return "[\n    " + ",\n    ".join(rows) + "\n  ]" if rows else "[]"


def _roles(rows: Any, source: str) -> Iterator[PlantedRole]:
    for row in rows if isinstance(rows, list) else [rows]:
        if not isinstance(row, dict) or row.keys() != {"variable", "nodes"} or not all(map(_is_text, row.values())):
            raise CarryLensError(
                f"{source} has the role {quote(json.dumps(row))}. Write it as "
                '{"variable": "ST[3]", "nodes": "P9L0H1 + P9L0MLP"}.'
            )
        role = PlantedRole.of(row["variable"], row["nodes"])
        if not role.nodes:
            raise CarryLensError(f"{source} gives {role.variable} no node. Name at least one, such as P9L0H1.")
        yield role


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _shape(given: dict[str, Any], roles: Sequence[PlantedRole]) -> dict[str, int]:
    nodes = [node for role in roles for node in role.nodes]
    layers = 1 + max((node.layer for node in nodes), default=0)
    heads = 1 + max((node.head or 0 for node in nodes), default=0)
    return {"n_layers": given.get("n_layers", layers), "n_heads": given.get("n_heads", heads)}


def _choice(kind: Any, text: object, source: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        choices = ", ".join(choice.value for choice in kind)
        raise CarryLensError(f"{source} says {quote(str(text))}. Write one of {choices}.") from None
