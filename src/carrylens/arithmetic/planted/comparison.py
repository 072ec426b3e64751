"""Comparing: how much of a planted circuit a map has found, and how much of the map is true.

Takes  a `Truth`, and a map: variables by node, and groups of nodes that belong together.
Gives  precision and recall by role, by node and by group.
Never  counts by itself: `benchmark/comparison.py` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from carrylens.arithmetic.planted.known_truth import known_truth
from carrylens.arithmetic.planted.truth import Truth
from carrylens.benchmark.comparison import Comparison, RolesByNode, compare_roles
from carrylens.nodes import Node


def compare(truth: Truth, found: RolesByNode, groups: Iterable[Collection[Node]] = ()) -> Comparison:
    """How well a map fits the truth of a planted model: see `compare_roles`."""
    return compare_roles(known_truth(truth), found, groups)
