"""Place verdicts: whether a place depends on one of its heads.

Takes  which questions are off by the carry without all heads of a place, without the worst one, without untagged ones.
Gives  a verdict for each place, corrected for being many; at how many places one MLP is needed.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from carrylens.arithmetic.battery.measures.hit_rates import Hits, hit_rate
from carrylens.arithmetic.battery.necessity.carry_errors import CarryPlace
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.nodes import Node

_LEAST_MISSED = 0.05


@dataclass(frozen=True, eq=False)
class MissedPlace:
    """Which questions are off by the carry: without a place's heads, the worst one, untagged ones, the worst MLP.

    The first round's questions come first in all of them, and `untagged` and `mlp` have no others.
    """

    place: CarryPlace
    whole: Hits
    worst: Hits
    untagged: Hits
    mlp: Hits
    name: Node

    @property
    def excess(self) -> NDArray[np.int64]:
        """For each question twice the worst head's failure less that of all: on average above 0 if it is needed."""
        return 2 * self.worst.astype(np.int64) - self.whole.astype(np.int64)

    @property
    def excess_of_mlp(self) -> NDArray[np.int64]:
        """The same for the worst MLP."""
        return 2 * self.mlp.astype(np.int64) - self.whole[: len(self.mlp)].astype(np.int64)


def weigh_places(found: Sequence[MissedPlace], n_rounds: int = 1) -> list[Verdict]:
    """SUPPORTED: the worst head is surely missed less than half as much as all; REFUTED: surely more.

    UNTESTED: a place that is not missed at all cannot be told redundant from idle. The level is shared among rounds.
    """
    level = THRESHOLDS.level / n_rounds
    n = [len(each.mlp) for each in found]
    missed = holm([Fact("", {}, hit_rate(e.whole[:m]), hit_rate(e.untagged)).p for e, m in zip(found, n, strict=True)])
    needed, spared = (holm([_paired(sign * each.excess) for each in found]) for sign in (1, -1))
    verdicts = []
    for at, each in enumerate(found):
        if missed[at] > level or each.whole.mean() < _LEAST_MISSED:
            verdicts.append(Verdict.UNTESTED)
        elif needed[at] <= level:
            verdicts.append(Verdict.REFUTED)
        else:
            verdicts.append(Verdict.SUPPORTED if spared[at] <= level else Verdict.INCONCLUSIVE)
    return verdicts


def _paired(excess: NDArray[np.int64]) -> float:
    # The p of the mean being above 0. Too few questions that say anything say nothing.
    if np.count_nonzero(excess) < THRESHOLDS.least_searched:
        return 1.0
    if excess.min() == excess.max():
        return 0.0 if excess[0] > 0 else 1.0
    return float(ttest_1samp(excess, 0, alternative="greater").pvalue)


def needed_mlps(found: Sequence[MissedPlace], verdicts: Sequence[Verdict]) -> int:
    """At how many of the places that are missed one MLP alone is surely missed at least half as much as all heads."""
    mine = [each for each, verdict in zip(found, verdicts, strict=True) if verdict is not Verdict.UNTESTED]
    return sum(p <= THRESHOLDS.level for p in holm([_paired(each.excess_of_mlp) for each in mine]))
