"""Our own method: the node map of this package, in the form in which methods are scored.

Takes  what a method is given.
Gives  the roles and groups of the map, without groups that only bring an input: a known truth does not list those.
Never  adds anything to what `discovery/` found.
"""

from __future__ import annotations

from collections.abc import Iterable

from carrylens.benchmark.method_interface import MethodInput, NodeRole, ReportedCircuit
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import MapSettings, map_model


def map_by_interchange(given: MethodInput) -> ReportedCircuit:
    """What the map says: roles of nodes and of sets of nodes, and groups."""
    settings, causal = MapSettings.chosen(given.seed, quick=given.quick), given.causal
    mapped = map_model(
        given.model, "benchmark", given.task, settings, store=given.store, watch=given.progress, causal=causal
    )
    groups = [group.nodes for group in mapped.map.groups if group.variable in causal.by_variable]
    return as_report(mapped.map.roles, groups)


def as_report(roles: Iterable[Role], groups: Iterable[Nodes]) -> ReportedCircuit:
    """Roles by node: every member of a set has the set's role. A set is a group if it was searched for as one."""
    found = {NodeRole(node, role.variable, role.token) for role in roles for node in role.nodes}
    return ReportedCircuit(frozenset(found), frozenset(map(frozenset, groups)))
