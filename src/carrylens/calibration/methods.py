"""Methods: all that are compared, by name.

Takes  nothing.
Gives  methods that map a model, and those that need a threshold first.
Never  runs one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from carrylens.calibration.baselines.attribution import attribute
from carrylens.calibration.baselines.looking import look
from carrylens.calibration.baselines.probing import probe
from carrylens.calibration.baselines.published import search_as_published
from carrylens.calibration.found import Given, Method, Scored
from carrylens.calibration.ours import map_by_swaps
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
