"""Our own method: the node map of this package and its verdicts, in the form in which methods are scored.

Takes  what a method is given.
Gives  the roles and groups of the map, without groups that only bring an input, which a known truth does not list; and
       the verdict on every hypothesis, if the algorithm it was told is the task's own.
Never  adds anything to what `discovery/` found and `claims/` judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from carrylens.benchmark.carrylens_verdict import verdicts_by_alignment
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.method_interface import Found, FoundRole, Given
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import MapSettings, map_model
from carrylens.evidence.confidence import stated_confidence


def map_by_interchange(given: Given) -> Found:
    """What the map says: roles of nodes and of sets of nodes, groups, verdicts."""
    settings, causal = MapSettings.chosen(given.seed, quick=given.quick), given.causal
    mapped = map_model(
        given.model, "benchmark", given.task, settings, store=given.store, watch=given.progress, causal=causal
    )
    groups = [group.nodes for group in mapped.map.groups if group.variable in causal.by_variable]
    return as_found(mapped.map.roles, groups, verdicts_by_alignment(given))


def as_found(roles: Iterable[Role], groups: Iterable[Nodes], verdicts: Mapping[str, RunVerdict] | None = None) -> Found:
    """Roles with their stated confidence. A set is a group if it was searched for as one."""
    found = (
        FoundRole.of(role.nodes, role.variable, role.token, stated_confidence(role.hit, role.null)) for role in roles
    )
    return Found(tuple(found), frozenset(map(frozenset, groups)), verdicts=verdicts or {})
