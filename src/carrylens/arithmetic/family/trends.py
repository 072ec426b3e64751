"""Trends: how a number goes as additions get longer.

Takes  models by name, each with a number or none.
Gives  `Trend`: the slope over digits of a straight line through additions, with its interval.
Never  draws a line through fewer than four models of three lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import linregress, t

from carrylens.arithmetic.battery.findings import TrendDirection
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation

_MODELS, _LENGTHS = 4, 3


@dataclass(frozen=True)
class Trend:
    """By how much the number changes with each digit; the interval is that of the models' scatter around the line."""

    slope: float
    low: float
    high: float
    n: int

    def goes(self, way: TrendDirection) -> bool:
        """Whether it surely goes that way.

        >>> falls = TrendDirection.FALLS
        >>> Trend(-0.02, -0.03, -0.01, 8).goes(falls), Trend(-0.02, -0.03, 0.01, 8).goes(falls)
        (True, False)
        """
        return self.low > 0 if way is TrendDirection.GROWS else self.high < 0

    def __str__(self) -> str:
        return f"{self.slope:+.3f} with each digit [{self.low:+.3f}, {self.high:+.3f}] in {self.n} additions"


def trend_of(numbers: Sequence[tuple[ModelName, float | None]]) -> Trend | None:
    """The trend over the additions among these models, or None where there are too few."""
    found = [(name.digits, value) for name, value in numbers if name.operation is Operation.ADD and value is not None]
    if len(found) < _MODELS or len({digits for digits, _ in found}) < _LENGTHS:
        return None
    line = linregress([digits for digits, _ in found], [value for _, value in found])
    wide = float(t.ppf(0.975, len(found) - 2) * line.stderr)
    return Trend(float(line.slope), float(line.slope) - wide, float(line.slope) + wide, len(found))
