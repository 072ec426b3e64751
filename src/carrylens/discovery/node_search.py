"""Mapping: everything this room finds about a model, in order, as one node map and its facts.

Takes  a model, its operation, how much evidence to gather, and a store to go on from.
Gives  `NodeMap` and every measurement as a fact.
Never  writes a file of its own: `map_folder.py` does.

1. Ablate every node, and every place.
2. See where heads look, what writes fall into, and what stand-ins hide.
3. Find the roles of useful nodes, then those of pairs of heads, then groups of any nodes and their roles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.alike import fingerprints
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.model_shapes import digits_of
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.ablations import likely_stand_ins, measure_places, measure_stand_ins, measure_usefulness
from carrylens.discovery.attention import Pattern, average_pattern, operations_of, top_places
from carrylens.discovery.behaviours import Behaviour, Clusters, PlaceUse, StandIns
from carrylens.discovery.clusters import class_variables, measure_clusters
from carrylens.discovery.groups import GroupSettings, find_groups, proven_groups, with_roles
from carrylens.discovery.joint_roles import candidate_pairs, find_joint_roles, without_misfits
from carrylens.discovery.near_misses import find_fallen
from carrylens.discovery.node_map import Group, NodeMap, Nodes, Role, Usefulness
from carrylens.discovery.roles import find_roles, readable_variables
from carrylens.discovery.settings import Note, Settings, Watch
from carrylens.evidence.facts import Fact
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes, print_nodes

_HOLD = 256 << 20  # bytes: the group search asks the same pairs over and over


@dataclass(frozen=True)
class MapSettings:
    """How much evidence a map is made from; `roles` says how much for roles."""

    n_questions: int = 256
    n_reference: int = 256
    n_attention: int = 256
    per_class: int = 64
    n_shuffles: int = 199
    pairs: bool = True
    groups: bool = True
    roles: Settings = field(default_factory=Settings)
    group_search: GroupSettings = field(default_factory=GroupSettings)
    seed: int = 0

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> MapSettings:
        """The usual settings, or about a third of the work."""
        if not quick:
            return cls(roles=Settings(seed=seed), group_search=GroupSettings(seed=4 * seed + 1), seed=seed)
        roles = Settings(n_find=32, n_confirm=48, n_compete=24, level=0.01, seed=seed)
        search = GroupSettings(n_find=24, n_orders=3, seed=4 * seed + 1)
        return cls(96, 96, 96, 32, 199, roles=roles, group_search=search, seed=seed)

    def plain(self) -> dict[str, object]:
        """The settings as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Mapped:
    """A map and every measurement behind it."""

    map: NodeMap
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class _Asked:
    """The questions that are asked under ablation, and those that fills come from."""

    questions: Questions
    reference: Questions
    patterns: Mapping[Operation, Pattern]


def map_model(
    model: Transformer,
    name: str,
    operation: Operation,
    settings: MapSettings,
    *,
    store: Path | None = None,
    watch: Watch | None = None,
    about: Mapping[str, object] | None = None,
    causal: CausalModel | None = None,
) -> Mapped:
    """The map of a model: variables of `causal`, or of the usual algorithm. `about` is kept beside the settings."""
    say: Watch = watch or (lambda _what, _done, _all: None)
    config, engine = model.config, Engine(model, hold=_HOLD)
    shape = (config.n_ctx - 1, config.n_layers, config.n_heads)  # nobody reads the last position
    asked = _ask(model, operation, settings)
    given = {"questions": asked.questions, "reference": asked.reference, "store": store}
    nodes = measure_usefulness(engine, all_nodes(*shape), **given, watch=partial(say, "ablating nodes"))  # type: ignore[arg-type]
    places = measure_places(engine, shape, **given, watch=partial(say, "ablating places"))  # type: ignore[arg-type]
    stand_ins = _stand_ins(engine, shape, asked, store, say)
    hidden = {node for node, found in stand_ins.items() if found.is_useful}
    useful = sorted({each.node for each in nodes if each.is_useful} | hidden)
    clusters = _clusters(model, operation, useful, settings, say)
    behaviours = [_behaviour(node, asked, clusters, stand_ins, settings.n_attention) for node in useful]
    causal = causal or algorithm(operation, digits_of(config))
    facts = list(_ablation_facts(nodes, places, stand_ins, settings))
    both = (asked.questions, asked.reference)
    roles, groups = find_carried(engine, causal, useful, both, settings, store=store, watch=say, note=facts.append)
    engine.close()
    stimuli = {**(about or {}), "stream": StreamKind.ENRICHED.value, "settings": settings.plain()}
    found = NodeMap(
        *(name, operation, digits_of(config), config.n_layers, config.n_heads, tuple(nodes), tuple(roles), stimuli),
        behaviours=tuple(behaviours),
        places=tuple(places),
        groups=tuple(groups),
        fallen=tuple(find_fallen(facts, roles)),
    )
    return Mapped(found, tuple(facts))


