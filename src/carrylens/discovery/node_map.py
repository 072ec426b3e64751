"""The node map: what was found about a model's nodes, as records that are kept.

Takes  what the searches of this room found.
Gives  `NodeMap`: usefulness and behaviour of nodes and places, roles of sets; JSON in and out.
Never  imports torch: a saved map is judged and drawn without a model.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field

from carrylens.discovery.behaviours import Behaviour, PlaceUse
from carrylens.discovery.deviations import Deviation
from carrylens.discovery.map_checks import check_map
from carrylens.errors import CarryLensError
from carrylens.evidence.confidence import stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import Extent, extent_of
from carrylens.json_records import Count, PositiveCount, Schema, Share, to_plain, to_text
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
    classes: dict[str, Rate]

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
class PopulationHit:
    """How often an output became the counterfactual one, of a population's unselected pairs that should show it."""

    population: str
    hit: Rate


@dataclass(frozen=True)
class Role:
    """Moving `nodes` does to one output what moving `variable` would; `token` is the output's place among all.

    `hit` and `null` are those of the confirming split, `p` is corrected. `same_as` names variables that no question
    tells from this one at this output. `fails` says where a partial role fails, if one predicate does; `populations`
    has its hit rates on unselected pairs. `read_as` is said of an optional role: the variable that the output depends
    on, and of which this one tells a part. Maps of earlier versions say none of these.
    """

    nodes: Nodes
    variable: Variable
    token: Count
    hit: Rate
    null: Rate
    p: Share
    same_as: tuple[Variable, ...] = ()
    way: Way = Way.INTERCHANGE
    extent: Extent | UnsetType = UNSET
    fails: Deviation | UnsetType = UNSET
    populations: tuple[PopulationHit, ...] | UnsetType = UNSET
    read_as: Variable | UnsetType = UNSET

    @property
    def confidence(self) -> float:
        """How probable it is that the role is true, by the rule that comes with the package."""
        is_difference = self.way is Way.DIFFERENCE
        return stated_confidence(self.hit, self.null, len(self.nodes), is_difference=is_difference)

    @property
    def is_whole(self) -> bool:
        """Whether the set carries the variable in nearly all questions; else it has a part of it."""
        return extent_of(self.hit) is Extent.WHOLE


@dataclass(frozen=True)
class Order:
    """What became of an interchange of `part` when `whole`, which carries what is made from it, was held as it was.

    `free` is how often the output follows `part_variable` when the set `part` is interchanged, `held` how often it does
    when, besides, the set `whole` writes what it writes untouched: then what `part` writes is withheld from it.
    """

    part: Nodes
    whole: Nodes
    part_variable: Variable
    whole_variable: Variable
    token: Count
    free: Rate
    held: Rate


@dataclass(frozen=True)
class NearMiss:
    """A set that moved an output as a variable would, where no set got the role: its rates on the confirming split.

    Another variable ruled it out on questions that tell the two apart. The set may carry that one alone, or both in one
    write that no interchange can part; so it cannot be said that the variable is carried nowhere.
    """

    nodes: Nodes
    variable: Variable
    token: Count
    hit: Rate
    null: Rate


