"""Verdict rules: from facts to a verdict, by the same rules for every experiment.

Takes  facts, all those of one experiment together.
Gives  a verdict for each, corrected for being many, and one for all.
Never  knows which experiment it judges.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate


def surely_most(rate: Rate) -> bool:
    """Whether it surely happens more often than not.

    >>> surely_most(Rate(40, 40)), surely_most(Rate(25, 40))
    (True, False)
    """
    return rate.interval[0] > THRESHOLDS.least_hit


def surely_seldom(rate: Rate) -> bool:
    """Whether it surely happens less often than not."""
    return rate.interval[1] < THRESHOLDS.least_hit


def weigh(facts: Sequence[Fact]) -> list[Verdict]:
    """SUPPORTED: surely in most stimuli, and more often than the null (Holm). REFUTED: surely in fewer than half, or
    no more often than a null that moves too. UNTESTED: no stimulus; INCONCLUSIVE: the rest.
    """
    corrected = holm([fact.p for fact in facts])
    return [_verdict(fact, p) for fact, p in zip(facts, corrected, strict=True)]


def overall(verdicts: Collection[Verdict]) -> Verdict:
    """One verdict for a claim that has all of these parts.

    >>> overall([Verdict.SUPPORTED, Verdict.REFUTED]), overall([])
    (<Verdict.REFUTED: 'REFUTED'>, <Verdict.UNTESTED: 'UNTESTED'>)
    """
    if set(verdicts) <= {Verdict.UNTESTED}:
        return Verdict.UNTESTED
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.SUPPORTED if set(verdicts) == {Verdict.SUPPORTED} else Verdict.INCONCLUSIVE


def _verdict(fact: Fact, p: float) -> Verdict:
    effect, null = fact.effect, fact.null
    if not effect.n:
        return Verdict.UNTESTED
    if surely_most(effect) and p <= THRESHOLDS.level:
        return Verdict.SUPPORTED
    if effect.n < THRESHOLDS.least_searched:
        return Verdict.INCONCLUSIVE
    no_better = null.n >= THRESHOLDS.least_searched and effect.interval[1] <= null.value
    return Verdict.REFUTED if surely_seldom(effect) or no_better else Verdict.INCONCLUSIVE
