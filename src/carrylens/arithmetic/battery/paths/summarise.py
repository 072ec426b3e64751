"""What `paths` says: which edges deliver the carry, how many heads share it, and what = is.

Takes  which pairs turn the digit under every edit.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model, nor scores a head on the pairs it was picked on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.measures.verdict_rules import overall, surely_most, surely_seldom, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.paths.card import CARD
from carrylens.arithmetic.battery.paths.measure import (
    ALL_BUT_PREFIX,
    ALL_EDGES,
    AT_EQUALS,
    BEFORE_EQUALS,
    EARLIER,
    EQUALS_HELD,
    LAYER_HEADS,
    NO_PAIRS,
    ONE_HEAD_PREFIX,
    PAST_MLP,
    PathCell,
    PathMeasurements,
)
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

UNCLEAR = "unclear"
ONE_HEAD, REDUNDANT_HEADS, SHARING_HEADS = "one head alone", "redundant heads", "heads that share it"
ORIGIN, DEPOT, SEVERAL_WAYS = "origin", "depot", "one of several ways"
BYPASSED, PART_WAY, NOT_ALONE = "bypassed", "part of the way", "not enough alone"
EQUALS_ROLES = (ORIGIN, DEPOT, SEVERAL_WAYS, BYPASSED, PART_WAY, NOT_ALONE)
"""What = may be for a column that decides a digit."""
PICKED_ALONE, PICKED_MISSED = "best alone", "missed most"
LAYER_ROW, DELIVERY_ROW = "the layer whose MLP combines", "delivery by the heads of its layer"
DELIVERING_ROW, EQUALS_ROW = "heads that deliver", "what = is"
"""What is set beside the paper."""


@dataclass(frozen=True)
class PathsTold:
    """What the sentence about `paths` is made of."""

    cells: Sequence[PathCell]
    digits: Sequence[Sequence[PathCell]]
    layers: Mapping[Branch, int]


def summarise(context: ExperimentContext, measured: PathMeasurements) -> Summary:
    """What the edges say of how the carry is delivered, and what the places say of =."""
    settings, cells, layers = context.settings, measured.cells, measured.layers
    pooled = [
        joined_paths(some, LAYER_HEADS).fact(
            CARD.name, {**about, "edit": LAYER_HEADS, "pooled": True}, {"seed": settings.seed}
        )
        for name, key in (("depth", _depth), ("digit", _digit))
        for about, some in _groups(measured.wanted, name, key)
    ]
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    digits = [some for _, some in _groups(cells, "digit", _digit)]
    picked = ("best head alone", "without the most missed")
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(pooled)),
        says="",
        facts=(*facts, *(fact for some in digits for fact in _picked_facts(some, settings)), *pooled),
        figure=_figure(cells) if cells else None,
        headers=(
            "digit",
            ALL_EDGES,
            LAYER_HEADS,
            *picked,
            EARLIER,
            PAST_MLP,
            AT_EQUALS,
            BEFORE_EQUALS,
            EQUALS_HELD,
            "= is",
        ),
        rows=tuple(map(_row, digits)),
        beside_paper=_beside(cells, digits, layers, context.subject.last_layer),
    )
    return Summary(outcome, PathsTold(cells, digits, layers))


def _facts(cell: PathCell, settings: BatterySettings) -> list[Fact]:
    about = {"branch": cell.branch.value, "digit": cell.digit, "depth": cell.depth}
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [cell.rates_of(name).fact(CARD.name, {**about, "edit": name}, stimuli) for name in cell.turned]


def _best_head(cells: Sequence[PathCell]) -> tuple[str, ColumnRates]:
    return _extreme(cells, ONE_HEAD_PREFIX, np.argmax)


def _most_missed(cells: Sequence[PathCell]) -> tuple[str, ColumnRates]:
    return _extreme(cells, ALL_BUT_PREFIX, np.argmin)


def _extreme(cells: Sequence[PathCell], start: str, pick: Callable[[list[int]], np.intp]) -> tuple[str, ColumnRates]:
    # Picked on every other pair of all depths, scored on the rest.
    names = [name for name in cells[0].turned if name.startswith(start)]
    if not names:
        return "-", NO_PAIRS
    name = names[int(pick([sum(int(cell.turned[name][::2].sum()) for cell in cells) for name in names]))]
    turned, moved = (np.concatenate([getattr(c, of)[name][1::2] for c in cells]) for of in ("turned", "moved"))
    return name, ColumnRates(hit_rate(turned), hit_rate(moved))


def _picked_facts(cells: Sequence[PathCell], settings: BatterySettings) -> list[Fact]:
    about = {"branch": cells[0].branch.value, "digit": cells[0].digit, "pooled": True}
    return [
        rates.fact(CARD.name, {**about, "edit": name, "picked": what}, {"seed": settings.seed})
        for what, (name, rates) in ((PICKED_ALONE, _best_head(cells)), (PICKED_MISSED, _most_missed(cells)))
    ]


def delivery_of(cells: Sequence[PathCell]) -> str:
    """What delivers the carry of a digit, over its cells."""
    return delivered_by(
        joined_paths(cells, LAYER_HEADS).effect, _best_head(cells)[1].effect, _most_missed(cells)[1].effect
    )


def delivered_by(heads: Rate, alone: Rate, rest: Rate) -> str:
    """What delivers a digit's carry: how often all heads turn it, the best one alone, and all but the most missed."""
    if not surely_most(heads):
        return UNCLEAR
    if surely_most(alone):
        return ONE_HEAD
    if not surely_seldom(alone):
        return UNCLEAR
    return REDUNDANT_HEADS if surely_most(rest) else SHARING_HEADS if surely_seldom(rest) else UNCLEAR


