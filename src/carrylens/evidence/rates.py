"""Rates: how often something happened, and whether it happened more often than in the null.

Takes  counts over different random stimuli.
Gives  `Rate` with its exact interval, and the chance of so many hits if effect and null were alike.
Never  counts one stimulus twice: who repeats a question has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from scipy.special import betaincinv

from carrylens.errors import CarryLensError

_MOST = 1 << 53  # up to where a float tells one whole number from the next


@dataclass(frozen=True)
class Rate:
    """`hits` of `n` different stimuli.

    >>> rate = Rate(9, 10)
    >>> rate.value, [round(bound, 4) for bound in rate.interval]
    (0.9, [0.555, 0.9975])
    """

    hits: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.n:
            raise CarryLensError(f"{self.hits} of {self.n} is not a rate. Give between 0 and {self.n} hits.")
        if self.n > _MOST:
            raise CarryLensError(f"{self.n} stimuli are more than can be counted exactly. Give at most {_MOST}.")

    @property
    def value(self) -> float:
        """The share, or 0 of no questions."""
        return self.hits / self.n if self.n else 0.0

    @cached_property
    def interval(self) -> tuple[float, float]:
        """The exact 95% Clopper-Pearson interval; from 0 to 1 of no questions."""
        return self.interval_at(0.95)

    def interval_at(self, confidence: float) -> tuple[float, float]:
        """The exact interval of another confidence.

        >>> [round(bound, 4) for bound in Rate(9, 10).interval_at(0.99)]
        [0.4557, 0.9995]
        """
        missed, tail = self.n - self.hits, round((1 - confidence) / 2, 15)
        low = betaincinv(self.hits, missed + 1, tail) if self.hits else 0.0
        high = betaincinv(self.hits + 1, missed, 1 - tail) if missed else 1.0
        return (float(low), float(high))

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.hits + other.hits, self.n + other.n)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.hits}/{self.n} = {self.value:.3f} [{low:.3f}, {high:.3f}]"


@lru_cache(maxsize=1 << 16)
def p_above(effect: Rate, null: Rate) -> float:
    """The chance of at least so many of all hits falling to the effect, if it were like the null (Fisher, one side).

    >>> round(p_above(Rate(9, 10), Rate(1, 10)), 6)
    0.000547
    >>> p_above(Rate(0, 0), Rate(1, 10))
    1.0
    """
    from scipy.stats import hypergeom  # takes half a second to import, which `carrylens ask` does not need

    hits, total = effect.hits + null.hits, effect.n + null.n
    return float(min(1.0, hypergeom.sf(effect.hits - 1, total, hits, effect.n))) if effect.n else 1.0
