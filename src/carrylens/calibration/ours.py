"""Ours: the map of this package, in the form in which methods are scored.

Takes  a model and the algorithm it is supposed to run.
Gives  the tags and groups of its map, without groups that only bring an operand's digit: a truth does not list those.
Never  adds anything to what `discovery/` found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from carrylens.arithmetic.algorithms import algorithm
from carrylens.calibration.found import Found, Given, Tag
from carrylens.discovery.groups import Group, GroupSettings, find_groups
from carrylens.discovery.mapping import MapSettings, map_model
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.roles import find_roles, readable_variables
from carrylens.interventions.engine import Engine


def map_by_swaps(given: Given) -> Found:
    """What the map says: roles of nodes and of sets of nodes, and groups."""
    settings = MapSettings.chosen(given.seed, quick=given.quick)
    groups = {(group.nodes, group.variable) for group in map_groups(given) if len(group.nodes) > 1}
    sets = sorted({nodes for nodes, _ in groups})
    together = [role for role in _roles_of(given, sets, settings) if (role.nodes, role.variable) in groups]
    computed = {role.nodes for role in together if role.variable in given.causal.by_variable}
    return found_of([*map_roles(given, settings), *together], computed)


def found_of(roles: Iterable[Role], groups: Iterable[Nodes]) -> Found:
    """Roles by node: every member of a set has the set's role. A set is a group if it was searched for as one."""
    tags = {Tag(node, role.variable, role.token) for role in roles for node in role.nodes}
    return Found(frozenset(tags), frozenset(map(frozenset, groups)))


def map_roles(given: Given, settings: MapSettings) -> Sequence[Role]:
    """The roles of the map. An algorithm that is not the usual one is asked for on the map's useful nodes."""
    causal = given.causal
    found = map_model(given.model, "planted", causal.operation, settings, store=given.store, watch=given.watch).map
    if causal is algorithm(causal.operation, causal.digits):
        return found.roles
    return _roles_of(given, [(node,) for node in sorted(found.useful)], settings)


def map_groups(given: Given) -> list[Group]:
    """The groups of every variable."""
    engine, settings = Engine(given.model), GroupSettings(seed=given.seed)
    wanted, found = list(readable_variables(given.causal)), list[Group]()
    for at, variable in enumerate(wanted):
        found += find_groups(engine, given.causal, variable, given.nodes, settings, given.store)
        if given.watch is not None:
            given.watch("looking for groups", at + 1, len(wanted))
    return found


def _roles_of(given: Given, sets: Sequence[Nodes], settings: MapSettings) -> list[Role]:
    if not sets:
        return []
    engine = Engine(given.model)
    return find_roles(engine, given.causal, sets, settings.roles, store=given.store, watch=given.watch)