def role_of_equals(cell: PathCell) -> str:
    """What = is for the carry of one cell."""
    return equals_is(*(cell.rates_of(name).effect for name in (AT_EQUALS, BEFORE_EQUALS, EQUALS_HELD)))


def equals_is(equals: Rate, before: Rate, held: Rate) -> str:
    """What = is for the one column that decides a digit at one depth, by how often each interchange turns the digit."""
    if not all(surely_most(rate) or surely_seldom(rate) for rate in (equals, before, held)):
        return UNCLEAR
    if surely_most(equals):
        return ORIGIN if surely_seldom(before) else DEPOT if surely_seldom(held) else SEVERAL_WAYS
    if surely_most(held):
        return BYPASSED
    return PART_WAY if surely_most(before) else NOT_ALONE


def _groups(
    cells: Sequence[PathCell], name: str, key: Callable[[PathCell], int]
) -> list[tuple[dict[str, object], list[PathCell]]]:
    groups: dict[tuple[Branch, int], list[PathCell]] = {}
    for cell in cells:
        groups.setdefault((cell.branch, key(cell)), []).append(cell)
    return [({"branch": branch.value, name: value}, some) for (branch, value), some in groups.items()]


def _depth(cell: PathCell) -> int:
    return cell.depth


def _digit(cell: PathCell) -> int:
    return cell.digit


def _beside(
    cells: Sequence[PathCell], digits: Sequence[Sequence[PathCell]], layers: Mapping[Branch, int], last: int
) -> tuple[BesidePaper, ...]:
    if not cells:
        return ()
    heads = [how for how in map(delivery_of, digits) if how != UNCLEAR]
    roles = [role for role in map(role_of_equals, cells) if role != UNCLEAR]
    whole = joined_paths(cells, LAYER_HEADS)
    specific = surely_most(whole.effect) and surely_seldom(whole.null)
    mine = {branch: layers[branch] for branch in dict.fromkeys(cell.branch for cell in cells)}
    named = ", ".join(f"{branch.value} layer {layer}" for branch, layer in mine.items())
    return (
        BesidePaper(LAYER_ROW, f"the last ({last}), for all branches", named, set(mine.values()) == {last}),
        BesidePaper(DELIVERY_ROW, "carry-specific", f"{whole.effect}, null {whole.null}", specific),
        BesidePaper(
            DELIVERING_ROW,
            "redundant",
            counted_roles(heads) or UNCLEAR,
            set(heads) == {REDUNDANT_HEADS} if heads else None,
        ),
        BesidePaper(
            EQUALS_ROW,
            "a depot, not the source",
            counted_roles(roles) or UNCLEAR,
            set(roles) <= {DEPOT, SEVERAL_WAYS} if roles else None,
        ),
    )


def counted_roles(roles: Sequence[str]) -> str:
    """Each role with how often it is there, the most frequent first."""
    return ", ".join(f"{role} {roles.count(role)}" for role in sorted(set(roles), key=lambda r: (-roles.count(r), r)))


def _figure(cells: Sequence[PathCell]) -> Figure:
    series = []
    for name, kind in ((LAYER_HEADS, SeriesKind.EFFECT), (EARLIER, SeriesKind.RIVAL)):
        for branch in dict.fromkeys(cell.branch for cell in cells):
            groups = _by_depth([cell for cell in cells if cell.branch is branch and name in cell.turned])
            rates = [joined_paths(some, name).effect for some in groups.values()]
            if rates:
                series.append(Series.of_rates(f"{branch.value}, {name}", kind, list(groups), rates))
    groups = _by_depth(cells)
    nulls = [joined_paths(some, LAYER_HEADS).null for some in groups.values()]
    series.append(Series.of_rates(f"null: same carry, {LAYER_HEADS}", SeriesKind.NULL, list(groups), nulls))
    return Figure("cascade depth", "share of pairs whose digit turns", tuple(series))


def _by_depth(cells: Sequence[PathCell]) -> dict[int, list[PathCell]]:
    return {depth: [c for c in cells if c.depth == depth] for depth in sorted({cell.depth for cell in cells})}


def _row(cells: Sequence[PathCell]) -> tuple[str, ...]:
    picked = [
        f"{name.removeprefix('all but ')}: {_text(each)}" for name, each in (_best_head(cells), _most_missed(cells))
    ]
    texts = {
        edit: _text(joined_paths(cells, edit))
        for edit in (ALL_EDGES, LAYER_HEADS, EARLIER, PAST_MLP, AT_EQUALS, BEFORE_EQUALS, EQUALS_HELD)
    }
    shown = [texts[ALL_EDGES], texts[LAYER_HEADS], *picked]
    shown += [texts[edit] for edit in (EARLIER, PAST_MLP, AT_EQUALS, BEFORE_EQUALS, EQUALS_HELD)]
    return (f"A{cells[0].digit} {cells[0].branch.value}", *shown, counted_roles(list(map(role_of_equals, cells))))


def joined_paths(cells: Sequence[PathCell], name: str) -> ColumnRates:
    """The rates of all cells under one edit, together."""
    some = [cell.rates_of(name) for cell in cells]
    effect, null = (sum((getattr(each, side) for each in some), Rate(0, 0)) for side in ("effect", "null"))
    return ColumnRates(effect, null)


def _text(rates: ColumnRates) -> str:
    return f"{rates.effect.value:.2f}, {rates.null.value:.2f}" if rates.effect.n else "-"
