"""The node search: everything this room finds about a model, in order, as one node map and its facts.

Takes  a model, its task, how much evidence to gather, and a store to go on from.
Gives  `NodeMap` and every measurement as a fact.
Never  writes a file of its own: `map_folder.py` does.

1. Ablate every node, and every place.
2. See where heads look, what writes fall into, and what backups hide.
3. Search for groups of any nodes; then find the roles of useful nodes, of pairs of heads and of groups, all together.
4. Say how much of its variable each carries, where it fails, and how often on unselected pairs.
5. Find roles of variables that no output depends on; withhold parts from what is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from carrylens.discovery.ablations import likely_backups, measure_backups, measure_places, measure_usefulness
from carrylens.discovery.attention import Pattern, average_pattern, top_places
from carrylens.discovery.behaviours import BackupUse, Behaviour, Clusters, PlaceUse
from carrylens.discovery.clusters import clustered_variables, measure_clusters
from carrylens.discovery.described_roles import describe_roles
from carrylens.discovery.groups import GroupSettings, find_groups, group_family, proven_groups, with_roles
from carrylens.discovery.joint_roles import candidate_pairs, joint_roles, without_misfits
from carrylens.discovery.near_misses import find_near_misses
from carrylens.discovery.node_map import Group, NodeMap, Nodes, Role, Usefulness
from carrylens.discovery.optional_roles import find_optional, without_explained
from carrylens.discovery.orders import find_orders
from carrylens.discovery.roles import SetFamily, find_families, searched_claims
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.discovery.stimulus_spec import (
    MADE_FOR,
    MADE_FOR_OUTPUT,
    SPECIFICATION,
    Split,
    StimulusSpec,
    plain_specs,
    specify,
)
from carrylens.evidence.facts import Fact
from carrylens.interventions.engine import Engine
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes, print_nodes
from carrylens.progress import Progress, silent
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import interchange_digests
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_HOLD = 768 << 20  # bytes: the group search runs the same pairs over and over
_POPULATION = "enriched"
"""What files call the population that stimuli come from."""


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
    roles: RoleSettings = field(default_factory=RoleSettings)
    group_search: GroupSettings = field(default_factory=GroupSettings)
    seed: int = 0

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> MapSettings:
        """The usual settings, or about a third of the work."""
        if not quick:
            return cls(roles=RoleSettings(seed=seed), group_search=GroupSettings(seed=_group_seed(seed)), seed=seed)
        roles = RoleSettings(n_find=32, n_confirm=48, n_compete=24, level=0.01, seed=seed)
        search = GroupSettings(n_find=24, n_orders=3, seed=_group_seed(seed))
        return cls(96, 96, 96, 32, 199, roles=roles, group_search=search, seed=seed)

    def specifications(self) -> dict[Split, StimulusSpec]:
        """The stimuli of every split."""
        groups = StimulusSpec(self.group_search.n_find, self.group_search.seed)
        return {each: groups if each is Split.GROUPS else self.roles.stimuli(each) for each in Split}

    def plain(self) -> dict[str, object]:
        """The settings as plain data."""
        return asdict(self)


def _group_seed(seed: int) -> int:
    return specify(Split.GROUPS, seed, 0).seed


@dataclass(frozen=True)
class Mapped:
    """A map and every measurement behind it."""

    map: NodeMap
    facts: tuple[Fact, ...]


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """The questions that a model is evaluated on under ablation, and those that fills come from."""

    questions: Batch
    reference: Batch
    patterns: Mapping[str, Pattern]


def map_model(
    model: Transformer,
    name: str,
    task: Task,
    settings: MapSettings,
    *,
    store: Path | None = None,
    watch: Progress = silent,
    about: Mapping[str, object] | None = None,
    causal: CausalModel | None = None,
) -> Mapped:
    """The map of a model: variables of `causal`, or of the task's own. `about` is kept beside the settings."""
    facts: list[Fact] = []
    with Engine(model, task, hold=_HOLD) as engine:
        search = SearchContext(engine, causal or task.causal, settings.roles, store, watch, facts.append)
        every = nodes_of(model)
        evaluated = _evaluation(model, task, settings)
        given = {"questions": evaluated.questions, "reference": evaluated.reference, "store": store}
        nodes = measure_usefulness(engine, every, **given, watch=partial(watch, "ablating nodes"))  # type: ignore[arg-type]
        places = measure_places(engine, every, **given, watch=partial(watch, "ablating places"))  # type: ignore[arg-type]
        backups = _backups(search, every, evaluated)
        hidden = {node for node, found in backups.items() if found.is_useful}
        useful = sorted({each.node for each in nodes if each.is_useful} | hidden)
        clusters = _clusters(model, task, useful, settings, watch)
        behaviours = [_behaviour(task, node, evaluated, clusters, backups, settings.n_attention) for node in useful]
        facts += _ablation_facts(nodes, places, backups, settings)
        roles, groups = find_carried(search, useful, (evaluated.questions, evaluated.reference), settings)
        roles = describe_roles(search, roles)
        optional = find_optional(search, [(node,) for node in useful], roles)
        roles = without_explained(roles, optional)
        groups = [group for group in (with_roles(each, roles) for each in groups) if group.sets]
        orders = find_orders(search, roles)
    found = NodeMap(
        name,
        task,
        search.causal,
        model.config.n_layers,
        model.config.n_heads,
        tuple(nodes),
        tuple(roles),
        {
            **(about or {}),
            "stream": _POPULATION,
            "settings": settings.plain(),
            SPECIFICATION: plain_specs(settings.specifications()),
            MADE_FOR: MADE_FOR_OUTPUT,
        },
        behaviours=tuple(behaviours),
        places=tuple(places),
        groups=tuple(groups),
        near_misses=tuple(find_near_misses(facts, roles)),
        optional=tuple(optional),
        orders=tuple(orders),
    )
    return Mapped(found, tuple(facts))


