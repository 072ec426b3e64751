"""Methods: all that are compared, by name.

Takes  nothing.
Gives  methods that map a model, and those that need a threshold first.
Never  runs one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from carrylens.benchmark.baselines.attention import look
from carrylens.benchmark.baselines.attribution import attribute
from carrylens.benchmark.baselines.linear_probes import probe
from carrylens.benchmark.baselines.published_search import search_as_published
from carrylens.benchmark.carrylens_map import map_by_swaps
from carrylens.benchmark.method_result import Given, Method, Scored
from carrylens.errors import CarryLensError

OURS = "ours"
MAPPING: Mapping[str, Method] = {OURS: map_by_swaps, "published": search_as_published}
"""Methods that say what they found."""

SCORING: Mapping[str, Callable[[Given], Scored]] = {"attention": look, "probe": probe, "attribution": attribute}
"""Methods that score every node and variable, and need a threshold."""

METHODS = (*MAPPING, *SCORING)


def chosen_methods(names: Collection[str]) -> tuple[str, ...]:
    """The methods asked for, or all."""
    if unknown := [name for name in names if name not in METHODS]:
        raise CarryLensError(f"There is no method {unknown[0]!r}. Write one of {', '.join(METHODS)}.")
    return tuple(name for name in METHODS if not names or name in names)
