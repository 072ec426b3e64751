"""Patching: is the deciding column's carry held at its own place, and brought to each digit by the combiner's heads?

Takes  a subject.
Gives  for every branch, digit and cascade depth how often the answer follows each of two interchanges that can fail;
       for subtractions the sign's too.
Never  rests on an interchange that copies the source's pass, nor counts a pair that the model, untouched, does not
       answer.

1. For digit j and depth d: columns j-1 to j-d are uncertain, the column below them decides. Turn that one.
2. Interchange all nodes of the deciding column's own place, D'k: all digits above it must become the source's.
3. Interchange the heads of one layer at the place that predicts digit j, and nothing earlier there: that digit must
   become the source's, every other token stay. The layer is the combiner's, found for each branch on other pairs
   (`combiner_layer.py`). In a model of one layer these are all heads of the place, so that step 5 holds.
4. Null of each interchange: the deciding column has other digits and the same carry.
5. A check, which no verdict rests on: all heads of the place that predicts the digit. Base and source have the same
   token there, so the MLPs compute the source's pass again: bound to work in a model that answers right.
6. For the sign, turn the column that decides which operand is the larger. Its place is `=`, whose token is always the
   same. Only the sign counts there: what `=` holds may be read by the digits too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layer
from carrylens.arithmetic.battery.measures.hit_rates import AnswerTokens, hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates, answered_pairs
from carrylens.arithmetic.battery.patching.card import CARD
from carrylens.arithmetic.battery.stimuli.branches import branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs, sign_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange

SIGN_BRANCH = "sign"
COLUMN_PLACE, COMBINER_HEADS = "the column's place", "the combiner's heads at the answer"
ALL_HEADS = "all heads at the answer"
"""Where values are interchanged. `ALL_HEADS` is bound to work in a model that answers right."""


@dataclass(frozen=True)
class PatchedCell:
    """What was measured at one digit (the sign has none) and depth, by site; `answered` is how many pairs count."""

    branch: str
    digit: int | None
    depth: int
    sites: Mapping[str, ColumnRates]
    answered: Rate

    def __str__(self) -> str:
        return f"{self.branch}{'' if self.digit is None else f' A{self.digit}'} depth {self.depth}"


def measure(context: ExperimentContext) -> list[PatchedCell]:
    """What the interchange at each site did, for every branch, digit and cascade depth."""
    return list(_cells(context))


def patched_sites(subject: Subject) -> tuple[str, ...]:
    """The sites that are interchanged. In one layer its heads are all heads: there only the copy is left of them."""
    return (COLUMN_PLACE, COMBINER_HEADS, ALL_HEADS) if subject.last_layer else (COLUMN_PLACE, ALL_HEADS)


def interchange_sites(
    subject: Subject, pairs: ColumnPairs, digit: int | None, wanted: AnswerTokens, layer: int
) -> dict[str, ColumnRates]:
    """What each site does; `wanted` are the answers that the digit, and all above the column, must become.

    `layer` is the combiner's.
    """
    sites = patched_sites(subject)
    if not len(pairs):
        return dict.fromkeys(sites, ColumnRates(Rate(0, 0), Rate(0, 0)))
    place = subject.position("=") if digit is None else subject.predicting(digit)
    heads = [node for node in subject.nodes_at(place) if not node.is_mlp]
    nodes = {
        COLUMN_PLACE: list(subject.nodes_at(subject.position(f"D'{pairs.column}"))),
        COMBINER_HEADS: [node for node in heads if node.layer == layer],
        ALL_HEADS: heads,
    }
    edits = [interchange(nodes[site]) for site in sites]
    effect = subject.engine.run(edits, pairs.base, pairs.source)
    null = subject.engine.run(edits, pairs.base, pairs.null)
    token = 0 if digit is None else subject.token(digit)
    above = [0] if digit is None else list(range(subject.token(pairs.column)))
    others = [] if digit is None else [each for each in range(effect.tokens.shape[-1]) if each != token]
    found = {}
    for at, site in enumerate(sites):
        tokens, changed, moved = effect.tokens[at], effect.changed[at], null.changed[at]
        turned = changed[:, token] & (tokens[:, token] == wanted[:, token])
        if site == COLUMN_PLACE:
            hits, still = (tokens[:, above] == wanted[:, above]).all(-1), moved[:, above].any(-1)
        else:
            hits, still = ~changed[:, others].any(-1), moved[:, [token, *others]].any(-1)
        found[site] = ColumnRates(hit_rate(turned & hits), hit_rate(still))
    return found


def _cells(context: ExperimentContext) -> Iterator[PatchedCell]:
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
        yield _measure_cell(subject, branch.value, digit, depth, pairs, combiner_layer(context, branch))
    for depth in range(digits) if subject.operation is not Operation.ADD else ():
        pairs = sign_pairs(digits, depth, n, settings.seed_of(CARD.name, SIGN_BRANCH, depth))
        yield _measure_cell(subject, SIGN_BRANCH, None, depth, pairs, combiner_layer(context, None))


def _measure_cell(
    subject: Subject, branch: str, digit: int | None, depth: int, drawn: ColumnPairs, layer: int
) -> PatchedCell:
    pairs = answered_pairs(subject, drawn)
    sites = interchange_sites(subject, pairs, digit, pairs.expected, layer)
    return PatchedCell(branch, digit, depth, sites, Rate(len(pairs), len(drawn)))
