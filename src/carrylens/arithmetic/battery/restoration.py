"""Restoration: what do the useful nodes, kept alone, lack, and which few others bring it back?

Takes  a subject.
Gives  for every branch which untagged nodes restore most, how many answers come back with the best of them, beside
       matched random ones; what these nodes write and what they do when swapped together.
Never  ranks nodes, or chooses how many, on the questions they are scored on, nor draws a chosen node at random.

1. Keep the tagged nodes only (those of the map, or those without which a question fails). Of the two ways to ablate the
   rest, by the mean and by another question's value, take the one that leaves fewer answers right. Both are of all
   branches alike (a mixed model: a third each), so that what is ablated does not tell which operation is asked.
2. On one split add each untagged node alone, rank them and choose how many to add (`adding.py`).
3. On another split score the best 1, 2, 5, ... beside random additions, drawn from the nodes that are neither tagged
   nor among the best: for each one of its kind and layer within two places, or as near as is left (`adding.py`).
4. Ask each question that fails there with the chosen nodes and with a random set of its own: a paired test, and the
   difference with its interval (`brought_back.py`).
5. Of the chosen nodes: read the carry or the sign off what they write, and swap those of each place together.
6. The paper ablates by the mean, and has figures for mix d6 alone: there steps 2 and 3 are done with the mean besides,
   where enough answers fail under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.adding import NEARNESS, Best, Keeping, best_nodes
from carrylens.arithmetic.battery.brought_back import Brought, judge_brought
from carrylens.arithmetic.battery.columns import Branch, branches_of
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.restored_writes import Told, told_by
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.swapping import Swapped
from carrylens.arithmetic.battery.tagging import Tagged, natural_questions, reference_questions, tagged_nodes
from carrylens.arithmetic.battery.weighing import overall
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill
from carrylens.nodes import Node

CARD = Card(
    name="restoration",
    title="What the map misses, and what brings it back",
    question="Where the useful nodes alone do not suffice, do a few others restore the answers, and not just any?",
    method=(
        "Keep the tagged nodes; the rest write a mean or another question's value, whichever leaves fewer right. Both "
        "are of all branches alike, so that ablated nodes do not tell the operation.",
        "On one split rank untagged nodes by how much adding each alone restores, and choose how many to add.",
        "On another split, of the questions that fail, count those the chosen nodes bring back.",
        "Null: random nodes, neither tagged nor chosen, of the same kinds and layers, at most two places away where "
        "any are left; each failing question has a set of its own.",
        "Paired test of the same questions, chosen against random; the difference has an interval.",
        "Read carry or sign off what the chosen nodes write (floor: shuffled labels); swap those of a place together.",
    ),
    refuted_if="on some branch surely fewer than half of the failing questions come back, or random additions bring "
    "back as many, or surely most of them too: then just any do.",
    paper="mix d6: best 5/10/20 nodes .940/.963/1.0 (random .49/.63/.58) on positive differences, .990/1.0 with 5/10 "
    "on negative ones; their write decodes the borrow at 1.00, swapped together they turn the digit at 1.00, null 0.00",
    where="Section on mixed models; ranked and scored on the same questions",
)
_NULL = "as many matched nodes, neither tagged nor chosen"
COUNTS = (1, 2, 5, 10, 20, 40)
_FILLS = (Fill.MEAN, Fill.RESAMPLE)
_PAPER_MODEL = (Operation.MIX, 6)
_PAPER_COUNTS = (5, 10, 20)
_PAPER = {
    Branch.POSITIVE: (".940/.963/1.0, random .49/.63/.58 (mix d6)", 0.963),
    Branch.NEGATIVE: (".990/1.0 with 5/10 (mix d6)", 1.0),
}
"""The paper's figures, and that with ten nodes."""


@dataclass(frozen=True, eq=False)
class _Curve:
    """Which answers are right with 0, 1, 2, 5, ... nodes added: the best ones, and random ones."""

    fill: Fill
    counts: tuple[int, ...]
    right: list[NDArray[np.bool_]]
    null: list[NDArray[np.bool_]]

    @property
    def lost(self) -> int:
        """How many questions fail with nothing added."""
        return int((~self.right[0]).sum())

    @property
    def tells(self) -> bool:
        """Whether enough of them fail for anything to be restored."""
        return self.lost >= THRESHOLDS.least_searched


@dataclass(frozen=True, eq=False)
class _Restored:
    """What was found on one branch; `by_mean` is the curve under the paper's fill, where the paper has one.

    `brought` is what chosen and random nodes bring back, where enough fails; `nearness` how many of the random ones
    were drawn how near to the chosen.
    """

    branch: Branch
    curve: _Curve
    by_mean: _Curve | None
    chosen: Nodes
    told: list[Told]
    brought: Brought | None = None
    nearness: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class RestorationMeasurements:
    """The useful nodes, and what was found on every branch."""

    tagged: Tagged
    found: tuple[_Restored, ...]


