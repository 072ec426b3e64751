"""Disambiguation: which of two hypotheses the rows on which they differ speak for.

Takes  facts that count, on the same rows, how often ours and how often a rival's prediction is right.
Gives  for each rival whether ours surely does better, surely does worse, or cannot be told from it.
Never  calls ours better than a rival that hardly any row tells from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import binom

from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact


def judge_disambiguations(disambiguations: Sequence[Fact]) -> list[Verdict]:
    """Whether our hypothesis beats each rival: REFUTED where the rival wins, UNTESTED where too few rows differ.

    Both count the same rows and never both a hit, so the rows in which one is right are tossed coins if neither is
    better: a sign test, corrected by Holm over the rivals that were tested.

    >>> from carrylens.evidence.rates import Rate
    >>> of = lambda ours, theirs, n: Fact("rival", {}, Rate(ours, n), Rate(theirs, n))
    >>> [verdict.value for verdict in judge_disambiguations([of(30, 5, 40), of(9, 8, 40), of(0, 0, 0)])]
    ['SUPPORTED', 'INCONCLUSIVE', 'UNTESTED']
    """
    tested = [disambiguation for disambiguation in disambiguations if is_tested(disambiguation)]
    won = iter(holm([_sign_p(disambiguation.effect.hits, disambiguation.null.hits) for disambiguation in tested]))
    lost = iter(holm([_sign_p(disambiguation.null.hits, disambiguation.effect.hits) for disambiguation in tested]))
    return [
        _verdict_of(next(won), next(lost)) if is_tested(disambiguation) else Verdict.UNTESTED
        for disambiguation in disambiguations
    ]


def is_tested(disambiguation: Fact) -> bool:
    """Whether enough rows tell the rival from our hypothesis for either to win."""
    return disambiguation.effect.n >= THRESHOLDS.least_searched


def _sign_p(hits: int, misses: int) -> float:
    # The chance of at least so many hits among rows in which one of two is right, if both are as often.
    return float(binom.sf(hits - 1, hits + misses, 0.5))


def _verdict_of(won: float, lost: float) -> Verdict:
    if won <= THRESHOLDS.level:
        return Verdict.SUPPORTED
    return Verdict.REFUTED if lost <= THRESHOLDS.level else Verdict.INCONCLUSIVE
