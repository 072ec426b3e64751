"""Whether two maps are the same: a map itself has no equality."""

from __future__ import annotations

from carrylens.arithmetic.task import find_task
from carrylens.discovery.node_map import NodeMap
from carrylens.tasks.causal import CausalModel


def assert_same(one: NodeMap, other: NodeMap) -> None:
    """Everything of one is in the other."""
    assert (one.model, one.task, one.causal) == (other.model, other.task, other.causal)
    assert one.found_parts() == other.found_parts()
    for name in ("nodes", "roles", "behaviours", "places", "groups", "near_misses"):
        assert tuple(getattr(one, name)) == tuple(getattr(other, name))


def read_again(found: NodeMap, causal: CausalModel | None = None) -> NodeMap:
    """The map that its JSON gives."""
    return NodeMap.from_json(found.to_json(), find_task, causal)
