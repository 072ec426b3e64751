"""Paths: along which edges does the resolved carry come to the combiner, and is `=` its origin or a depot?

Takes  a subject.
Gives  for every branch, digit and cascade depth how often the digit follows when edges into the combiner of its place
       carry the source's values: all, those of its layer's heads, each of these alone, those of earlier nodes; and when
       places do: `=`, all before it, all before it with `=` held.
Never  counts a pair that the model, untouched, does not answer, nor scores a head on the pairs it was picked on.

1. Pairs in which the column that decides digit j, below d uncertain ones, is turned. Null: other digits, same carry.
2. The combiner at the place of digit j, and nobody else, reads some senders of that place as they are for the source.
   Which layer's MLP combines is found for each branch on other pairs (`combining.py`); the paper takes the last.
3. The attention route is the heads of its layer; the residual route all that earlier layers write at that place. Beside
   them the same senders, read by the logits and not by the MLP.
4. Each head alone, and all but one. The best alone, and the one that is missed most, are picked on every other pair
   and scored on the rest: heads are redundant if none does it alone and all but any one do, and
   share the carry if one of them is needed.
5. Swap all nodes at `=`; all nodes before it; and those before it while `=` stays as it is for the base.
   For the column that decides digit j at depth d, `=` is an origin if it turns the digit and what lies before it does
   not; a depot if both do, and the places before it do not once `=` is held; one of several ways if they still do;
   bypassed if it does not turn the digit and they do, `=` held or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import Branch, ColumnPairs, branches_of, deciding_pairs
from carrylens.arithmetic.battery.combining import combiner_layer, combiner_layers, senders
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.swapping import Swapped, answered
from carrylens.arithmetic.battery.weighing import overall, surely_most, surely_seldom, weigh
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Edit, edge, swap

CARD = Card(
    name="paths",
    title="Which edges deliver the carry to the combiner",
    question="Do the heads of the combiner's own layer deliver the resolved carry to it at each digit, on every branch "
    "and at every cascade depth?",
    method=(
        "Pairs in which the deciding column is turned, below d uncertain ones; null: other digits, same carry.",
        "The combiner: the layer whose MLP turns the digit most often, found for each branch on other pairs.",
        "It, where the digit is predicted, and nobody else, reads senders of its place as for the source.",
        "Senders: all; its layer's heads, each alone, all but one; all earlier nodes; all, to the logits only.",
        "The best head alone, and the one missed most, are picked on half of the pairs and scored on the other.",
        "Is = an origin or a depot: swap all nodes there, all before it, and those with = held as it was.",
    ),
    refuted_if="on some branch, at some depth, the heads of its layer surely leave most digits as they were, or the "
    "null moves them as often.",
    paper="delivered carry-specifically to an answer-position combiner by redundant heads; = is a depot, not the "
    "source",
    where="Table of family invariants; App. techniques; worked examples",
)
ALL, HEADS, EARLIER, LOGITS = "all edges", "heads of its layer", "earlier nodes", "past the MLP"
EQUALS, BEFORE, HELD = "swap at =", "swap before =", "before =, = held"
UNCLEAR = "unclear"
ONE, REDUNDANT, SHARED = "one head alone", "redundant heads", "heads that share it"
_HEAD, _BUT = "head ", "all but head "
_NONE = Swapped(Rate(0, 0), Rate(0, 0))


@dataclass(frozen=True, eq=False)
class _Cell:
    """What was measured at one digit and depth: by edit, which pairs turn the digit, and which move in the null.

    Empty where the model answers fewer than half of the pairs.
    """

    branch: Branch
    digit: int
    depth: int
    turned: dict[str, NDArray[np.bool_]]
    moved: dict[str, NDArray[np.bool_]]

    def swapped(self, name: str) -> Swapped:
        """What one edit did."""
        return Swapped(_rate(self.turned[name]), _rate(self.moved[name])) if name in self.turned else _NONE


@dataclass(frozen=True, eq=False)
class PathMeasurements:
    """Every digit and depth that was asked for, and the layer of the combiner of every branch."""

    wanted: tuple[_Cell, ...]
    layers: Mapping[Branch, int]

    @property
    def cells(self) -> list[_Cell]:
        """Those of which the model answers enough pairs."""
        return [cell for cell in self.wanted if cell.turned]


def measure(context: ExperimentContext) -> PathMeasurements:
    """What every edge and place does, at each digit and depth."""
    return PathMeasurements(tuple(_cells(context)), combiner_layers(context))


def summarise(context: ExperimentContext, measured: PathMeasurements) -> Outcome:
    """What the edges say of how the carry is delivered, and what the places say of =."""
    settings, cells, layers = context.settings, measured.cells, measured.layers
    pooled = [
        _joined(some, HEADS).fact(CARD.name, {**about, "edit": HEADS, "pooled": True}, {"seed": settings.seed})
        for name, key in (("depth", _depth), ("digit", _digit))
        for about, some in _groups(measured.wanted, name, key)
    ]
    facts = [fact for cell in cells for fact in _facts(cell, settings)]
    digits = [some for _, some in _groups(cells, "digit", _digit)]
    picked = ("best head alone", "without the most missed")
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(pooled)),
        says=_says(cells, digits, layers),
        facts=(*facts, *(fact for some in digits for fact in _picked_facts(some, settings)), *pooled),
        figure=_figure(cells) if cells else None,
        headers=("digit", ALL, HEADS, *picked, EARLIER, LOGITS, EQUALS, BEFORE, HELD, "= is"),
        rows=tuple(map(_row, digits)),
        beside_paper=_beside(cells, digits, layers, context.subject.last_layer),
    )


def _facts(cell: _Cell, settings: Settings) -> list[Fact]:
    about = {"branch": cell.branch.value, "digit": cell.digit, "depth": cell.depth}
    stimuli = {"n": settings.n_pairs, "seed": settings.seed}
    return [cell.swapped(name).fact(CARD.name, {**about, "edit": name}, stimuli) for name in cell.turned]


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _cells(context: ExperimentContext) -> Iterator[_Cell]:
    subject, settings = context.subject, context.settings
    wanted = [
        (branch, digit, depth)
        for branch in branches_of(subject.operation)
        for digit in range(1, branch.top(subject.digits) + 1)
        for depth in range(digit)
    ]
    for at, (branch, digit, depth) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        drawn = deciding_pairs(branch, subject.digits, digit, depth, settings.n_pairs, seed)
        pairs = answered(subject, drawn)
        asked = len(pairs) and 2 * len(pairs) >= len(drawn)
        layer = combiner_layer(context, branch)
        yield _measure(subject, pairs, digit, depth, layer) if asked else _Cell(branch, digit, depth, {}, {})


def _measure(subject: Subject, pairs: ColumnPairs, digit: int, depth: int, layer: int) -> _Cell:
    edits, token = _edits(subject, digit, layer), subject.token(digit)
    names, wanted = list(edits), pairs.expected[:, token]
    effect = subject.engine.run(list(edits.values()), pairs.base, [pairs.source, pairs.base])
    null = subject.engine.run(list(edits.values()), pairs.base, [pairs.null, pairs.base])
    turned = effect.tokens[..., token] == wanted
    return _Cell(
        *(pairs.branch, digit, depth),
        turned=dict(zip(names, turned, strict=True)),
        moved=dict(zip(names, null.changed[..., token], strict=True)),
    )


def _edits(subject: Subject, digit: int, layer: int) -> dict[str, Edit]:
    place, equals = subject.predicting(digit), subject.position("=")
    here, combiner = senders(subject, place, layer), f"P{place}L{layer}MLP"
    heads = [node for node in here if node.layer == layer]
    earlier = [node for node in here if node.layer < layer]
    before = subject.nodes_at(*range(equals))
    at_equals = subject.nodes_at(equals)
    edits = {ALL: edge([*earlier, *heads], combiner), HEADS: edge(heads, combiner)}
    edits |= {f"{_HEAD}{node.head}": edge([node], combiner) for node in heads}
    for out in heads if len(heads) > 1 else ():
        edits[f"{_BUT}{out.head}"] = edge([node for node in heads if node is not out], combiner)
    if earlier:
        edits[EARLIER] = edge(earlier, combiner)
    edits[LOGITS] = edge([*earlier, *heads], f"P{place}.logits")
    return edits | {EQUALS: swap(at_equals), BEFORE: swap(before), HELD: swap(before) + swap(at_equals, source=1)}


def _best_head(cells: Sequence[_Cell]) -> tuple[str, Swapped]:
    return _extreme(cells, _HEAD, np.argmax)


def _most_missed(cells: Sequence[_Cell]) -> tuple[str, Swapped]:
    return _extreme(cells, _BUT, np.argmin)


def _extreme(cells: Sequence[_Cell], start: str, pick: Callable[[list[int]], np.intp]) -> tuple[str, Swapped]:
    # Picked on every other pair of all depths, scored on the rest.
    names = [name for name in cells[0].turned if name.startswith(start)]
    if not names:
        return "-", _NONE
    name = names[int(pick([sum(int(cell.turned[name][::2].sum()) for cell in cells) for name in names]))]
    turned, moved = (np.concatenate([getattr(c, of)[name][1::2] for c in cells]) for of in ("turned", "moved"))
    return name, Swapped(_rate(turned), _rate(moved))


def _picked_facts(cells: Sequence[_Cell], settings: Settings) -> list[Fact]:
    about = {"branch": cells[0].branch.value, "digit": cells[0].digit, "pooled": True}
    return [
        swapped.fact(CARD.name, {**about, "edit": name, "picked": what}, {"seed": settings.seed})
        for what, (name, swapped) in (("best alone", _best_head(cells)), ("missed most", _most_missed(cells)))
    ]


def _delivered_by(cells: Sequence[_Cell]) -> str:
    return delivered_by(_joined(cells, HEADS).effect, _best_head(cells)[1].effect, _most_missed(cells)[1].effect)


def delivered_by(heads: Rate, alone: Rate, rest: Rate) -> str:
    """What delivers a digit's carry: how often all heads turn it, the best one alone, and all but the most missed."""
    if not surely_most(heads):
        return UNCLEAR
    if surely_most(alone):
        return ONE
    if not surely_seldom(alone):
        return UNCLEAR
    return REDUNDANT if surely_most(rest) else SHARED if surely_seldom(rest) else UNCLEAR


