"""Finding rules: how facts, kinds and estimates become the values of findings, by the same rules for every experiment.

Takes  facts, kinds of units, estimates, as an outcome has them.
Gives  `FindingAnswer`.
Never  gives a word for what is open, nor an effect without its null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from math import hypot

from carrylens.arithmetic.battery.findings import (
    NOT_TESTED,
    ChosenWord,
    FindingAnswer,
    FindingValue,
    Mixture,
    NamedShare,
    Number,
    RangeEvidence,
    ShareEvidence,
    UnitEvidence,
    Unsettled,
)
from carrylens.arithmetic.battery.measures.verdict_rules import overall, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Outcome
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

MOST_UNITS = 0.9
"""The share of units, such as columns, that must be of one kind for it to be the model's."""
YES_NO = ("yes", "no")
MOST_OR_FEWER = ("most", "fewer than half")


def facts_about(outcome: Outcome, **about: object) -> list[Fact]:
    """Facts about just this; None stands for what must not be said of them."""
    return [fact for fact in outcome.facts if all(fact.about.get(key) == value for key, value in about.items())]


def facts_naming(outcome: Outcome, key: str) -> list[Fact]:
    """Facts that say anything about this."""
    return [fact for fact in outcome.facts if key in fact.about]


def beside_paper(outcome: Outcome, start: str) -> BesidePaper | None:
    """What the outcome sets beside the paper under this heading."""
    return next((each for each in outcome.beside_paper if each.what.startswith(start)), None)


def verdict_value(verdict: Verdict, words: tuple[str, str]) -> FindingValue:
    """The first word if it is supported, the second if refuted.

    >>> verdict_value(Verdict.REFUTED, YES_NO), verdict_value(Verdict.INCONCLUSIVE, YES_NO)
    (ChosenWord(word='no'), <Unsettled.OPEN: 'open'>)
    """
    unsettled = {Verdict.UNTESTED: Unsettled.UNTESTED, Verdict.INCONCLUSIVE: Unsettled.OPEN}
    return unsettled.get(verdict) or ChosenWord(words[verdict is Verdict.REFUTED])


def share_answer(facts: Sequence[Fact], words: tuple[str, str], by: str = "") -> FindingAnswer:
    """Whether something surely happens in most stimuli, and more than in the null, or surely does not.

    Facts are pooled, or each value of `by` is weighed alone and all must agree.
    """
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(str(fact.about.get(by, "")), []).append(fact)
    pooled = {name: pooled_fact(some) for name, some in groups.items()}
    tested = {name: fact for name, fact in pooled.items() if fact.effect.n}
    if not tested:
        return NOT_TESTED
    shares = tuple(NamedShare(name, fact.effect, fact.null) for name, fact in tested.items())
    value = verdict_value(overall(weigh(list(tested.values()))), words)
    return FindingAnswer(value, sum(share.effect.n for share in shares), ShareEvidence(shares))


def pooled_fact(facts: Sequence[Fact]) -> Fact:
    """Several facts as one, their stimuli counted together."""
    effect, null = (sum((getattr(fact, side) for fact in facts), Rate(0, 0)) for side in ("effect", "null"))
    return Fact("joined", {}, effect, null)


def units_answer(kinds: Sequence[str], untold: Collection[str] = ()) -> FindingAnswer:
    """What nine tenths of the units that could be told are; else how they are mixed. Open if most could not be told.

    >>> units_answer(["a", "a", "?"], untold=["?"]).value, units_answer(["b", "a", "b"]).value
    (ChosenWord(word='a'), Mixture(words=('a', 'b')))
    """
    if not kinds:
        return NOT_TESTED
    told = [kind for kind in kinds if kind not in untold]
    counts = tuple(sorted(Counter(told).items(), key=lambda counted: (-counted[1], counted[0])))
    evidence = UnitEvidence(counts, len(kinds) - len(told))
    value: FindingValue = Unsettled.OPEN
    if 2 * len(told) >= len(kinds):
        most = counts[0][1] >= MOST_UNITS * len(told)
        value = ChosenWord(counts[0][0]) if most else Mixture(tuple(sorted(name for name, _ in counts)))
    return FindingAnswer(value, len(kinds), evidence)


def sides_answer(estimates: Sequence[Estimate], middle: float, words: tuple[str, str]) -> FindingAnswer:
    """Whether all of the numbers are surely above the middle, and above their nulls, or surely below it."""
    if not estimates:
        return NOT_TESTED
    value: FindingValue = Unsettled.OPEN
    if all(each.low > max(middle, each.null) for each in estimates):
        value = ChosenWord(words[0])
    elif all(each.high < middle for each in estimates):
        value = ChosenWord(words[1])
    evidence = RangeEvidence(tuple(each.value for each in estimates), max(each.null for each in estimates))
    return FindingAnswer(value, sum(each.n for each in estimates), evidence)


def number_answer(estimates: Sequence[Estimate], null_name: str) -> FindingAnswer:
    """Numbers that are compared as numbers: their mean with its interval, beside that of the null.

    The numbers are of different questions, so that their errors are independent.
    """
    if not estimates:
        return NOT_TESTED
    n = len(estimates)
    value, null = sum(each.value for each in estimates) / n, sum(each.null for each in estimates) / n
    below = hypot(*(each.value - each.low for each in estimates)) / n
    above = hypot(*(each.high - each.value for each in estimates)) / n
    return FindingAnswer(
        Number(value, value - below, value + above, null, null_name), sum(each.n for each in estimates)
    )