@dataclass(frozen=True)
class Group:
    """The nodes that carry a variable for one output together; `sets` are minimal, `nodes` all that are in one."""

    variable: Variable
    token: Count
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

    `task` is what the model is for, `causal` the causal model whose variables were looked for. `optional` are roles of
    variables that no output depends on, `orders` what became of withholding a part from what is made of it.
    """

    model: str
    task: Task
    causal: CausalModel
    n_layers: int
    n_heads: int
    nodes: Sequence[Usefulness]
    roles: Sequence[Role]
    stimuli: Mapping[str, object] = dataclasses.field(default_factory=dict)
    behaviours: Sequence[Behaviour] = ()
    places: Sequence[PlaceUse] = ()
    groups: Sequence[Group] = ()
    near_misses: Sequence[NearMiss] = ()
    optional: Sequence[Role] = ()
    orders: Sequence[Order] = ()

    @property
    def useful(self) -> frozenset[Node]:
        """The nodes without which something fails, alone or together with their backups."""
        hidden = {each.node for each in self.behaviours if each.backups is not None and each.backups.is_useful}
        return frozenset(each.node for each in self.nodes if each.is_useful or each.node in hidden)

    @property
    def layer_parts(self) -> tuple[int | None, ...]:
        """What a layer has, in order: its heads by their numbers, then None for its MLP, if there are MLPs."""
        has_mlp = not self.nodes or any(each.node.is_mlp for each in self.nodes)
        return (*range(self.n_heads), *([None] if has_mlp else []))

    def found_parts(self) -> dict[str, Any]:
        """All that was found, as plain data, by the names that files have; near misses only if there are any."""
        plain = to_plain(MapRecord.of(self))
        return {name: plain[name] for name in plain if name not in _HEADER}

    @cached_property
    def sha256(self) -> str:
        """The hash of the map itself, by which what was made from it knows it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """The map as JSON."""
        return to_text(MapRecord.of(self), indent=1) + "\n"

    @classmethod
    def from_json(
        cls, text: str | bytes, find_task: TaskFinder, causal: CausalModel | None = None, source: str = "This"
    ) -> NodeMap:
        """The map that `to_json` wrote; one that cannot be of one model is an error. `source` is what that is about.

        `find_task` turns what the file says of its task into the task. `causal` is needed where the map is of variables
        that the task does not have.
        """
        given = MAP_SCHEMA.decode(text, source)
        with MAP_SCHEMA.refusing(source):
            task = find_task(given.said_of_task)
            parts = {name: getattr(given, name) for name in MapRecord.__struct_fields__ if name not in _HEADER}
            unsaid = {name: () for name in ("near_misses", "optional", "orders") if parts[name] is UNSET}
            found = cls(given.model, task, _causal_of(given, task, causal), **{**parts, **unsaid})
            check_map(found)
        return found


class MapRecord(Struct, frozen=True, kw_only=True):
    """The whole of `map.json`. Files of the first version have an operation and digits instead of a task."""

    model: str
    task: dict[str, Any] | UnsetType = UNSET
    causal: str | UnsetType = UNSET
    operation: str | UnsetType = UNSET
    digits: PositiveCount | UnsetType = UNSET
    n_layers: PositiveCount
    n_heads: PositiveCount
    nodes: tuple[Usefulness, ...]
    roles: tuple[Role, ...]
    stimuli: dict[str, Any] = {}
    behaviours: tuple[Behaviour, ...] = ()
    places: tuple[PlaceUse, ...] = ()
    groups: tuple[Group, ...] = ()
    near_misses: tuple[NearMiss, ...] | UnsetType = field(default=UNSET, name="fallen")
    optional: tuple[Role, ...] | UnsetType = UNSET
    orders: tuple[Order, ...] | UnsetType = UNSET

    @classmethod
    def of(cls, found: NodeMap) -> MapRecord:
        """The record of a map."""
        return cls(
            model=found.model,
            task=dict(found.task.spec),
            causal=fingerprint(found.causal),
            n_layers=found.n_layers,
            n_heads=found.n_heads,
            nodes=tuple(found.nodes),
            roles=tuple(found.roles),
            stimuli=dict(found.stimuli),
            behaviours=tuple(found.behaviours),
            places=tuple(found.places),
            groups=tuple(found.groups),
            near_misses=tuple(found.near_misses) or UNSET,
            optional=tuple(found.optional) or UNSET,
            orders=tuple(found.orders) or UNSET,
        )

    @property
    def said_of_task(self) -> Mapping[str, Any]:
        """What it says of its task."""
        return {"operation": self.operation, "digits": self.digits} if self.task is UNSET else self.task


_HEADER = ("model", "task", "causal", "operation", "digits")
MAP_SCHEMA = Schema(MapRecord, "node map", "Map the model again.")


def _causal_of(given: MapRecord, task: Task, causal: CausalModel | None) -> CausalModel:
    said = task.fingerprint if given.causal is UNSET else given.causal
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