def _equals_is(cell: _Cell) -> str:
    return equals_is(*(cell.swapped(name).effect for name in (EQUALS, BEFORE, HELD)))


def equals_is(equals: Rate, before: Rate, held: Rate) -> str:
    """What = is for the one column that decides a digit at one depth, by how often each swap turns the digit."""
    if not all(surely_most(rate) or surely_seldom(rate) for rate in (equals, before, held)):
        return UNCLEAR
    if surely_most(equals):
        return "origin" if surely_seldom(before) else "depot" if surely_seldom(held) else "one of several ways"
    if surely_most(held):
        return "bypassed"
    return "part of the way" if surely_most(before) else "not enough alone"


def _groups(
    cells: Sequence[_Cell], name: str, key: Callable[[_Cell], int]
) -> list[tuple[dict[str, object], list[_Cell]]]:
    groups: dict[tuple[Branch, int], list[_Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.branch, key(cell)), []).append(cell)
    return [({"branch": branch.value, name: value}, some) for (branch, value), some in groups.items()]


def _depth(cell: _Cell) -> int:
    return cell.depth


def _digit(cell: _Cell) -> int:
    return cell.digit


def _says(cells: Sequence[_Cell], digits: Sequence[Sequence[_Cell]], layers: Mapping[Branch, int]) -> str:
    if not cells:
        return "The model answers too few of the questions for a carry to be delivered."
    parts = []
    for branch in dict.fromkeys(cell.branch for cell in cells):
        mine = [cell for cell in cells if cell.branch is branch]
        heads, earlier, every = (_joined(mine, name) for name in (HEADS, EARLIER, ALL))
        parts.append(
            f"{branch.value}, combined by the MLP of layer {layers[branch]}: through the heads of that layer the digit "
            f"turns in {heads.effect.value:.2f} of pairs (null {heads.null.value:.2f}), from earlier nodes there "
            f"in {earlier.effect.value:.2f}, all edges {every.effect.value:.2f}"
        )
    heads_of, equals = map(_delivered_by, digits), map(_equals_is, cells)
    return (
        f"{'; '.join(parts)}. Digits by what delivers their carry: {_counted(list(heads_of))}. Columns that decide a "
        f"digit by what = is for them: {_counted(list(equals))}."
    )