def nodes_of(model: Transformer) -> list[Node]:
    """Every node of a model whose write some output can depend on."""
    config = model.config
    return all_nodes(config.reads.stop, config.n_layers, config.n_heads, has_mlp=config.d_mlp > 0)


def find_carried(
    search: SearchContext, useful: list[Node], evaluated: tuple[Batch, Batch], settings: MapSettings
) -> tuple[list[Role], list[Group]]:
    """What nodes carry: useful ones alone, pairs of heads, groups of any nodes.

    `evaluated` are questions and reference questions, to see which pairs of heads back each other up.
    """
    every = nodes_of(search.engine.model)
    groups = _groups(search, every, settings) if settings.groups else []
    pairs = candidate_pairs(search, every, useful, *evaluated, drawn=_drawn(settings)) if settings.pairs else []
    families = [SetFamily([(node,) for node in useful]), SetFamily(pairs), _alone(groups, useful), group_family(groups)]
    single, joint, alone, grouped = find_families(search, families)
    tested = frozenset(useful)
    roles = [*single, *joint_roles(search, joint, tested=tested, single=single), *alone]
    groups, together = proven_groups(
        groups, joint_roles(search, grouped, tested=tested, single=[*single, *alone]), roles, search.causal.inputs
    )
    known = {(role.nodes, role.variable, role.token) for role in roles}
    roles += [role for role in together if (role.nodes, role.variable, role.token) not in known]
    roles = without_misfits(roles, search.causal, search.layout)
    roles = [role for role in roles if role.hit.value >= search.settings.least_share]
    kept = [with_roles(group, roles) for group in groups]
    return roles, [group for group in kept if group.sets]


def _alone(found: Sequence[Group], useful: list[Node]) -> SetFamily:
    # Nodes that seemed to do alone, though answers stand without them.
    only: dict[Nodes, set[Variable]] = {}
    for group in found:
        for nodes in group.sets:
            if len(nodes) == 1 and nodes[0] not in useful:
                only.setdefault(nodes, set()).add(group.variable)
    return SetFamily(sorted(only), only)


def _groups(search: SearchContext, nodes: list[Node], settings: MapSettings) -> list[Group]:
    # Of variables that are equivalent at an output, one is searched for.
    claims = {
        (interchange_digests(search.causal)[variable][token], token): (variable, token)
        for variable, token in reversed(list(searched_claims(search.causal)))
    }
    steps = [find_groups(search, *claim, nodes, settings.group_search) for claim in reversed(claims.values())]
    return [group for groups in search.together(steps, "looking for groups") for group in groups]


def evaluation_questions(task: Task, settings: MapSettings) -> tuple[Batch, Batch]:
    """The questions that ablations are evaluated on, and those that fills come from."""
    population = population_of(task.causal)
    questions = population.draw(settings.seed, 0, settings.n_questions)
    return questions, population.draw(settings.seed, settings.n_questions, settings.n_reference)


def _evaluation(model: Transformer, task: Task, settings: MapSettings) -> _Evaluation:
    patterns = {
        each.name: average_pattern(model, task, each.population.draw(settings.seed, 0, settings.n_attention))
        for each in task.watched
    }
    return _Evaluation(*evaluation_questions(task, settings), patterns)


def _backups(search: SearchContext, every: list[Node], evaluated: _Evaluation) -> dict[Node, BackupUse]:
    patterns = tuple(evaluated.patterns.values())
    wanted = {node: likely_backups(node, every, patterns) for node in every}
    watch = partial(search.progress, "ablating nodes with their backups")
    return measure_backups(
        search.engine, wanted, evaluated.questions, evaluated.reference, store=search.store, watch=watch
    )


def _clusters(
    model: Transformer, task: Task, nodes: Sequence[Node], settings: MapSettings, watch: Progress
) -> list[dict[Node, Clusters]]:
    found, wanted = [], clustered_variables(task)
    for at, each in enumerate(wanted):
        found.append(measure_clusters(model, task, each, nodes, settings.per_class, settings.n_shuffles, settings.seed))
        watch("looking for clusters", at + 1, len(wanted))
    return found


def _behaviour(
    task: Task,
    node: Node,
    evaluated: _Evaluation,
    clusters: Sequence[Mapping[Node, Clusters]],
    backups: Mapping[Node, BackupUse],
    n_attention: int,
) -> Behaviour:
    looks = (
        top_places(pattern, node, condition, task.layout.place_names, n_attention)
        for condition, pattern in evaluated.patterns.items()
        if not node.is_mlp
    )
    return Behaviour(node, tuple(looks), tuple(each[node] for each in clusters if node in each), backups.get(node))


def _drawn(settings: MapSettings) -> dict[str, object]:
    # How the questions of ablations are drawn; the reference follows them in the population.
    counts = {"n": settings.n_questions, "reference": settings.n_reference}
    return {"stream": _POPULATION, **counts, "seed": settings.seed}


def _ablation_facts(
    nodes: Sequence[Usefulness],
    places: Sequence[PlaceUse],
    backups: Mapping[Node, BackupUse],
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
    for node, found in backups.items():
        about = {"nodes": str(node), "stand_ins": print_nodes(found.nodes), "null": "stand-ins alone"}
        facts.append(Fact("ablate with stand-ins", {**about, "fill": "mean"}, found.mean, found.mean_alone, drawn))
        resampled = (found.resample, found.resample_alone)
        facts.append(Fact("ablate with stand-ins", {**about, "fill": "resample"}, *resampled, drawn))
    return facts
