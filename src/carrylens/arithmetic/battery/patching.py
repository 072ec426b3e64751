"""Patching: is the deciding column's carry held at its own place, and brought to each digit by the combiner's heads?

Takes  a subject.
Gives  for every branch, digit and cascade depth how often the answer follows each of two swaps that can fail; for
       subtractions the sign's too.
Never  rests on a swap that copies the source's pass, nor counts a pair that the model, untouched, does not answer.

1. For digit j and depth d: columns j-1 to j-d are uncertain, the column below them decides. Turn that one.
2. Swap all nodes of the deciding column's own place, D'k: all digits above it must become the source's.
3. Swap the heads of one layer at the place that predicts digit j, and nothing earlier there: that digit must become the
   source's, every other token stay. The layer is the combiner's, found for each branch on other pairs (`combining.py`).
   In a model of one layer these are all heads of the place, so that step 5 holds.
4. Null of each swap: the deciding column has other digits and the same carry.
5. A check, which no verdict rests on: all heads of the place that predicts the digit. Base and source have the same
   token there, so the MLPs compute the source's pass again: bound to work in a model that answers right.
6. For the sign, turn the column that decides which operand is the larger. Its place is `=`, whose token is always the
   same. Only the sign counts there: what `=` holds may be read by the digits too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import ColumnPairs, branches_of, deciding_pairs, sign_pairs
from carrylens.arithmetic.battery.combining import combiner_layer
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.swapping import Swapped, answered
from carrylens.arithmetic.battery.weighing import overall, weigh
from carrylens.arithmetic.questions import Operation
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import swap

CARD = Card(
    name="patching",
    title="Patching of carry, borrow and sign",
    question="Is the deciding column's carry (borrow, sign) held at that column's own place and brought to each digit "
    "by the heads of the layer that combines it, at every digit and cascade depth and on every branch?",
    method=(
        "Pairs that differ in the deciding column alone: below d uncertain columns its carry is turned.",
        "Swap all nodes of the deciding column's own place: all digits above it must become the source's.",
        "Swap the heads of the combiner's layer alone where the digit is predicted: it must follow, every other token "
        "stay. The layer whose MLP combines is found for each branch on other pairs.",
        "Null: the deciding column has other digits and the same carry.",
        "Subtractions: the same for the sign, whose place is =.",
        "Check: all heads where the digit is predicted, a copy of the source's pass there. No verdict rests on it.",
    ),
    refuted_if="on some branch, at some digit and depth, one of the two swaps surely leaves most answers as they were, "
    "or its null moves them as often.",
    paper="an interchange of the deciding carry flips exactly the affected digit at 1.00, same-class controls 0.00",
    where="Sections on the resolved carry and on mixed models; one stimulus repeated",
)
SIGN = "sign"
COLUMN, HEADS = "the column's place", "the combiner's heads at the answer"
COPY = "all heads at the answer"
"""Where is swapped. `COPY` is bound to work in a model that answers right."""
_NAMED = 4  # how many failing cells the sentence names

Tokens = NDArray[np.int8]


@dataclass(frozen=True)
class _Cell:
    """What was measured at one digit (the sign has none) and depth, by site; `answered` is how many pairs count."""

    branch: str
    digit: int | None
    depth: int
    sites: Mapping[str, Swapped]
    answered: Rate

    def __str__(self) -> str:
        return f"{self.branch}{'' if self.digit is None else f' A{self.digit}'} depth {self.depth}"


def measure(context: ExperimentContext) -> list[_Cell]:
    """What the interchange at each site did, for every branch, digit and cascade depth."""
    return list(_cells(context))


def summarise(context: ExperimentContext, cells: Sequence[_Cell]) -> Outcome:
    """What the interchanges say of where the deciding carry is held, and who brings it to the digit."""
    settings = context.settings
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    pooled = [fact for name in ("depth", "digit") for fact in _pooled(cells, settings, name)]
    judged = [fact for fact in facts if fact.about["site"] != COPY]
    verdicts: dict[str, list[Verdict]] = {}
    for fact, verdict in zip(judged, weigh(judged), strict=True):
        verdicts.setdefault(str(fact.about["site"]), []).append(verdict)
    sites = sites_of(context.subject)
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([verdict for some in verdicts.values() for verdict in some]),
        says=_says(cells, verdicts),
        facts=(*facts, *pooled),
        figure=_figure(cells),
        headers=("branch", "digit", "depth", "answered", *(f"{site}, null" for site in sites)),
        rows=tuple(_row(cell, sites) for cell in cells),
        beside_paper=_beside(cells, sites),
    )


def _row(cell: _Cell, sites: Sequence[str]) -> tuple[str, ...]:
    return (
        *(cell.branch, "-" if cell.digit is None else str(cell.digit), str(cell.depth)),
        f"{cell.answered.hits}/{cell.answered.n}",
        *(_text(cell.sites[site]) for site in sites),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def sites_of(subject: Subject) -> tuple[str, ...]:
    """The sites that are swapped. In one layer its heads are all heads: there only the copy is left of them."""
    return (COLUMN, HEADS, COPY) if subject.last_layer else (COLUMN, COPY)


def swap_sites(
    subject: Subject, pairs: ColumnPairs, digit: int | None, wanted: Tokens, layer: int
) -> dict[str, Swapped]:
    """What each site does; `wanted` are the answers that the digit, and all above the column, must become.

    `layer` is the combiner's.
    """
    sites = sites_of(subject)
    if not len(pairs):
        return dict.fromkeys(sites, Swapped(Rate(0, 0), Rate(0, 0)))
    place = subject.position("=") if digit is None else subject.predicting(digit)
    heads = [node for node in subject.nodes_at(place) if not node.is_mlp]
    nodes = {
        COLUMN: list(subject.nodes_at(subject.position(f"D'{pairs.column}"))),
        HEADS: [node for node in heads if node.layer == layer],
        COPY: heads,
    }
    edits = [swap(nodes[site]) for site in sites]
    effect = subject.engine.run(edits, pairs.base, pairs.source)
    null = subject.engine.run(edits, pairs.base, pairs.null)
    token = 0 if digit is None else subject.token(digit)
    above = [0] if digit is None else list(range(subject.token(pairs.column)))
    others = [] if digit is None else [each for each in range(effect.tokens.shape[-1]) if each != token]
    found = {}
    for at, site in enumerate(sites):
        tokens, changed, moved = effect.tokens[at], effect.changed[at], null.changed[at]
        turned = changed[:, token] & (tokens[:, token] == wanted[:, token])
        if site == COLUMN:
            hits, still = (tokens[:, above] == wanted[:, above]).all(-1), moved[:, above].any(-1)
        else:
            hits, still = ~changed[:, others].any(-1), moved[:, [token, *others]].any(-1)
        found[site] = Swapped(_rate(turned & hits), _rate(still))
    return found


def _cells(context: ExperimentContext) -> Iterator[_Cell]:
    subject, settings = context.subject, context.settings
    digits, n = subject.digits, settings.n_pairs
    wanted = [
        (branch, digit, depth)
        for branch in branches_of(subject.operation)
        for digit in range(1, branch.top(digits) + 1)
        for depth in range(digit)
    ]
    for at, (branch, digit, depth) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        pairs = deciding_pairs(branch, digits, digit, depth, n, seed)
        yield _cell(subject, branch.value, digit, depth, pairs, combiner_layer(context, branch))
    for depth in range(digits) if subject.operation is not Operation.ADD else ():
        pairs = sign_pairs(digits, depth, n, settings.seed_of(CARD.name, SIGN, depth))
        yield _cell(subject, SIGN, None, depth, pairs, combiner_layer(context, None))


def _cell(subject: Subject, branch: str, digit: int | None, depth: int, drawn: ColumnPairs, layer: int) -> _Cell:
    pairs = answered(subject, drawn)
    sites = swap_sites(subject, pairs, digit, pairs.expected, layer)
    return _Cell(branch, digit, depth, sites, Rate(len(pairs), len(drawn)))


def _facts(cell: _Cell, settings: Settings) -> list[Fact]:
    about = {"branch": cell.branch, "digit": cell.digit, "depth": cell.depth}
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [swapped.fact(CARD.name, {**about, "site": site}, stimuli) for site, swapped in cell.sites.items()]


def _pooled(cells: Sequence[_Cell], settings: Settings, name: str) -> list[Fact]:
    groups: dict[tuple[str, int | None], list[_Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.branch, cell.depth if name == "depth" else cell.digit), []).append(cell)
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [
        _joined(some, site).fact(CARD.name, {"branch": branch, name: value, "site": site, "pooled": True}, stimuli)
        for (branch, value), some in groups.items()
        for site in some[0].sites
    ]


def _says(cells: Sequence[_Cell], verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    if not any(cell.answered.hits for cell in cells):
        return "The model answers none of the pairs of questions, so nothing can follow."
    parts = {
        COLUMN: "Swapped at its column's own place, the deciding carry turns all digits above in",
        HEADS: "through the combiner's heads alone, where a digit is predicted, it turns that and no other in",
    }
    told = [f"{parts[site]} {_told(cells, site, some)}" for site, some in verdicts.items()]
    right = sum((cell.answered for cell in cells), Rate(0, 0))
    few = "" if right.hits == right.n else f". Pairs that the model answers: {right.hits} of {right.n}"
    return f"{'; '.join(told)}{few}."


def _told(cells: Sequence[_Cell], site: str, verdicts: Sequence[Verdict]) -> str:
    whole = _joined(cells, site)
    text = f"{whole.effect}, null {whole.null.value:.3f}"
    if set(verdicts) == {Verdict.SUPPORTED}:
        return f"{text}, surely in most at every digit and depth"
    failing = [str(cell) for cell, each in zip(cells, verdicts, strict=True) if each is Verdict.REFUTED]
    more = f" and {len(failing) - _NAMED} more" if len(failing) > _NAMED else ""
    named = f", surely not in {len(failing)} ({', '.join(failing[:_NAMED])}{more})" if failing else ""
    return f"{text}, surely in most in {verdicts.count(Verdict.SUPPORTED)} of {len(verdicts)} digits and depths{named}"


def _beside(cells: Sequence[_Cell], sites: Sequence[str]) -> tuple[BesidePaper, ...]:
    rows = []
    for site, what in (
        (HEADS, "digits that follow the deciding carry, brought by the heads of the combiner's layer alone"),
        (COPY, "check, all heads of the place: a copy of the source's pass there, bound to work if the model is right"),
    ):
        if site in sites:
            both = _joined(cells, site)
            fits = both.effect.interval[1] >= 0.99 and both.null.interval[0] <= 0.01
            agrees = None if site == COPY or not both.effect.n else fits
            rows.append(BesidePaper(what, "1.00, null 0.00", f"{both.effect}, null {both.null}", agrees))
    return tuple(rows)


def _figure(cells: Sequence[_Cell]) -> Figure:
    depths = sorted({cell.depth for cell in cells})
    by_depth = [[cell for cell in cells if cell.depth == depth] for depth in depths]
    series = []
    for name in dict.fromkeys(cell.branch for cell in cells):
        some = [(depth, [cell for cell in cells if (cell.branch, cell.depth) == (name, depth)]) for depth in depths]
        own = [(depth, _joined(group, COLUMN).effect) for depth, group in some if group]
        series.append(
            Series.of_rates(f"{name}, swapped at its column", Kind.EFFECT, [d for d, _ in own], [r for _, r in own])
        )
    if all(HEADS in cell.sites for cell in cells):
        rates = [_joined(some, HEADS).effect for some in by_depth]
        series.append(Series.of_rates("all, through the combiner's heads", Kind.RIVAL, depths, rates))
    nulls = [_joined(some, COLUMN).null for some in by_depth]
    series.append(Series.of_rates("null: column, same carry", Kind.NULL, depths, nulls))
    return Figure("cascade depth", "share of pairs", tuple(series))


def _joined(cells: Sequence[_Cell], site: str) -> Swapped:
    effect, null = (sum((getattr(c.sites[site], name) for c in cells), Rate(0, 0)) for name in ("effect", "null"))
    return Swapped(effect, null)


def _text(swapped: Swapped) -> str:
    return f"{swapped.effect.hits}/{swapped.effect.n}, {swapped.null.hits}/{swapped.null.n}"


def _rate(hits: NDArray[np.bool_] | np.bool_) -> Rate:
    return Rate(int(np.sum(hits)), np.size(hits))