def _beside(
    cells: Sequence[_Cell], digits: Sequence[Sequence[_Cell]], layers: Mapping[Branch, int], last: int
) -> tuple[BesidePaper, ...]:
    if not cells:
        return ()
    heads = [how for how in map(_delivered_by, digits) if how != UNCLEAR]
    roles = [role for role in map(_equals_is, cells) if role != UNCLEAR]
    whole = _joined(cells, HEADS)
    specific = surely_most(whole.effect) and surely_seldom(whole.null)
    mine = {branch: layers[branch] for branch in dict.fromkeys(cell.branch for cell in cells)}
    named = ", ".join(f"{branch.value} layer {layer}" for branch, layer in mine.items())
    return (
        BesidePaper(
            "the layer whose MLP combines", f"the last ({last}), for all branches", named, set(mine.values()) == {last}
        ),
        BesidePaper(
            "delivery by the heads of its layer", "carry-specific", f"{whole.effect}, null {whole.null}", specific
        ),
        BesidePaper(
            "heads that deliver", "redundant", _counted(heads) or UNCLEAR, set(heads) == {REDUNDANT} if heads else None
        ),
        BesidePaper(
            "what = is",
            "a depot, not the source",
            _counted(roles) or UNCLEAR,
            set(roles) <= {"depot", "one of several ways"} if roles else None,
        ),
    )


