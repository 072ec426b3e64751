"""Map record: the evidence that a page shows beside every click.

Takes  a saved map.
Gives  for each node what its ablation broke, for each set of nodes its roles with hit rate, null and confidence.
Never  shows a rate without its null and its number of questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrylens.discovery.node_map import NodeMap, Role, Way
from carrylens.evidence.rates import Rate
from carrylens.tasks.causal import CausalModel


def map_record(found: NodeMap, causal: CausalModel) -> dict[str, Any] | None:
    """The map as plain data; none where it is of other variables than the algorithm's."""
    place = {str(variable): at for at, variable in enumerate(causal.variables)}
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
        role.confidence,
        int(role.way is Way.DIFFERENCE),
    ]


def _rate(rate: Rate) -> list[int]:
    return [rate.hits, rate.n]
