"""Thresholds: every number that a verdict depends on, each with its reason.

Takes  nothing.
Gives  `Thresholds`, which are written into `claims.json` beside the verdicts they led to.
Never  changes with the model that is judged.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.evidence.sureness import LEVEL, MARGIN, MOST, WHOLE
from carrylens.json_records import Count, Share


@dataclass(frozen=True)
class Thresholds:
    """What is required of the evidence.

    | number | reason |
    |---|---|
    | `least_hit` | the lower bound of the hit rate of a set that moves an output in most questions, though perhaps not in all: it stands in the way of a claim that it does not, and is no carrier by itself |
    | `least_margin` | how far that bound is above the upper bound of the null: a set that changes the output as often where the variable agrees carries something else |
    | `most_null` | the upper bound of the null of a role that refutes by being early, or by not reaching another: a set that also moves the output where the variable agrees may read something else, such as an earlier output that reveals it |
    | `whole_hit` | the lower bound of the hit rate of a whole role, which alone supports a claim: a set that misses more pairs has the variable in part |
    | `level` | the corrected p of a role; the map's search has its own, stricter one, and this one guards other maps |
    | `least_searched` | pairs that could have shown a role that was not found: of a carrier that hits in 3 of 4, at least 3 of 12 hits come with probability above 0.999, which the search's own level lets through |
    | `least_confirmed` | pairs on which the search confirmed what it had found, for a role that was not found to be absent: trained models spread a value over several nodes, and a quick search (48) missed such a set in an eight-digit addition that the full one (128) has |
    | `answers_apart` | how far the share of wrong answers may be from what the algorithm predicts before it is refuted: trained models miss a few. On the very same questions: in what share of those that the algorithm fails, or of the others, the model may differ from it |
    | `answers_near` | how near it must surely be to be supported: 0 of 36 is near 0, and so is 20 of 96 to 0.2 |
    """  # noqa: E501

    least_hit: Share = MOST
    least_margin: Share = MARGIN
    most_null: Share = 0.25
    whole_hit: Share = WHOLE
    level: Share = LEVEL
    least_searched: Count = 12
    least_confirmed: Count = 96
    answers_apart: Share = 0.01
    answers_near: Share = 0.1


THRESHOLDS = Thresholds()