def _counted(roles: Sequence[str]) -> str:
    return ", ".join(f"{role} {roles.count(role)}" for role in sorted(set(roles), key=lambda r: (-roles.count(r), r)))


def _figure(cells: Sequence[_Cell]) -> Figure:
    series = []
    for name, kind in ((HEADS, Kind.EFFECT), (EARLIER, Kind.RIVAL)):
        for branch in dict.fromkeys(cell.branch for cell in cells):
            groups = _by_depth([cell for cell in cells if cell.branch is branch and name in cell.turned])
            rates = [_joined(some, name).effect for some in groups.values()]
            if rates:
                series.append(Series.of_rates(f"{branch.value}, {name}", kind, list(groups), rates))
    groups = _by_depth(cells)
    nulls = [_joined(some, HEADS).null for some in groups.values()]
    series.append(Series.of_rates(f"null: same carry, {HEADS}", Kind.NULL, list(groups), nulls))
    return Figure("cascade depth", "share of pairs whose digit turns", tuple(series))


def _by_depth(cells: Sequence[_Cell]) -> dict[int, list[_Cell]]:
    return {depth: [c for c in cells if c.depth == depth] for depth in sorted({cell.depth for cell in cells})}


def _row(cells: Sequence[_Cell]) -> tuple[str, ...]:
    picked = [
        f"{name.removeprefix('all but ')}: {_text(each)}" for name, each in (_best_head(cells), _most_missed(cells))
    ]
    texts = {edit: _text(_joined(cells, edit)) for edit in (ALL, HEADS, EARLIER, LOGITS, EQUALS, BEFORE, HELD)}
    shown = [texts[ALL], texts[HEADS], *picked]
    shown += [texts[edit] for edit in (EARLIER, LOGITS, EQUALS, BEFORE, HELD)]
    return (f"A{cells[0].digit} {cells[0].branch.value}", *shown, _counted(list(map(_equals_is, cells))))


def _joined(cells: Sequence[_Cell], name: str) -> Swapped:
    some = [cell.swapped(name) for cell in cells]
    effect, null = (sum((getattr(each, side) for each in some), Rate(0, 0)) for side in ("effect", "null"))
    return Swapped(effect, null)


def _text(swapped: Swapped) -> str:
    return f"{swapped.effect.value:.2f}, {swapped.null.value:.2f}" if swapped.effect.n else "-"


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
