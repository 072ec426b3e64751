"""The node map: what was found about a model's nodes, as records that are kept.

Takes  what the searches of this room found.
Gives  `NodeMap`: usefulness and behaviour of nodes and places, roles of sets; JSON in and out.
Never  imports torch: a saved map is judged and drawn without a model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import Any

from carrylens.discovery.behaviours import Behaviour, PlaceUse, behaviour_of, place_of, rate_of
from carrylens.discovery.map_checks import check_map
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.fingerprint import fingerprint
from carrylens.tasks.layout import Layout
from carrylens.tasks.task import Task, TaskFinder
from carrylens.tasks.variables import Variable

MAP = "map.json"

Nodes = tuple[Node, ...]


@dataclass(frozen=True)
class Usefulness:
    """What goes wrong without one node; `clean` is how many of the same questions fail anyway.

    `tokens` counts for each output the questions in which one of the two ablations makes it wrong, and it is right
    otherwise; `classes` the questions of each class that fail so.
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

        No statistics are needed for that: the model is evaluated on the same questions with and without the node.
        """
        broken = any(rate.hits for rate in self.classes.values())
        return broken or max(self.mean.hits, self.resample.hits) > self.clean.hits

    def hit_places(self, layout: Layout) -> tuple[str, ...]:
        """The outputs' places that go wrong without the node, and not anyway; none where the map does not say."""
        if not self.tokens:
            return ()
        return tuple(place for place, rate in zip(layout.output_places, self.tokens, strict=True) if rate.hits)

    @property
    def hit_classes(self) -> tuple[str, ...]:
        """The classes of questions that fail without the node, and not anyway."""
        return tuple(name for name, rate in sorted(self.classes.items()) if rate.hits)


class Way(Enum):
    """How it was shown that nodes carry a variable."""

    INTERCHANGE = "swap"
    """An interchange: they take all they hold from another question."""
    DIFFERENCE = "shift"
    """Difference patching: what they hold moves by a difference between two other questions, as it is superposed."""


@dataclass(frozen=True)
class Role:
    """Moving `nodes` does to one output what moving `variable` would; `token` is the output's place among all.

    `hit` and `null` are those of the confirming split, `p` is corrected. `same_as` names variables that no question
    tells from this one at this output.
    """

    nodes: Nodes
    variable: Variable
    token: int
    hit: Rate
    null: Rate
    p: float
    same_as: tuple[Variable, ...] = ()
    way: Way = Way.INTERCHANGE


@dataclass(frozen=True)
class NearMiss:
    """A set that moved an output as a variable would, where no set got the role: its rates on the confirming split.

    Another variable ruled it out on questions that tell the two apart. The set may carry that one alone, or both in one
    write that no interchange can part; so it cannot be said that the variable is carried nowhere.
    """

    nodes: Nodes
    variable: Variable
    token: int
    hit: Rate
    null: Rate


@dataclass(frozen=True)
class Group:
    """The nodes that carry a variable for one output together; `sets` are minimal, `nodes` all that are in one."""

    variable: Variable
    token: int
    sets: tuple[Nodes, ...]

    @property
    def nodes(self) -> Nodes:
        """Every node of every minimal set."""
        return tuple(sorted({node for nodes in self.sets for node in nodes}))

    @property
    def spare(self) -> int:
        """How many of the nodes need not be interchanged, at best, for the variable to move.

        That is not how many the model can lose: none was taken away. It says that the others bring the output along.
        """
        return len(self.nodes) - min(len(nodes) for nodes in self.sets)