def measure(context: ExperimentContext) -> RestorationMeasurements:
    """Rank, choose and score untagged nodes on every branch."""
    subject, branches = context.subject, branches_of(context.subject.operation)
    context.watch(CARD.title, 0, len(branches) + 1)
    tagged = tagged_nodes(context)
    others = _untagged(subject, tagged)
    found = []
    for at, branch in enumerate(branches if tagged.nodes and len(others) > 1 else ()):
        context.watch(CARD.title, at + 1, len(branches) + 1)
        each = _measure(context, branch, tagged, others)
        if each is not None:
            found.append(each)
    return RestorationMeasurements(tagged, tuple(found))


def summarise(context: ExperimentContext, measured: RestorationMeasurements) -> Outcome:
    """Whether a few untagged nodes, and not just any, restore what the useful ones lack."""
    settings, tagged, found = context.settings, measured.tagged, measured.found
    incomplete = [each for each in found if each.brought is not None]
    brought = [each.brought for each in incomplete if each.brought is not None]
    back = [_back_fact(each, tagged, settings) for each in incomplete]
    told = [told for each in incomplete for told in each.told]
    curves = [fact for each in found for fact in _curve_facts(each, tagged, settings)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(judge_brought(brought)),
        says=_says(found, tagged),
        facts=(*back, *(fact for each in told for fact in _told_facts(each, settings)), *curves),
        estimates=tuple(each.difference for each in brought),
        figure=_figure(found) if found else None,
        headers=("place", "nodes", "what", "read, shuffled", "corrected", "swapped, null", "with all heads, null"),
        rows=tuple(map(_row, told)),
        beside_paper=_beside(context.subject, found, told),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def _untagged(subject: Subject, tagged: Tagged) -> Nodes:
    # Nobody reads what the last layer writes before =.
    last, equals = subject.last_layer, subject.position("=")
    read = (node for node in subject.nodes if node.layer < last or node.position >= equals)
    return tuple(node for node in read if node not in tagged.nodes)


def _measure(context: ExperimentContext, branch: Branch, tagged: Tagged, others: Nodes) -> _Restored | None:
    subject, settings = context.subject, context.settings
    first, second, reference = _splits(context, branch)
    if min(len(first), len(second)) < THRESHOLDS.least_searched:
        return None
    ways = [Keeping(subject, tuple(sorted(tagged.nodes)), reference, fill) for fill in _FILLS]
    keeping = min(ways, key=lambda way: int(way.right([()], first).sum()))
    random = np.random.default_rng(settings.seed_of(CARD.name, branch, "sets"))
    best = best_nodes(keeping, others, COUNTS, first)
    curve = _curve(keeping, best, second, settings.n_draws, random)
    by_mean = None
    if (subject.operation, subject.digits) == _PAPER_MODEL and branch in _PAPER:
        by_mean = curve if keeping.fill is Fill.MEAN else _by_mean(ways[0], others, (first, second), settings, random)
    if not curve.tells:
        return _Restored(branch, curve, by_mean, best.chosen, [])
    told = told_by(context, branch, best.chosen)
    brought, nearness = _brought(keeping, branch, best, curve, second, settings)
    return _Restored(branch, curve, by_mean, best.chosen, told, brought, nearness)


def _curve(keeping: Keeping, best: Best, asked: Questions, n_draws: int, random: np.random.Generator) -> _Curve:
    right = list(keeping.right([best.ranked[:n] for n in best.counts], asked))
    equals = keeping.subject.position("=")
    drawn = [[best.alike(n, equals, random).nodes for _ in range(n_draws)] for n in best.counts[1:]]
    return _Curve(keeping.fill, best.counts, right, [right[0], *(keeping.right_each(drawn, asked) if drawn else ())])


def _brought(
    keeping: Keeping, branch: Branch, best: Best, curve: _Curve, asked: Questions, settings: Settings
) -> tuple[Brought, tuple[int, ...]]:
    # Each failing question has two random sets of its own.
    lost, at = ~curve.right[0], best.counts.index(best.n_chosen)
    random = np.random.default_rng(settings.seed_of(CARD.name, "own sets"))
    equals = keeping.subject.position("=")
    drawn = [[best.alike(best.n_chosen, equals, random) for _ in range(int(lost.sum()))] for _ in range(2)]
    null, again = keeping.right_each([[each.nodes for each in some] for some in drawn], asked[lost])
    nearness = np.sum([each.nearness for some in drawn for each in some], axis=0)
    seed = settings.seed_of(CARD.name, "bootstrap")
    return Brought(branch.value, curve.right[at][lost], null, again, seed), tuple(map(int, nearness))


def _by_mean(
    keeping: Keeping, others: Nodes, asked: tuple[Questions, Questions], settings: Settings, random: np.random.Generator
) -> _Curve:
    # Ranked anew, because other nodes may be missing under another fill; not where too few answers fail to tell.
    first, second = asked
    plain = _curve(keeping, Best((), (0,), 0), second, settings.n_draws, random)
    if not plain.tells:
        return plain
    return _curve(keeping, best_nodes(keeping, others, _PAPER_COUNTS, first), second, settings.n_draws, random)


def _splits(context: ExperimentContext, branch: Branch) -> tuple[Questions, Questions, Questions]:
    subject, settings = context.subject, context.settings
    n_rank, n_score = settings.n_questions // 6, settings.n_questions
    asked = natural_questions(
        branch, subject.digits, n_rank + n_score, settings.seed_of(CARD.name, branch, "questions")
    )
    reference = reference_questions(subject, settings.n_reference, settings.seed_of(CARD.name, "reference"))
    first, second = asked[:n_rank], asked[n_rank:]
    return first[subject.right(first)], second[subject.right(second)], reference


def _back_fact(each: _Restored, tagged: Tagged, settings: Settings) -> Fact:
    brought = each.brought
    assert brought is not None
    about: dict[str, object] = {
        "branch": each.branch.value,
        "fill": each.curve.fill.value,
        "kept": len(tagged.nodes),
        "reference": "all branches alike",
        "added": [str(node) for node in each.chosen],
        "effect": "of the questions that fail, those brought back",
        "null": _NULL,
        "random nodes drawn": dict(zip(NEARNESS, each.nearness, strict=True)),
        "back only with chosen, random": list(brought.alone),
    }
    stimuli = {"n": len(each.curve.right[0]), "seed": settings.seed}
    return Fact(f"battery {CARD.name}", about, brought.effect, brought.null, stimuli)


def _curve_facts(each: _Restored, tagged: Tagged, settings: Settings) -> list[Fact]:
    # With nothing added there is nothing to draw at random.
    curves = [each.curve] if each.by_mean in (None, each.curve) else [each.curve, each.by_mean]
    about = {"branch": each.branch.value, "kept": len(tagged.nodes), "effect": "answers right", "null": _NULL}
    return [
        Swapped(_rate(right), _rate(null if n else null[:0])).fact(
            CARD.name, {**about, "fill": curve.fill.value, "n_added": n}, {"seed": settings.seed}
        )
        for curve in curves
        if curve is not None
        for n, right, null in zip(curve.counts, curve.right, curve.null, strict=True)
    ]


def _told_facts(told: Told, settings: Settings) -> list[Fact]:
    about = {
        "branch": told.branch.value,
        "place": told.place,
        "what": told.what,
        "nodes": [str(node) for node in told.nodes],
    }
    stimuli = {"seed": settings.seed}
    read = {**about, "effect": "it is read off their write", "null": "shuffled labels"}
    swapped = (("swapped together", told.together), ("swapped with all heads of their layers", told.with_layer))
    return [
        Fact(f"battery {CARD.name}", read, told.read, told.shuffled, stimuli),
        *(each.fact(CARD.name, {**about, "effect": what, "null": "same carry"}, stimuli) for what, each in swapped),
    ]


def _says(found: Sequence[_Restored], tagged: Tagged) -> str:
    if not found:
        return "There is nothing to restore: no node is useful, all are, or the model answers too few questions."
    parts = "; ".join(map(_says_of, found))
    text = f"With {len(tagged.nodes)} nodes kept, tagged by {tagged.by}: {parts}."
    incomplete = [each for each in found if each.brought is not None]
    told = [told for each in incomplete for told in each.told]
    if incomplete:
        text += f" {_says_drawn(incomplete)}"
    if told:
        read, shuffled, turned, null = _pooled(told)
        n_chosen = sum(len(each.chosen) for each in incomplete)
        n_told = sum(len({node for one in each.told for node in one.nodes}) for each in incomplete)
        text += (
            f" {n_told} of these {n_chosen} lie where a carry, a borrow or the sign is made or read: it is read off "
            f"what they write in {read.value:.2f} (shuffled labels {shuffled.value:.2f}), and swapped together they "
            f"turn its digits in {turned.value:.2f} (null {null.value:.2f})."
        )
    elif incomplete:
        text += " None of these lies where a carry, a borrow or the sign is made or read."
    return text


def _says_of(each: _Restored) -> str:
    curve, at = each.curve, each.curve.counts.index(len(each.chosen))
    plain, best = (_rate(some) for some in (curve.right[0], curve.right[at]))
    text = f"{each.branch.value}: {plain.value:.2f} of answers right ({curve.fill.value})"
    if each.brought is not None:
        others = "the best other" if len(each.chosen) == 1 else f"the {len(each.chosen)} best others"
        text += f", with {others} {best.value:.2f} ({_names(each.chosen)}), {_says_back(each.brought)}"
        return text + (", so just any others bring back most" if each.brought.just_any else "")
    if curve.lost:
        return f"{text}, and {curve.lost} of {plain.n} that fail are too few to test what is missing"
    return f"{text}, so nothing is missing"


def _says_back(brought: Brought) -> str:
    gap, effect, null = brought.difference, brought.effect, brought.null
    return (
        f"which brings back {effect.value:.2f} of the {effect.n} that fail, random others {null.value:.2f}: a "
        f"difference of {gap.value:.2f} [{gap.low:.2f}, {gap.high:.2f}] on the same questions, of two random sets "
        f"{gap.null:.2f}"
    )


def _says_drawn(found: Sequence[_Restored]) -> str:
    drawn = np.sum([each.nearness for each in found], axis=0)
    parts = (f"{n / drawn.sum():.2f} {where}" for n, where in zip(drawn, NEARNESS, strict=True) if n)
    return f"Random others are neither tagged nor chosen: {', '.join(parts)}."


def _pooled(told: Sequence[Told]) -> tuple[Rate, Rate, Rate, Rate]:
    rates = [(each.read, each.shuffled, each.together.effect, each.together.null) for each in told]
    read, shuffled, turned, null = (sum(some, Rate(0, 0)) for some in zip(*rates, strict=True))
    return read, shuffled, turned, null


def _names(nodes: Sequence[Node]) -> str:
    shown = ", ".join(map(str, sorted(nodes[:10])))
    return shown + (f" and {len(nodes) - 10} more" if len(nodes) > 10 else "")


def _beside(subject: Subject, found: Sequence[_Restored], told: Sequence[Told]) -> tuple[BesidePaper, ...]:
    rows = [_beside_curve(each.branch, each.by_mean) for each in found if each.by_mean is not None]
    if subject.operation is not Operation.MIX:
        return tuple(rows)
    if told:
        read, shuffled, _, _ = _pooled(told)
        ours = f"{read} in {len(told)} groups of nodes, shuffled labels {shuffled.value:.2f}"
        rows.append(
            BesidePaper("carry or sign read off restored writes", "1.00 (mix d6)", ours, read.interval[1] >= 0.99)
        )
    last = subject.last_layer
    there = [each for each in told if each.digit is not None and any(node.layer == last for node in each.nodes)]
    if there:
        _, _, turned, null = _pooled(there)
        what = "digits turned by restored nodes of their place, last layer among them"
        agrees = turned.interval[1] >= 0.99 and null.interval[0] <= 0.01
        rows.append(BesidePaper(what, "1.00, null 0.00 (mix d6)", f"{turned}, null {null}", agrees))
    return tuple(rows)


def _beside_curve(branch: Branch, curve: _Curve) -> BesidePaper:
    paper, with_ten = _PAPER[branch]
    none, shown = _rate(curve.right[0]), [n for n in _PAPER_COUNTS if n in curve.counts]
    what, agrees = f"{branch.value}: right with the best 5/10/20, mean ablation", None
    if not curve.tells or 10 not in shown:
        return BesidePaper(what, paper, f"{none.value:.2f} with none added: too few fail", agrees)
    best, null = ([_rate(some[curve.counts.index(n)]) for n in shown] for some in (curve.right, curve.null))
    ours = f"{'/'.join(f'{r.value:.2f}' for r in best)} (random {'/'.join(f'{r.value:.2f}' for r in null)})"
    low, high = best[shown.index(10)].interval
    return BesidePaper(what, paper, f"{ours}, none {none.value:.2f}", low <= with_ten <= high)


def _figure(found: Sequence[_Restored]) -> Figure:
    series = [
        Series.of_rates(f"{each.branch.value}, {what}", kind, each.curve.counts, list(map(_rate, some)))
        for kind, what in ((Kind.EFFECT, "best others"), (Kind.NULL, "random others"))
        for each in found
        for some in (each.curve.right if kind is Kind.EFFECT else each.curve.null,)
    ]
    return Figure("untagged nodes added", "share of answers right", tuple(series))


def _row(told: Told) -> tuple[str, ...]:
    names = ", ".join(str(node)[len(f"P{node.position}") :] for node in told.nodes)
    swaps = (f"{s.effect.value:.2f}, {s.null.value:.2f}" for s in (told.together, told.with_layer))
    reading = f"{told.read.value:.2f}, {told.shuffled.value:.2f}"
    return (f"{told.place} {told.branch.value}", names, told.what, reading, f"{told.corrected:.2f}", *swaps)


def _rate(right: NDArray[np.bool_]) -> Rate:
    return Rate(int(right.sum()), len(right))
