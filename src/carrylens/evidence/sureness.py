"""Sureness: the one rule for when a role is sure, and for when it is whole.

Takes  the rates of an interchange and of its null, and the corrected p.
Gives  `Extent`, `is_sure`, `moves_surely`: map, judge and pictures all ask here.
Never  sees a node or a variable.

A role is **whole** if the lower bound of its hit rate is at least `WHOLE`: on nearly all questions the set carries the
variable. Else it is **partial**, and its hit rate is the share. It is **sure** if it is whole, and that bound stands
clearly above the upper bound of the null.
"""

from __future__ import annotations

from enum import Enum

from carrylens.evidence.rates import Rate

WHOLE = 0.9
"""The least lower bound of the hit rate of a whole role: what fails in one question of ten is not whole."""
MOST = 0.5
"""The least lower bound of the hit rate of a set that moves an output in most questions."""
MARGIN = 0.25
"""How far that bound is above the upper bound of the null: what changes the output as often where the variable agrees
carries something else."""
LEVEL = 0.01
"""The most that the corrected p may be."""


class Extent(Enum):
    """How much of a variable a set carries."""

    WHOLE = "whole"
    PARTIAL = "partial"


def extent_of(hit: Rate, whole: float = WHOLE) -> Extent:
    """Whole or partial.

    >>> extent_of(Rate(96, 96)), extent_of(Rate(80, 96))
    (<Extent.WHOLE: 'whole'>, <Extent.PARTIAL: 'partial'>)
    """
    return Extent.WHOLE if hit.n and hit.interval[0] >= whole else Extent.PARTIAL


def moves_surely(hit: Rate, null: Rate, p: float = 0.0, *, margin: float = MARGIN, level: float = LEVEL) -> bool:
    """Whether a set surely moves an output as a variable would, in most questions if not in all.

    >>> moves_surely(Rate(70, 96), Rate(0, 96)), moves_surely(Rate(96, 96), Rate(70, 96))
    (True, False)
    """
    low = hit.interval[0]
    return low > MOST and low - null.interval[1] >= margin and p <= level


def is_sure(
    hit: Rate, null: Rate, p: float, *, whole: float = WHOLE, margin: float = MARGIN, level: float = LEVEL
) -> bool:
    """Whether a role is whole, and of this variable rather than of what comes with it.

    >>> is_sure(Rate(96, 96), Rate(0, 96), 1e-6), is_sure(Rate(70, 96), Rate(0, 96), 1e-6)
    (True, False)
    """
    return extent_of(hit, whole) is Extent.WHOLE and moves_surely(hit, null, p, margin=margin, level=level)
