"""Restoration: what do the useful nodes, kept alone, lack, and which few others bring it back?

Takes  a subject.
Gives  for every branch which untagged nodes restore most, how many answers come back with the best of them, beside
       matched random ones; what these nodes write and what they do when swapped together.
Never  ranks nodes, or chooses how many, on the questions they are scored on.

1. Keep the tagged nodes only (those of the map, or those without which a question fails). Of the two ways to ablate the
   rest, by the mean and by another question's value, take the one that leaves fewer answers right.
2. On one split add each untagged node alone; rank them by how far that lifts the margins of wrong tokens;
   where the best five or ten are not enough, rank the next sixty again beside them.
3. Choose the least number of the best ones with which nine of ten answers are right there, or else of up to
   twenty the one with most.
4. On another split score the best 1, 2, 5, ... beside random additions: for each node another untagged one of its kind
   and layer within two places, or where there is none in the same half of the sequence; another set for each question.
5. Of the chosen nodes: read the carry off what they write, and swap those of each place together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.columns import Branch, branches_of
from carrylens.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.battery.restored_writes import Told, told_by
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.swapping import Swapped
from carrylens.battery.tagging import Tagged, tagged_nodes
from carrylens.battery.weighing import overall, weigh
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.interventions.edits import Fill, keep_only
from carrylens.nodes import Node

CARD = Card(
    name="restoration",
    title="What the map misses, and what brings it back",
    question="Where the useful nodes alone do not suffice, do a few others restore the answers, and not just any?",
    method=(
        "Keep the tagged nodes; the rest write a mean or another question's value, whichever leaves fewer right.",
        "On one split rank untagged nodes by how much adding each alone restores, and choose how many to add.",
        "On another split, of the questions that fail, count those the chosen nodes bring back.",
        "Null: random untagged nodes of the same kinds and layers, at most two places away where there are any.",
        "Read the carry off what the chosen nodes write (floor: shuffled labels), and swap those of a place together.",
    ),
    refuted_if="on some branch surely fewer than half of the failing questions come back, or random additions bring "
    "back as many.",
    paper="mix d6: best 5/10/20 nodes .940/.963/1.0 (random .49/.63/.58) on positive differences, .990/1.0 with 5/10 "
    "on negative ones; their write decodes the borrow at 1.00, swapped together they turn the digit at 1.00, null 0.00",
    where="Section on mixed models; ranked and scored on the same questions",
)
COUNTS = (1, 2, 5, 10, 20, 40)
FEW = 20
"""How many nodes may be chosen."""
ROUNDS = (5, 10, FEW)
ENOUGH = 0.9
_FILLS = (Fill.MEAN, Fill.RESAMPLE)
_NEAR = 2
_AGAIN = 60  # nodes that are ranked again


@dataclass(frozen=True, eq=False)
class _Restored:
    """What was found on one branch. `curve` and `null` have the answers right with 0, 1, 2, 5, ... nodes added."""

    branch: Branch
    fill: Fill
    counts: tuple[int, ...]
    curve: list[NDArray[np.bool_]]
    null: list[NDArray[np.bool_]]
    chosen: Nodes
    told: list[Told]

    @property
    def brought_back(self) -> Swapped:
        """Of the questions that fail with nothing added, those right with the chosen nodes, and with random ones."""
        lost, at = ~self.curve[0], self.counts.index(len(self.chosen))
        return Swapped(_rate(self.curve[at][lost]), _rate(self.null[at][lost]))

    @property
    def lost(self) -> int:
        """How many questions fail with nothing added."""
        return int((~self.curve[0]).sum())


@dataclass(frozen=True, eq=False)
class _Keeping:
    """What is kept, on which branch, with which fill and reference."""

    subject: Subject
    kept: Nodes
    reference: Questions
    fill: Fill

    def margins(self, additions: Sequence[Sequence[Node]], asked: Questions) -> NDArray[np.floating]:
        """The margins of all tokens with each addition: [addition, question, token]."""
        edits = [keep_only([*self.kept, *nodes], self.fill) for nodes in additions]
        return self.subject.engine.run(edits, asked, reference=self.reference).margins

    def right(self, additions: Sequence[Sequence[Node]], asked: Questions) -> NDArray[np.bool_]:
        """Which answers are right with each addition: [addition, question]."""
        edits = [keep_only([*self.kept, *nodes], self.fill) for nodes in additions]
        return np.asarray(~self.subject.engine.run(edits, asked, reference=self.reference).failed)

    def right_each(self, additions: Sequence[Sequence[Node]], asked: Questions) -> NDArray[np.bool_]:
        """Which answers are right, each question with another of the additions."""
        sets = [keep_only([*self.kept, *nodes], self.fill) for nodes in additions]
        edits = [sets[row % len(sets)] for row in range(len(asked))]
        return np.asarray(~self.subject.engine.run_each(edits, asked, reference=self.reference).failed)


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    branches = branches_of(subject.operation)
    watch(CARD.title, 0, len(branches) + 1)
    tagged = tagged_nodes(subject, settings)
    others = _untagged(subject, tagged)
    found = []
    for at, branch in enumerate(branches if tagged.nodes and len(others) > 1 else ()):
        watch(CARD.title, at + 1, len(branches) + 1)
        each = _measure(subject, branch, tagged, others, settings)
        if each is not None:
            found.append(each)
    incomplete = [each for each in found if each.lost >= THRESHOLDS.least_searched]
    back = [_back_fact(each, tagged, settings) for each in incomplete]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(back)),
        says=_says(found, tagged),
        facts=(*back, *(fact for each in incomplete for told in each.told for fact in _told_facts(told, settings))),
        figure=_figure(found) if found else None,
        headers=("place", "nodes", "carry read, shuffled", "corrected", "swapped, null", "with all heads, null"),
        rows=tuple(_row(told) for each in incomplete for told in each.told),
        beside_paper=_beside(subject, incomplete),
    )


def _untagged(subject: Subject, tagged: Tagged) -> Nodes:
    # Nobody reads what the last layer writes before =.
    last, equals = subject.last_layer, subject.position("=")
    read = (node for node in subject.nodes if node.layer < last or node.position >= equals)
    return tuple(node for node in read if node not in tagged.nodes)


def _measure(subject: Subject, branch: Branch, tagged: Tagged, others: Nodes, settings: Settings) -> _Restored | None:
    first, second, reference = _splits(subject, branch, settings)
    if min(len(first), len(second)) < THRESHOLDS.least_searched:
        return None
    ways = [_Keeping(subject, tuple(sorted(tagged.nodes)), reference, fill) for fill in _FILLS]
    keeping = min(ways, key=lambda way: int(way.right([()], first).sum()))
    ranked = _rank(keeping, others, first)
    counts = (0, *(n for n in COUNTS if n < len(others)))
    chosen = ranked[: _choose(keeping.right([ranked[:n] for n in counts], first), counts)]
    random = np.random.default_rng(settings.seed_of(CARD.name, branch, "sets"))
    equals = subject.position("=")
    drawn = [[alike_nodes(ranked[:n], others, equals, random) for _ in range(settings.n_draws)] for n in counts]
    curve = list(keeping.right([ranked[:n] for n in counts], second))
    null = [curve[0], *(keeping.right_each(sets, second) for sets in drawn[1:])]
    lost = int((~curve[0]).sum()) >= THRESHOLDS.least_searched
    told = told_by(subject, branch, chosen, settings) if lost else []
    return _Restored(branch, keeping.fill, counts, curve, null, chosen, told)


def _splits(subject: Subject, branch: Branch, settings: Settings) -> tuple[Questions, Questions, Questions]:
    stream = Stream(
        StreamKind.NATURAL, branch.operation, subject.digits, settings.seed_of(CARD.name, branch, "questions")
    )
    n_rank, n_score = settings.n_questions // 6, settings.n_questions
    reference = stream.take(0, settings.n_reference)
    asked = stream.take(settings.n_reference, 4 * (n_rank + n_score))
    asked = asked[is_negative(asked) == (branch is Branch.NEGATIVE)][: n_rank + n_score]
    first, second = asked[:n_rank], asked[n_rank:]
    return first[subject.right(first)], second[subject.right(second)], reference


def _rank(keeping: _Keeping, others: Nodes, asked: Questions) -> Nodes:
    # Nodes that only work beside others show little at first: the first of the rest are ranked again with the best.
    rest = _ordered(keeping, (), others, asked)
    best: Nodes = ()
    for count in ROUNDS:
        best, rest = (*best, *rest[: count - len(best)]), rest[count - len(best) :]
        if not rest or count == FEW or keeping.right([best], asked).mean() >= ENOUGH:
            break
        rest = (*_ordered(keeping, best, rest[:_AGAIN], asked), *rest[_AGAIN:])
    return (*best, *rest)


def _ordered(keeping: _Keeping, best: Nodes, others: Nodes, asked: Questions) -> Nodes:
    # By how far from right all wrong tokens still are, once one more node is added.
    short = np.minimum(keeping.margins([(*best, node) for node in others], asked), 0).sum((1, 2))
    return tuple(others[at] for at in np.argsort(-short, kind="stable"))


def _choose(right: NDArray[np.bool_], counts: Sequence[int]) -> int:
    shares = right.mean(1)[1 : 1 + sum(0 < n <= FEW for n in counts)]
    enough = np.flatnonzero(shares >= ENOUGH)
    return counts[1 + int(enough[0] if len(enough) else shares.argmax())]


def alike_nodes(nodes: Sequence[Node], among: Collection[Node], split: int, random: np.random.Generator) -> Nodes:
    """For each node another one of its kind and layer, no more than two places away where there is one.

    Where there is none: in the same half of the sequence, else of its kind, else any. No node is drawn twice.
    """
    nearer: tuple[Callable[[Node, Node], bool], ...] = (
        lambda a, b: (a.layer, a.is_mlp) == (b.layer, b.is_mlp) and abs(a.position - b.position) <= _NEAR,
        lambda a, b: (a.layer, a.is_mlp, a.position < split) == (b.layer, b.is_mlp, b.position < split),
        lambda a, b: a.is_mlp == b.is_mlp,
    )
    found: list[Node] = []
    for node in nodes:
        free = [other for other in sorted(among) if other != node and other not in found]
        pools = ([other for other in free if alike(node, other)] for alike in nearer)
        pool = next((pool for pool in pools if pool), free)
        if pool:
            found.append(pool[int(random.integers(len(pool)))])
    return tuple(sorted(found))


def _back_fact(each: _Restored, tagged: Tagged, settings: Settings) -> Fact:
    about = {
        "branch": each.branch.value,
        "fill": each.fill.value,
        "kept": len(tagged.nodes),
        "added": [str(node) for node in each.chosen],
        "effect": "of the questions that fail, those brought back",
        "null": "as many matched untagged nodes",
    }
    return each.brought_back.fact(CARD.name, about, {"n": len(each.curve[0]), "seed": settings.seed})


def _told_facts(told: Told, settings: Settings) -> list[Fact]:
    about = {"branch": told.branch.value, "place": told.place, "nodes": [str(node) for node in told.nodes]}
    stimuli = {"seed": settings.seed}
    read = {**about, "effect": "the carry is read off their write", "null": "shuffled labels"}
    swapped = (("swapped together", told.together), ("swapped with all heads of their layers", told.with_layer))
    return [
        Fact(f"battery {CARD.name}", read, told.read, told.shuffled, stimuli),
        *(each.fact(CARD.name, {**about, "effect": what, "null": "same carry"}, stimuli) for what, each in swapped),
    ]


def _says(found: Sequence[_Restored], tagged: Tagged) -> str:
    if not found:
        return "There is nothing to restore: no node is useful, all are, or the model answers too few questions."
    parts = []
    for each in found:
        at = each.counts.index(len(each.chosen))
        plain, best, null = (_rate(some) for some in (each.curve[0], each.curve[at], each.null[at]))
        text = f"{each.branch.value}: {plain.value:.2f} of answers right ({each.fill.value})"
        if each.lost >= THRESHOLDS.least_searched:
            names = _names(each.chosen)
            text += f", with the {len(each.chosen)} best others {best.value:.2f} (random {null.value:.2f}): {names}"
        else:
            text += ", so nothing is missing"
        parts.append(text)
    return f"With {len(tagged.nodes)} nodes kept, tagged by {tagged.by}: {'; '.join(parts)}."


def _names(nodes: Sequence[Node]) -> str:
    shown = ", ".join(map(str, sorted(nodes[:10])))
    return shown + (f" and {len(nodes) - 10} more" if len(nodes) > 10 else "")


def _beside(subject: Subject, found: Sequence[_Restored]) -> tuple[BesidePaper, ...]:
    rows = []
    for each in found:
        shown = [n for n in (5, 10, 20) if n in each.counts]
        best, null = ([_rate(some[each.counts.index(n)]) for n in shown] for some in (each.curve, each.null))
        paper = {Branch.POSITIVE: (".940/.963/1.0", 0.963), Branch.NEGATIVE: (".990/1.0", 1.0)}.get(each.branch)
        if subject.operation is Operation.MIX and paper is not None and 10 in shown:
            ours = f"{'/'.join(f'{r.value:.2f}' for r in best)} (random {'/'.join(f'{r.value:.2f}' for r in null)})"
            ours += f", none {_rate(each.curve[0]).value:.2f}, {each.fill.value}"
            inside = best[1].interval[0] <= paper[1] <= best[1].interval[1]
            agrees = inside if each.fill is Fill.MEAN else None  # the paper's fill
            rows.append(BesidePaper(f"{each.branch.value}: right with the best 5/10/20", paper[0], ours, agrees))
    last = subject.last_layer
    told = [t for each in found for t in each.told if t.digit is not None and any(n.layer == last for n in t.nodes)]
    if told:
        rows.append(_beside_told(told))
    return tuple(rows)


def _beside_told(told: Sequence[Told]) -> BesidePaper:
    effect, null = (sum((getattr(each.together, of) for each in told), Rate(0, 0)) for of in ("effect", "null"))
    agrees = effect.interval[1] >= 0.99 and null.interval[0] <= 0.01
    return BesidePaper(
        "digits turned by restored nodes of their place, last layer among them",
        "1.00, null 0.00",
        f"{effect}, null {null}",
        agrees,
    )


def _figure(found: Sequence[_Restored]) -> Figure:
    series = [
        Series.of_rates(f"{each.branch.value}, {what}", kind, each.counts, list(map(_rate, some)))
        for kind, what in ((Kind.EFFECT, "best others"), (Kind.NULL, "random others"))
        for each in found
        for some in (each.curve if kind is Kind.EFFECT else each.null,)
    ]
    return Figure("untagged nodes added", "share of answers right", tuple(series))


def _row(told: Told) -> tuple[str, ...]:
    names = ", ".join(str(node)[len(f"P{node.position}") :] for node in told.nodes)
    swaps = (f"{s.effect.value:.2f}, {s.null.value:.2f}" for s in (told.together, told.with_layer))
    what = f"{told.place} ({f'A{told.digit}' if told.digit is not None else 'own'}) {told.branch.value}"
    return (what, names, f"{told.read.value:.2f}, {told.shuffled.value:.2f}", f"{told.corrected:.2f}", *swaps)


def _rate(right: NDArray[np.bool_]) -> Rate:
    return Rate(int(right.sum()), len(right))
