"""Ours: the map of this package, in the form in which methods are scored.

Takes  a model and the algorithm it is supposed to run.
Gives  the tags and groups of its map, without groups that only bring an operand's digit: a truth does not list those.
Never  adds anything to what `discovery/` found.
"""

from __future__ import annotations

from collections.abc import Iterable

from carrylens.benchmark.method_result import Found, Given, Tag
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import MapSettings, map_model


def map_by_swaps(given: Given) -> Found:
    """What the map says: roles of nodes and of sets of nodes, and groups."""
    settings, causal = MapSettings.chosen(given.seed, quick=given.quick), given.causal
    found = map_model(
        given.model, "planted", causal.operation, settings, store=given.store, watch=given.watch, causal=causal
    ).map
    return found_of(found.roles, [group.nodes for group in found.groups if group.variable in causal.by_variable])


def found_of(roles: Iterable[Role], groups: Iterable[Nodes]) -> Found:
    """Roles by node: every member of a set has the set's role. A set is a group if it was searched for as one."""
    tags = {Tag(node, role.variable, role.token) for role in roles for node in role.nodes}
    return Found(frozenset(tags), frozenset(map(frozenset, groups)))
