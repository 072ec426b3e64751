"""Our own method: the node map of this package and its verdicts, in the form in which methods are scored.

Takes  what a method is given.
Gives  the roles of the map, optional ones too, graded nodes, and its groups, without groups that only bring an input,
       which a known truth does not list; and the verdict on every hypothesis, if the algorithm it was told is the
       task's own.
Never  adds anything to what `discovery/` found and `claims/` judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from carrylens.benchmark.carrylens_verdict import verdicts_by_alignment
from carrylens.benchmark.known_truth import RunVerdict
from carrylens.benchmark.method_interface import Found, FoundRole, Given
from carrylens.discovery.near_misses import subject_of
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import Mapped, MapSettings, map_model
from carrylens.nodes import Node


def map_by_interchange(given: Given) -> Found:
    """What the map says: roles of nodes and of sets of nodes, groups, verdicts."""
    settings, causal = MapSettings.chosen(given.seed, quick=given.quick), given.causal
    mapped = map_model(
        given.model, "benchmark", given.task, settings, store=given.store, watch=given.progress, causal=causal
    )
    groups = [group.nodes for group in mapped.map.groups if group.variable in causal.by_variable]
    found = as_found([*mapped.map.roles, *mapped.map.optional], groups, verdicts_by_alignment(given))
    return replace(found, node_scores=graded_nodes(mapped, found))


def graded_nodes(mapped: Mapped, found: Found) -> dict[Node, float]:
    """How much each node matters: how sure its surest role is, how often answers fail without it, or how often an
    output followed a variable when it was interchanged alone, whichever is most. Roles come before all else."""
    scores = {each.node: max(each.mean.value, each.resample.value) - each.clean.value for each in mapped.map.nodes}
    for fact in mapped.facts:
        if fact.kind == "swap":
            nodes, *_ = subject_of(fact)
            if len(nodes) == 1:
                scores[nodes[0]] = max(fact.effect.value, scores.get(nodes[0], 0.0))
    for role in found.roles:
        for node in role.nodes:
            scores[node] = max(1.0 + (role.confidence or 0.0), scores.get(node, 0.0))
    return scores


def as_found(roles: Iterable[Role], groups: Iterable[Nodes], verdicts: Mapping[str, RunVerdict] | None = None) -> Found:
    """Roles with their stated confidence. A set is a group if it was searched for as one."""
    found = (FoundRole.of(role.nodes, role.variable, role.token, role.confidence) for role in roles)
    return Found(tuple(found), frozenset(map(frozenset, groups)), verdicts=verdicts or {})
