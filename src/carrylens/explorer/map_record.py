"""Map record: the evidence that a page shows beside every click.

Takes  a saved map, and the claims that were judged on it.
Gives  for each node what its ablation broke, for each set of nodes its roles with hit rate, null and confidence.
Never  shows a rate without its null and its number of questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrylens.discovery.node_map import NodeMap, Role, Way
from carrylens.evidence.confidence import stated_confidence
from carrylens.evidence.rates import Rate
from carrylens.tasks.task import Task


def map_record(found: NodeMap, task: Task) -> dict[str, Any] | None:
    """The map as plain data; none where it is of other variables than the task's."""
    place = {str(variable): at for at, variable in enumerate(task.causal.variables)}
    if any(str(role.variable) not in place for role in found.roles):
        return None
    useful = found.useful
    settings = found.stimuli.get("settings")
    return {
        "useful": sorted(str(node) for node in useful),
        "nodes": {
            str(each.node): [*_rate(each.mean), *_rate(each.resample), *_rate(each.clean)]
            for each in found.nodes
            if each.node in useful
        },
        "roles": [_role(role, place) for role in found.roles],
        "seed": settings.get("seed") if isinstance(settings, Mapping) else None,
    }


def _role(role: Role, place: Mapping[str, int]) -> list[Any]:
    return [
        " ".join(map(str, role.nodes)),
        place[str(role.variable)],
        role.token,
        *_rate(role.hit),
        *_rate(role.null),
        stated_confidence(role.hit, role.null),
        int(role.way is Way.DIFFERENCE),
    ]


def _rate(rate: Rate) -> list[int]:
    return [rate.hits, rate.n]


def claims_record(claims: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was judged, in the words of the record that says it; none where nothing was judged."""
    if not claims:
        return None
    kept = ("hypothesis", "skeleton", "verdict", "required")
    return {name: claims[name] for name in kept if name in claims}
