"""The node map: what was found about a model's nodes, as records that are kept.

Takes  what the searches of this room found.
Gives  `NodeMap`: usefulness and behaviour of nodes and places, roles of sets; JSON in and out.
Never  imports torch: a saved map is judged and drawn without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from carrylens.arithmetic.questions import Operation
from carrylens.discovery.behaviours import Behaviour, PlaceUse, behaviour_of, place_of, rate_of
from carrylens.discovery.map_checks import check_map
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

MAP = "map.json"

Nodes = tuple[Node, ...]


@dataclass(frozen=True)
class Usefulness:
    """What goes wrong without one node; `clean` is how many of the same questions fail anyway.

    `tokens` counts for each token of the answer, the sign first, the questions in which one of the two ablations makes
    it wrong, and it is right otherwise; `classes` the questions of each class that fail so.
    """

    node: Node
    mean: Rate
    resample: Rate
    clean: Rate
    tokens: tuple[Rate, ...]
    classes: Mapping[str, Rate]

    @property
    def is_useful(self) -> bool:
        """Whether some question that the model answers right fails without it.

        No statistics are needed for that: the same questions are asked with and without the node.
        """
        broken = any(rate.hits for rate in self.classes.values())
        return broken or max(self.mean.hits, self.resample.hits) > self.clean.hits


class Way(Enum):
    """How it was shown that nodes carry a variable."""

    SWAP = "swap"
    """They take all they hold from another question."""
    SHIFT = "shift"
    """What they hold moves by a difference between two other questions: they carry the variable beside others."""


@dataclass(frozen=True)
class Role:
    """Moving `nodes` does to one token of the answer what moving `variable` would; `token` counts from the sign.

    `hit` and `null` are those of the confirming split, `p` is corrected. `same_as` names variables that no question
    tells from this one at this token.
    """

    nodes: Nodes
    variable: Variable
    token: int
    hit: Rate
    null: Rate
    p: float
    same_as: tuple[Variable, ...] = ()
    way: Way = Way.SWAP


@dataclass(frozen=True)
class Fallen:
    """A set that moved a token as a variable would, where no set got the role: its rates on the confirming split.

    It lost to another variable on questions that tell the two apart. It may carry that one alone, or both in a write
    that no swap can part; so nobody can say that the variable is carried nowhere.
    """

    nodes: Nodes
    variable: Variable
    token: int
    hit: Rate
    null: Rate


@dataclass(frozen=True)
class Group:
    """The nodes that carry a variable for one token together; `sets` are minimal, `nodes` all that are in one."""

    variable: Variable
    token: int
    sets: tuple[Nodes, ...]

    @property
    def nodes(self) -> Nodes:
        """Every node of every minimal set."""
        return tuple(sorted({node for nodes in self.sets for node in nodes}))

    @property
    def spare(self) -> int:
        """How many of the nodes need not be swapped, at best, for the variable to move.

        That is not how many the model can lose: nobody took them away. It says that the others bring the token along.
        """
        return len(self.nodes) - min(len(nodes) for nodes in self.sets)


@dataclass(frozen=True)
class NodeMap:
    """All that was found about one model. `stimuli` says how the questions were drawn, so they can be drawn again."""

    model: str
    operation: Operation
    digits: int
    n_layers: int
    n_heads: int
    nodes: Sequence[Usefulness]
    roles: Sequence[Role]
    stimuli: Mapping[str, object] = field(default_factory=dict)
    behaviours: Sequence[Behaviour] = ()
    places: Sequence[PlaceUse] = ()
    groups: Sequence[Group] = ()
    fallen: Sequence[Fallen] = ()

    @property
    def useful(self) -> frozenset[Node]:
        """The nodes without which something fails, alone or together with their stand-ins."""
        hidden = {each.node for each in self.behaviours if each.stand_ins is not None and each.stand_ins.is_useful}
        return frozenset(each.node for each in self.nodes if each.is_useful or each.node in hidden)

    def to_json(self) -> str:
        """The map as JSON; `fallen` only if there are any."""
        plain = _plain(asdict(self))
        if not self.fallen:
            del plain["fallen"]
        return json.dumps(plain, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "This") -> NodeMap:
        """The map that `to_json` wrote; one that cannot be of one model is an error. `source` is what that is about."""
        try:
            given = json.loads(text)
            given["operation"] = Operation(given["operation"])
            given["nodes"] = tuple(map(_usefulness, given["nodes"]))
            given["roles"] = tuple(map(_role, given["roles"]))
            given["behaviours"] = tuple(map(behaviour_of, given.get("behaviours", ())))
            given["places"] = tuple(map(place_of, given.get("places", ())))
            given["groups"] = tuple(map(_group, given.get("groups", ())))
            given["fallen"] = tuple(map(_fallen, given.get("fallen", ())))
            found = cls(**given)
            check_map(found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise CarryLensError(f"{source} is no node map: {why}. Map the model again.") from error
        return found


def tokens_of(roles: Sequence[Role]) -> dict[tuple[Nodes, Variable], tuple[int, ...]]:
    """For each set and variable the tokens it serves, the sign first."""
    found: dict[tuple[Nodes, Variable], set[int]] = {}
    for role in roles:
        found.setdefault((role.nodes, role.variable), set()).add(role.token)
    return {key: tuple(sorted(tokens)) for key, tokens in found.items()}


def _plain(value: Any) -> Any:
    # asdict turns records into dictionaries; nodes and variables are written by name instead.
    if isinstance(value, dict):
        if set(value) == {"position", "layer", "head"}:
            return str(Node(**value))
        if set(value) == {"name", "digit"}:
            return str(Variable(**value))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Operation | Way) else value


def _usefulness(given: Mapping[str, Any]) -> Usefulness:
    return Usefulness(
        node=Node.parse(given["node"]),
        **{name: rate_of(given[name]) for name in ("mean", "resample", "clean")},
        tokens=tuple(map(rate_of, given["tokens"])),
        classes={name: rate_of(rate) for name, rate in given["classes"].items()},
    )


def _group(given: Mapping[str, Any]) -> Group:
    return Group(Variable.parse(given["variable"]), given["token"], tuple(map(_nodes, given["sets"])))


def _fallen(given: Mapping[str, Any]) -> Fallen:
    rates = {name: rate_of(given[name]) for name in ("hit", "null")}
    return Fallen(_nodes(given["nodes"]), Variable.parse(given["variable"]), given["token"], **rates)


def _nodes(names: Sequence[str]) -> Nodes:
    return tuple(sorted(map(Node.parse, names)))


def _role(given: Mapping[str, Any]) -> Role:
    return Role(
        nodes=_nodes(given["nodes"]),
        variable=Variable.parse(given["variable"]),
        token=given["token"],
        hit=rate_of(given["hit"]),
        null=rate_of(given["null"]),
        p=given["p"],
        same_as=tuple(map(Variable.parse, given["same_as"])),
        way=Way(given.get("way", Way.SWAP.value)),
    )