def find_carried(
    engine: Engine,
    causal: CausalModel,
    useful: list[Node],
    asked: tuple[Questions, Questions],
    settings: MapSettings,
    *,
    store: Path | None = None,
    watch: Watch | None = None,
    note: Note | None = None,
) -> tuple[list[Role], list[Group]]:
    """What nodes carry: useful ones alone, then pairs of heads, then groups of any nodes.

    `asked` are questions and reference questions, to see which pairs of heads stand in for each other.
    """
    say: Watch = watch or (lambda _what, _done, _all: None)
    config = engine.model.config
    every, groups = list(all_nodes(config.n_ctx - 1, config.n_layers, config.n_heads)), list[Group]()
    roles = find_roles(engine, causal, [(node,) for node in useful], settings.roles, store=store, watch=say, note=note)
    told = partial(find_joint_roles, engine, causal, settings=settings.roles, store=store, note=note)
    told = partial(told, tested=frozenset(useful), single=tuple(roles))
    if settings.pairs:
        pairs = candidate_pairs(engine, every, useful, *asked, store=store, note=note, drawn=_drawn(settings))
        roles += told(pairs, watch=partial(_of, "pairs", say))
    if settings.groups:
        found = _groups(engine, causal, every, settings, store, say)
        roles += _alone(
            found, useful, partial(find_roles, engine, causal, settings=settings.roles, store=store, note=note)
        )
        told = partial(told, single=tuple(role for role in roles if len(role.nodes) == 1))
        groups, together = proven_groups(found, roles, causal.inputs, partial(told, watch=partial(_of, "groups", say)))
        known = {(role.nodes, role.variable, role.token) for role in roles}
        roles += [role for role in together if (role.nodes, role.variable, role.token) not in known]
    roles = without_misfits(roles, causal)
    kept = [with_roles(group, roles) for group in groups]
    return roles, [group for group in kept if group.sets]


def _alone(found: Sequence[Group], useful: list[Node], test: Callable[..., list[Role]]) -> list[Role]:
    # The roles of nodes that seemed to do alone, though answers stand without them: nobody asked those yet.
    only: dict[Nodes, set[Variable]] = {}
    for group in found:
        for nodes in group.sets:
            if len(nodes) == 1 and nodes[0] not in useful:
                only.setdefault(nodes, set()).add(group.variable)
    return test(sets=sorted(only), only=only) if only else []


def _of(whose: str, say: Watch, what: str, done: int, total: int) -> None:
    say(f"{what} of {whose}", done, total)


def _groups(
    engine: Engine, causal: CausalModel, nodes: list[Node], settings: MapSettings, store: Path | None, say: Watch
) -> list[Group]:
    # Of variables that are alike at every token, one is searched for.
    prints = fingerprints(causal)
    variables = list({prints[variable]: variable for variable in reversed([*readable_variables(causal)])}.values())[
        ::-1
    ]
    found: list[Group] = []
    for at, variable in enumerate(variables):
        found += find_groups(engine, causal, variable, nodes, settings.group_search, store)
        say("looking for groups", at + 1, len(variables))
    return found