@dataclass(frozen=True, eq=False)
class NodeMap:
    """All that was found about one model. `stimuli` says how the questions were drawn, so they can be drawn again.

    `task` is what the model is for, `causal` the causal model whose variables were looked for.
    """

    model: str
    task: Task
    causal: CausalModel
    n_layers: int
    n_heads: int
    nodes: Sequence[Usefulness]
    roles: Sequence[Role]
    stimuli: Mapping[str, object] = field(default_factory=dict)
    behaviours: Sequence[Behaviour] = ()
    places: Sequence[PlaceUse] = ()
    groups: Sequence[Group] = ()
    near_misses: Sequence[NearMiss] = ()

    @property
    def useful(self) -> frozenset[Node]:
        """The nodes without which something fails, alone or together with their backups."""
        hidden = {each.node for each in self.behaviours if each.backups is not None and each.backups.is_useful}
        return frozenset(each.node for each in self.nodes if each.is_useful or each.node in hidden)

    def found_parts(self) -> dict[str, Any]:
        """All that was found, as plain data, by the names that files have; near misses only if there are any."""
        names = ("n_layers", "n_heads", "nodes", "roles", "stimuli", "behaviours", "places", "groups", "near_misses")
        plain = {_SAVED_NAMES.get(name, name): to_plain(getattr(self, name)) for name in names}
        if not self.near_misses:
            del plain[_SAVED_NAMES["near_misses"]]
        return plain

    def to_json(self) -> str:
        """The map as JSON."""
        header = {"model": self.model, "task": dict(self.task.spec), "causal": fingerprint(self.causal)}
        return json.dumps({**header, **self.found_parts()}, indent=1) + "\n"

    @classmethod
    def from_json(
        cls, text: str | bytes, find_task: TaskFinder, causal: CausalModel | None = None, source: str = "This"
    ) -> NodeMap:
        """The map that `to_json` wrote; one that cannot be of one model is an error. `source` is what that is about.

        `find_task` turns what the file says of its task into the task. `causal` is needed where the map is of variables
        that the task does not have.
        """
        try:
            given = json.loads(text)
            task = find_task(given.get("task", given))
            found = cls(
                model=given["model"],
                task=task,
                causal=_causal_of(given, task, causal),
                **{name: given[name] for name in ("n_layers", "n_heads", "stimuli") if name in given},
                nodes=tuple(map(_usefulness, given["nodes"])),
                roles=tuple(map(_role, given["roles"])),
                behaviours=tuple(map(behaviour_of, given.get("behaviours", ()))),
                places=tuple(map(place_of, given.get("places", ()))),
                groups=tuple(map(_group, given.get("groups", ()))),
                near_misses=tuple(map(_near_miss, given.get(_SAVED_NAMES["near_misses"], ()))),
            )
            check_map(found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
            raise CarryLensError(f"{source} is no node map: {why}. Map the model again.") from error
        return found


def _causal_of(given: Mapping[str, Any], task: Task, causal: CausalModel | None) -> CausalModel:
    said = given.get("causal", task.fingerprint)
    for model in (task.causal, *(() if causal is None else (causal,))):
        if said == fingerprint(model):
            return model
    raise CarryLensError(
        "it is of variables that are declared in a file of their own, or were declared otherwise; name that file with "
        "--hypothesis"
    )


def tokens_of(roles: Sequence[Role]) -> dict[tuple[Nodes, Variable], tuple[int, ...]]:
    """For each set and variable the outputs it serves, in their order."""
    found: dict[tuple[Nodes, Variable], set[int]] = {}
    for role in roles:
        found.setdefault((role.nodes, role.variable), set()).add(role.token)
    return {key: tuple(sorted(tokens)) for key, tokens in found.items()}


_SAVED_NAMES = {"near_misses": "fallen", "backups": "stand_ins"}
"""Names of ours that files have another word for."""


def to_plain(value: Any) -> Any:
    """A record as plain data: nodes and variables by name."""
    if isinstance(value, Node | Variable):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {_SAVED_NAMES.get(each.name, each.name): to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _usefulness(given: Mapping[str, Any]) -> Usefulness:
    return Usefulness(
        node=Node.parse(given["node"]),
        **{name: rate_of(given[name]) for name in ("mean", "resample", "clean")},
        tokens=tuple(map(rate_of, given["tokens"])),
        classes={name: rate_of(rate) for name, rate in given["classes"].items()},
    )


def _group(given: Mapping[str, Any]) -> Group:
    return Group(Variable.parse(given["variable"]), given["token"], tuple(map(_nodes, given["sets"])))


def _near_miss(given: Mapping[str, Any]) -> NearMiss:
    rates = {name: rate_of(given[name]) for name in ("hit", "null")}
    return NearMiss(_nodes(given["nodes"]), Variable.parse(given["variable"]), given["token"], **rates)


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
        way=Way(given.get("way", Way.INTERCHANGE.value)),
    )
