"""Patching: does the carry of the deciding column, and that alone, decide each digit of the answer, at every depth?

Takes  a subject.
Gives  for every branch, digit and cascade depth how often the digit follows a swap; for subtractions the sign's too.
Never  leaves out a question because the model fails on it: that is part of the answer.

1. For digit j and depth d: columns j-1 to j-d are uncertain, the column below them decides. Turn that one.
2. Swap all heads at the place that predicts digit j. It alone must become the source's, every other token stay.
3. Null: the deciding column has other digits and the same carry.
4. Beside it, swap all nodes of the deciding column's own place: all digits above it must follow.
5. For the sign, turn the column that decides which operand is the larger, and swap all heads at `=`. Only the sign
   counts there: what `=` holds may be read by the digits too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Operation
from carrylens.battery.columns import ColumnPairs, branches_of, deciding_pairs, sign_pairs
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.swapping import Swapped
from carrylens.battery.weighing import overall, weigh
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.verdicts import Verdict
from carrylens.interventions.edits import swap

CARD = Card(
    name="patching",
    title="Patching of carry, borrow and sign",
    question="Does the carry of the deciding column, and nothing else of it, decide each digit of the answer, at every "
    "cascade depth and on every branch?",
    method=(
        "Pairs that differ in the deciding column alone: below d uncertain columns its carry is turned.",
        "Swap all heads at the place that predicts the digit: it must become the source's, every other token stay.",
        "Null: the deciding column has other digits and the same carry.",
        "Beside it, swap the deciding column's own place: all digits above it must follow.",
        "Subtractions: the same for the sign, at =.",
    ),
    refuted_if="on some branch, at some digit or depth, the swap surely leaves most digits as they were, or the null "
    "moves them as often.",
    paper="an interchange of the deciding carry flips exactly the affected digit at 1.00, same-class controls 0.00",
    where="Sections on the resolved carry and on mixed models; one stimulus repeated",
)
SIGN = "sign"


@dataclass(frozen=True)
class _Cell:
    """What was measured at one digit (the sign has none) and depth: at the answer, and at the source."""

    branch: str
    digit: int | None
    depth: int
    delivered: Swapped
    source: Swapped
    answered: Rate


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    cells = list(_cells(subject, settings, watch))
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    margins = [
        _pooled(cells, settings, "depth", lambda c: c.depth),
        _pooled(cells, settings, "digit", lambda c: c.digit),
    ]
    pooled = [fact for some in margins for fact in some]
    answers = sum((cell.answered for cell in cells), Rate(0, 0))
    verdicts = weigh(pooled)
    verdict = overall(verdicts) if answers.value >= 0.5 else Verdict.UNTESTED
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(pooled, verdicts, verdict, cells),
        facts=(*facts, *pooled),
        figure=_figure(cells),
        headers=("branch", "digit", "depth", "at the answer, null", "at the column, null"),
        rows=tuple(
            (c.branch, "-" if c.digit is None else str(c.digit), str(c.depth), _text(c.delivered), _text(c.source))
            for c in cells
        ),
        beside_paper=(_beside(cells),),
    )


def _cells(subject: Subject, settings: Settings, watch: Watch) -> Iterator[_Cell]:
    digits, n = subject.digits, settings.n_pairs
    wanted = [
        (branch, digit, depth)
        for branch in branches_of(subject.operation)
        for digit in range(1, branch.top(digits) + 1)
        for depth in range(digit)
    ]
    for at, (branch, digit, depth) in enumerate(wanted):
        watch(CARD.title, at, len(wanted))
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        pairs = deciding_pairs(branch, digits, digit, depth, n, seed)
        yield _cell(subject, branch.value, digit, depth, pairs)
    for depth in range(digits) if subject.operation is not Operation.ADD else ():
        pairs = sign_pairs(digits, depth, n, settings.seed_of(CARD.name, SIGN, depth))
        yield _cell(subject, SIGN, None, depth, pairs)


def _cell(subject: Subject, branch: str, digit: int | None, depth: int, pairs: ColumnPairs) -> _Cell:
    if not len(pairs):
        empty = Swapped(Rate(0, 0), Rate(0, 0))
        return _Cell(branch, digit, depth, empty, empty, Rate(0, 0))
    place = subject.position("=") if digit is None else subject.predicting(digit)
    token = 0 if digit is None else subject.token(digit)
    above = [0] if digit is None else list(range(subject.token(pairs.column)))
    edits = [
        swap([node for node in subject.nodes_at(place) if not node.is_mlp]),
        swap(subject.nodes_at(subject.position(f"D'{pairs.column}"))),
    ]
    effect = subject.engine.run(edits, pairs.base, pairs.source)
    null = subject.engine.run(edits, pairs.base, pairs.null)
    wanted, count = pairs.expected, effect.tokens.shape[-1]
    others = [] if digit is None else [each for each in range(count) if each != token]
    alone = ~effect.changed[0][:, others].any(-1)
    still = null.changed[0][:, [token, *others]].any(-1)
    turned = effect.changed[:, :, token] & (effect.tokens[:, :, token] == wanted[:, token])
    followed = turned[1] & (effect.tokens[1][:, above] == wanted[:, above]).all(-1)
    return _Cell(
        *(branch, digit, depth),
        delivered=Swapped(_rate(turned[0] & alone), _rate(still)),
        source=Swapped(_rate(followed), _rate(null.changed[1][:, above].any(-1))),
        answered=_rate((effect.clean_tokens == effect.right).all(-1)),
    )


def _facts(cell: _Cell, settings: Settings) -> list[Fact]:
    about = {"branch": cell.branch, "digit": cell.digit, "depth": cell.depth}
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [
        swapped.fact(CARD.name, {**about, "site": site}, stimuli)
        for site, swapped in (("heads at the answer", cell.delivered), ("the column's place", cell.source))
    ]


def _pooled(cells: Sequence[_Cell], settings: Settings, name: str, key: Callable[[_Cell], int | None]) -> list[Fact]:
    groups: dict[tuple[str, int | None], list[_Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.branch, key(cell)), []).append(cell)
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [
        _joined([cell.delivered for cell in some]).fact(
            CARD.name, {"branch": branch, name: value, "site": "heads at the answer", "pooled": True}, stimuli
        )
        for (branch, value), some in groups.items()
    ]


def _says(facts: Sequence[Fact], verdicts: Sequence[Verdict], verdict: Verdict, cells: Sequence[_Cell]) -> str:
    if verdict is Verdict.UNTESTED:
        return "The model answers fewer than half of the questions, so nothing can follow."
    at_answer, at_column = (_joined([getattr(cell, name) for cell in cells]) for name in ("delivered", "source"))
    bad = [_where(fact) for fact, each in zip(facts, verdicts, strict=True) if each is not Verdict.SUPPORTED]
    weak = f"; not surely so for {', '.join(bad)}" if bad else " on every branch, at every digit and depth"
    return (
        f"Swapped at the answer, the deciding carry turns its digit and no other in {at_answer.effect}, null "
        f"{at_answer.null.value:.3f}{weak}; swapped at its column, all digits above follow in {at_column.effect}."
    )


def _where(fact: Fact) -> str:
    part = "digit" if "digit" in fact.about else "depth"
    return f"{fact.about['branch']} {part} {fact.about[part]}".replace(" None", "")


def _beside(cells: Sequence[_Cell]) -> BesidePaper:
    whole = _joined([cell.delivered for cell in cells])
    agrees = None if not whole.effect.n else whole.effect.interval[1] >= 0.99 and whole.null.interval[0] <= 0.01
    return BesidePaper(
        "digits that follow the deciding carry", "1.00, null 0.00", f"{whole.effect}, null {whole.null}", agrees
    )


def _figure(cells: Sequence[_Cell]) -> Figure:
    series = []
    for name in dict.fromkeys(cell.branch for cell in cells):
        depths = sorted({cell.depth for cell in cells if cell.branch == name})
        rates = [_joined([c.delivered for c in cells if (c.branch, c.depth) == (name, d)]).effect for d in depths]
        series.append(Series.of_rates(f"{name}, swapped at the answer", Kind.EFFECT, depths, rates))
    depths = sorted({cell.depth for cell in cells})
    by_depth = [[cell for cell in cells if cell.depth == depth] for depth in depths]
    at_column = [_joined([cell.source for cell in some]).effect for some in by_depth]
    nulls = [_joined([cell.delivered for cell in some]).null for some in by_depth]
    series.append(Series.of_rates("all, swapped at the column", Kind.RIVAL, depths, at_column))
    series.append(Series.of_rates("null: same carry", Kind.NULL, depths, nulls))
    return Figure("cascade depth", "share of pairs", tuple(series))


def _joined(some: Sequence[Swapped]) -> Swapped:
    effect, null = (sum((getattr(each, name) for each in some), Rate(0, 0)) for name in ("effect", "null"))
    return Swapped(effect, null)


def _text(swapped: Swapped) -> str:
    return f"{swapped.effect.hits}/{swapped.effect.n}, {swapped.null.hits}/{swapped.null.n}"


def _rate(hits: NDArray[np.bool_] | np.bool_) -> Rate:
    return Rate(int(np.sum(hits)), np.size(hits))
