"""Cells: what one model has to say about one finding, by the same rules for every finding.

Takes  facts, verdicts, kinds and estimates as they were saved.
Gives  `Cell`: a word that can be compared, the figures behind it, and whether anything could be told.
Never  gives a word for what is open, and no effect without its null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from math import hypot

from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.arithmetic.battery.weighing import overall, weigh
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

MOST = 0.9
"""The share of units, such as columns, that must be of one kind for it to be the model's."""


class State(Enum):
    """Whether a cell says something: a word, a number, or why there is neither."""

    TOLD = "told"
    MEASURED = "measured"
    OPEN = "open"
    UNTESTED = "untested"
    NOT_RUN = "not run"
    APART = "does not apply"


@dataclass(frozen=True)
class Cell:
    """`word` is compared between models, `figure` stands behind it, `value` is a number that has no word."""

    state: State
    word: str = ""
    figure: str = ""
    value: float | None = None


NOT_RUN, APART, UNTESTED = Cell(State.NOT_RUN), Cell(State.APART), Cell(State.UNTESTED)


def verdict_cell(verdict: Verdict, figure: str = "", words: tuple[str, str] = ("supported", "refuted")) -> Cell:
    """A verdict, in words of its own where there are better ones.

    >>> verdict_cell(Verdict.REFUTED).word, verdict_cell(Verdict.INCONCLUSIVE).state.value
    ('refuted', 'open')
    """
    if verdict is Verdict.UNTESTED:
        return Cell(State.UNTESTED, figure=figure)
    if verdict is Verdict.INCONCLUSIVE:
        return Cell(State.OPEN, figure=figure)
    return Cell(State.TOLD, words[verdict is Verdict.REFUTED], figure)


def share_cell(facts: Sequence[Fact], words: tuple[str, str], by: str = "") -> Cell:
    """Whether something surely happens in most stimuli, and more than in the null, or surely does not.

    Facts are pooled, or each value of `by` is weighed alone and all must agree.
    """
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        groups.setdefault(str(fact.about.get(by, "")), []).append(fact)
    pooled = {name: joined(some) for name, some in groups.items()}
    asked = {name: fact for name, fact in pooled.items() if fact.effect.n}
    if not asked:
        return UNTESTED
    figure = ", ".join(f"{name} {_beside_null(fact)}".strip() for name, fact in asked.items())
    return verdict_cell(overall(weigh(list(asked.values()))), figure, words)


def joined(facts: Sequence[Fact]) -> Fact:
    """Several facts as one, their stimuli counted together."""
    effect, null = (sum((getattr(fact, side) for fact in facts), Rate(0, 0)) for side in ("effect", "null"))
    return Fact("joined", {}, effect, null)


def kinds_cell(kinds: Sequence[str], unsure: Collection[str] = ()) -> Cell:
    """What nine tenths of the units that could be told are; else how they are mixed. Open if most could not be told.

    >>> kinds_cell(["a", "a", "?"], unsure=["?"])
    Cell(state=<State.TOLD: 'told'>, word='a', figure='2 of 2, 1 not told', value=None)
    >>> kinds_cell(["b", "a", "b"]).word
    'mixed: a / b'
    """
    told = [kind for kind in kinds if kind not in unsure]
    counts = sorted(Counter(told).items(), key=lambda counted: (-counted[1], counted[0]))
    rest = [f"{len(kinds) - len(told)} not told"] if len(told) < len(kinds) else []
    shown = [f"{count} {name}" for name, count in counts]
    if not kinds:
        return UNTESTED
    if 2 * len(told) < len(kinds):
        return Cell(State.OPEN, figure=", ".join([*shown, *rest]))
    kind, n = counts[0]
    if n >= MOST * len(told):
        return Cell(State.TOLD, kind, ", ".join([f"{n} of {len(told)}", *shown[1:], *rest]))
    return Cell(State.TOLD, f"mixed: {' / '.join(sorted(name for name, _ in counts))}", ", ".join([*shown, *rest]))


def sides_cell(estimates: Sequence[Estimate], middle: float, words: tuple[str, str]) -> Cell:
    """Whether all of the numbers are surely above the middle, and above their nulls, or surely below it."""
    if not estimates:
        return UNTESTED
    values, top = [each.value for each in estimates], max(each.null for each in estimates)
    figure = f"{span(values)} (null up to {top:.2f})"
    if all(each.low > max(middle, each.null) for each in estimates):
        return Cell(State.TOLD, words[0], figure)
    if all(each.high < middle for each in estimates):
        return Cell(State.TOLD, words[1], figure)
    return Cell(State.OPEN, figure=figure)


def measured_cell(estimates: Sequence[Estimate], null: str) -> Cell:
    """Numbers that are compared as numbers: their mean with its interval, beside that of the null.

    The numbers are of different questions, so that their errors are independent.
    """
    if not estimates:
        return UNTESTED
    n = len(estimates)
    value, beside = sum(each.value for each in estimates) / n, sum(each.null for each in estimates) / n
    below = hypot(*(each.value - each.low for each in estimates)) / n
    above = hypot(*(each.high - each.value for each in estimates)) / n
    figure = f"{value:.2f} [{value - below:.2f}, {value + above:.2f}] ({null} {beside:.2f})"
    return Cell(State.MEASURED, figure=figure, value=value)


def span(values: Sequence[float]) -> str:
    """The least and the largest.

    >>> span([0.2, 0.1]), span([0.3]), span([4, 8])
    ('0.10 to 0.20', '0.30', '4 to 8')
    """
    whole = all(value == round(value) for value in values)
    low, high = (f"{value:.0f}" if whole else f"{value:.2f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _beside_null(fact: Fact) -> str:
    return f"{fact.effect.value:.2f} (null {fact.null.value:.2f})"
