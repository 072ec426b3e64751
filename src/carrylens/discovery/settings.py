"""Settings: how much evidence roles are made from, and how searches tell of themselves.

Takes  nothing.
Gives  `Settings`, and what is called with progress and with facts.
Never  searches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from carrylens.evidence.facts import Fact

CLEARLY = 0.01
"""The chance below which one rate is clearly above another, where the two are compared and nothing is claimed."""

Watch = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""

Note = Callable[[Fact], None]
"""Called with every measurement, those that came to nothing included."""


@dataclass(frozen=True)
class Settings:
    """How much evidence is gathered, and how much is asked for."""

    n_find: int = 48
    n_confirm: int = 128
    n_compete: int = 48
    least: int = 6
    find_level: float = 0.01
    level: float = 0.001
    least_hit: float = 0.25
    seed: int = 0