def asked_questions(operation: Operation, digits: int, settings: MapSettings) -> tuple[Questions, Questions]:
    """The questions that are asked under ablation, and those that fills come from."""
    stream = Stream(StreamKind.ENRICHED, operation, digits, settings.seed)
    return stream.take(0, settings.n_questions), stream.take(settings.n_questions, settings.n_reference)


def _ask(model: Transformer, operation: Operation, settings: MapSettings) -> _Asked:
    digits = digits_of(model.config)
    patterns = {
        each: average_pattern(
            model, Stream(StreamKind.ENRICHED, each, digits, settings.seed).take(0, settings.n_attention)
        )
        for each in operations_of(operation)
    }
    return _Asked(*asked_questions(operation, digits, settings), patterns)


def _stand_ins(
    engine: Engine, shape: tuple[int, int, int], asked: _Asked, store: Path | None, say: Watch
) -> dict[Node, StandIns]:
    patterns = tuple(asked.patterns.values())
    wanted = {node: likely_stand_ins(node, shape, patterns) for node in all_nodes(*shape)}
    watch = partial(say, "ablating nodes with their stand-ins")
    return measure_stand_ins(engine, wanted, asked.questions, asked.reference, store=store, watch=watch)


def _clusters(
    model: Transformer, operation: Operation, nodes: Sequence[Node], settings: MapSettings, say: Watch
) -> list[dict[Node, Clusters]]:
    found, variables = [], class_variables(operation, digits_of(model.config))
    for at, variable in enumerate(variables):
        found.append(measure_clusters(model, variable, nodes, settings.per_class, settings.n_shuffles, settings.seed))
        say("looking for clusters", at + 1, len(variables))
    return found


def _behaviour(
    node: Node,
    asked: _Asked,
    clusters: Sequence[Mapping[Node, Clusters]],
    stand_ins: Mapping[Node, StandIns],
    n_attention: int,
) -> Behaviour:
    looks = (
        top_places(pattern, node, operation, asked.questions.digits, n_attention)
        for operation, pattern in asked.patterns.items()
        if not node.is_mlp
    )
    return Behaviour(node, tuple(looks), tuple(each[node] for each in clusters if node in each), stand_ins.get(node))


def _drawn(settings: MapSettings) -> dict[str, object]:
    # How the questions of ablations are drawn; the reference follows them in the stream.
    counts = {"n": settings.n_questions, "reference": settings.n_reference}
    return {"stream": StreamKind.ENRICHED.value, **counts, "seed": settings.seed}


def _ablation_facts(
    nodes: Sequence[Usefulness],
    places: Sequence[PlaceUse],
    stand_ins: Mapping[Node, StandIns],
    settings: MapSettings,
) -> list[Fact]:
    """What ablations did, beside the same questions without them."""
    drawn = _drawn(settings)
    facts = []
    for each in nodes:
        for fill, rate in (("mean", each.mean), ("resample", each.resample)):
            facts.append(Fact("ablate", {"nodes": str(each.node), "fill": fill}, rate, each.clean, drawn))
    for use in places:
        for fill, rate in (("mean", use.mean), ("resample", use.resample)):
            facts.append(Fact("ablate place", {"place": use.place, "fill": fill}, rate, use.clean, drawn))
    for node, found in stand_ins.items():
        about = {"nodes": str(node), "stand_ins": print_nodes(found.nodes), "null": "stand-ins alone"}
        facts.append(Fact("ablate with stand-ins", {**about, "fill": "mean"}, found.mean, found.mean_alone, drawn))
        resampled = (found.resample, found.resample_alone)
        facts.append(Fact("ablate with stand-ins", {**about, "fill": "resample"}, *resampled, drawn))
    return facts
