"""Restored answers: do the chosen nodes restore more failing questions than random ones do, on the same questions?

Takes  which questions come back with the chosen nodes, and with random ones.
Gives  a paired test, the difference with its interval, verdicts.
Never  runs a model, and never takes random ones that restore most, too, for a reason to support.

1. Every failing question is run with the chosen nodes and with a random set of its own: what counts are the questions
   that come back with one of the two alone. Those that come back only with the chosen ones are held against a fair coin
   (McNemar's exact test, one side), Holm over branches.
2. The difference of the two shares has a bootstrap interval over questions. Its null is the difference between two
   random sets, likewise.
3. SUPPORTED: the chosen nodes surely bring back most, and surely more than random ones, which do not surely bring back
   most. REFUTED: the chosen surely bring back fewer than half; or random ones surely bring back most, so that just any
   would do; or the interval of the difference is not above 0 at all. INCONCLUSIVE: the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import binomtest

from carrylens.arithmetic.battery.measures.hit_rates import Hits, hit_rate
from carrylens.arithmetic.battery.measures.verdict_rules import surely_most, surely_seldom
from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.evidence.rates import Rate

_BOOTSTRAPS = 2000


@dataclass(frozen=True, eq=False)
class RestoredAnswers:
    """Which failing questions come back: with the chosen nodes, with random ones, with other random ones.

    `seed` is that of the bootstrap.
    """

    name: str
    chosen: Hits
    random: Hits
    again: Hits
    seed: int = 0

    @property
    def effect(self) -> Rate:
        """How many come back with the chosen nodes."""
        return hit_rate(self.chosen)

    @property
    def null(self) -> Rate:
        """How many come back with random ones."""
        return hit_rate(self.random)

    @property
    def alone(self) -> tuple[int, int]:
        """How many come back only with the chosen nodes, and only with random ones."""
        return int((self.chosen & ~self.random).sum()), int((self.random & ~self.chosen).sum())

    @property
    def p(self) -> float:
        """The chance of so many coming back only with the chosen nodes, if random ones were as good."""
        more, fewer = self.alone
        return float(binomtest(more, more + fewer, alternative="greater").pvalue) if more + fewer else 1.0

    @cached_property
    def difference(self) -> Estimate:
        """The share that the chosen nodes bring back less that of random ones; null: two random ones."""
        random = np.random.default_rng(self.seed)
        effect, null = (_mean(one, self.random, random) for one in (self.chosen, self.again))
        name = f"{self.name}: share of failing questions brought back, chosen less random nodes"
        return Estimate(name, *effect, *null, n=len(self.chosen))

    @property
    def just_any(self) -> bool:
        """Whether random ones surely bring back most, too."""
        return surely_most(self.null)


def judge_restored(found: Sequence[RestoredAnswers]) -> list[Verdict]:
    """A verdict for each branch, corrected for being several."""
    corrected = holm([each.p for each in found])
    return [_verdict(each, p) for each, p in zip(found, corrected, strict=True)]


def _verdict(each: RestoredAnswers, p: float) -> Verdict:
    if not each.effect.n:
        return Verdict.UNTESTED
    if surely_most(each.effect) and p <= THRESHOLDS.level and not each.just_any:
        return Verdict.SUPPORTED
    if each.effect.n < THRESHOLDS.least_searched:
        return Verdict.INCONCLUSIVE
    no_better = each.difference.high <= 0
    return Verdict.REFUTED if surely_seldom(each.effect) or each.just_any or no_better else Verdict.INCONCLUSIVE


def _mean(one: Hits, other: Hits, random: np.random.Generator) -> tuple[float, float, float]:
    values = one.astype(np.float64) - other
    means = values[random.integers(0, len(values), (_BOOTSTRAPS, len(values)))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)
