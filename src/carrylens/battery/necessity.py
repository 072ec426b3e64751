"""Necessity: is any single head necessary, or only all heads of a place together?

Takes  a subject.
Gives  for every digit what goes wrong without all heads that deliver its carry, without the worst of them alone, and
       without as many untagged ones; the same for the heads at each column's place, and for MLPs beside them.
Never  picks the worst head on the questions it is scored on.

1. Delivery: the last layer's heads at the place that predicts digit j; what counts is that digit. Making: the heads of
   earlier layers at D'k; what counts are the digits above k. Each branch by itself: heads may divide the branches.
2. Write the mean over the reference instead: for all heads together, for each alone, for untagged heads of the same
   layers in the same half of the sequence.
3. The worst single head is picked on one split; all rates are those of another.
4. A place is redundant if all its heads are missed more than the untagged, and the worst alone less than half as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.battery.columns import Branch, branches_of
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.tagging import matched_set, tagged_nodes
from carrylens.battery.weighing import overall
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.hypothesis.verdicts import Verdict
from carrylens.interventions.edits import ablate
from carrylens.nodes import Node

CARD = Card(
    name="necessity",
    title="Single heads, all heads of a place, untagged heads",
    question="Is no single head that makes or delivers a carry necessary, while all heads of its place together are?",
    method=(
        "Delivery: the last layer's heads where digit j is predicted. Making: earlier heads at a column's place.",
        "Mean-ablate all heads of the place, each alone, and as many untagged ones of the same layers.",
        "Count the questions whose digits, which depend on the place, go wrong.",
        "The worst single head is picked on one split and scored on another.",
    ),
    refuted_if="at some place one head alone is surely missed at least half as much as all of them.",
    paper="no single node is necessary; necessity appears at the class level, and the gap grows with digits",
    where="Table of family invariants",
)
_BOOTSTRAPS = 500


@dataclass(frozen=True)
class _Place:
    """A place whose heads are tested on one branch: which tokens of the answer count, and its MLPs."""

    branch: Branch
    name: str
    heads: Nodes
    mlps: Nodes
    tokens: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Found:
    """Which questions go wrong at one place: without all heads, the worst one, untagged ones, the worst MLP."""

    place: _Place
    whole: NDArray[np.bool_]
    worst: NDArray[np.bool_]
    untagged: NDArray[np.bool_]
    mlp: NDArray[np.bool_]
    name: Node


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    places = [place for branch in branches_of(subject.operation) for place in _places(subject, branch)]
    watch(CARD.title, 0, len(places) + 1)
    tagged = tagged_nodes(subject, settings)
    untagged = [node for node in subject.nodes if node not in tagged.nodes]
    stream = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of(CARD.name, "reference"))
    reference = stream.take(0, settings.n_reference)
    asked = {branch: _splits(subject, branch, settings) for branch in branches_of(subject.operation)}
    found = []
    for at, place in enumerate(places):
        watch(CARD.title, at + 1, len(places) + 1)
        if min(map(len, asked[place.branch])) >= THRESHOLDS.least_searched:
            found.append(_measure(subject, place, asked[place.branch], reference, untagged, settings))
    verdicts = _weigh(found)
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says=_says(found, verdicts, tagged.by),
        facts=tuple(fact for each in found for fact in _facts(each, settings)),
        estimates=tuple(_gap(each, settings) for each in found),
        figure=_figure(found) if found else None,
        headers=("place", "all heads", "worst head", "alone", "untagged", "worst MLP", "verdict"),
        rows=tuple(
            (e.place.name, _share(e.whole), str(e.name), *map(_share, (e.worst, e.untagged, e.mlp)), v.value)
            for e, v in zip(found, verdicts, strict=True)
        ),
        beside_paper=(_beside(verdicts),),
    )


def _splits(subject: Subject, branch: Branch, settings: Settings) -> tuple[Questions, Questions]:
    # Enriched questions of one branch that the model answers: some to pick the worst head on, others to score it.
    seed = settings.seed_of(CARD.name, branch.value)
    drawn = Stream(StreamKind.ENRICHED, branch.operation, subject.digits, seed).take(0, 4 * settings.n_questions)
    drawn = drawn[is_negative(drawn) == (branch is Branch.NEGATIVE)][: settings.n_questions]
    good = drawn[subject.right(drawn)]
    return good[: len(good) // 2], good[len(good) // 2 :]


def _places(subject: Subject, branch: Branch) -> list[_Place]:
    found, last = [], subject.last_layer
    for digit in range(branch.top(subject.digits), 0, -1):
        here = subject.nodes_at(subject.predicting(digit))
        heads = tuple(node for node in here if node.layer == last and not node.is_mlp)
        mlps = tuple(node for node in here if node.layer == last and node.is_mlp)
        found.append(_Place(branch, f"A{digit} {branch.value}", heads, mlps, (subject.token(digit),)))
    for k in range(branch.top(subject.digits) - 1, -1, -1):
        here = tuple(node for node in subject.nodes_at(subject.position(f"D'{k}")) if node.layer < last)
        heads, mlps = (tuple(node for node in here if node.is_mlp is kind) for kind in (False, True))
        if heads:
            found.append(_Place(branch, f"D'{k} {branch.value}", heads, mlps, tuple(range(subject.token(k)))))
    return found


def _measure(
    subject: Subject,
    place: _Place,
    splits: tuple[Questions, Questions],
    reference: Questions,
    untagged: Sequence[Node],
    settings: Settings,
) -> _Found:
    single = [(node,) for node in (*place.heads, *place.mlps)]
    first = _wrong(subject, single, place, splits[0], reference)
    n_heads = len(place.heads)
    head = place.heads[int(first[:n_heads].sum(1).argmax())]
    mlp = place.mlps[int(first[n_heads:].sum(1).argmax())]
    random = np.random.default_rng(settings.seed_of(CARD.name, place.name))
    half = subject.position("=")
    sets = [matched_set(place.heads, untagged, half, random) for _ in range(settings.n_draws)]
    second = _wrong(subject, [place.heads, (head,), (mlp,)], place, splits[1], reference)
    control = _wrong_each(subject, sets, place, splits[1], reference)
    return _Found(place, second[0], second[1], control, second[2], head)


def _wrong(
    subject: Subject, sets: Sequence[Nodes], place: _Place, asked: Questions, reference: Questions
) -> NDArray[np.bool_]:
    outcomes = subject.engine.run([ablate(nodes) for nodes in sets], asked, reference=reference)
    return np.asarray(~outcomes.correct[..., list(place.tokens)].all(-1))


def _wrong_each(
    subject: Subject, sets: Sequence[Nodes], place: _Place, asked: Questions, reference: Questions
) -> NDArray[np.bool_]:
    # Each question with another of the sets, so that no question counts twice; empty sets change nothing.
    filled = [nodes for nodes in sets if nodes]
    if not filled:
        return np.zeros(0, dtype=np.bool_)
    edits = [ablate(filled[row % len(filled)]) for row in range(len(asked))]
    outcomes = subject.engine.run_each(edits, asked, reference=reference)
    return np.asarray(~outcomes.correct[:, list(place.tokens)].all(-1))


def _weigh(found: Sequence[_Found]) -> list[Verdict]:
    # UNTESTED: a place that is not missed at all cannot be told redundant from idle.
    missed = holm([Fact("", {}, _rate(each.whole), _rate(each.untagged)).p for each in found])
    apart = holm([Fact("", {}, _rate(each.whole), _rate(each.worst)).p for each in found])
    verdicts = []
    for each, p_missed, p_apart in zip(found, missed, apart, strict=True):
        half = each.whole.mean() / 2
        worst = _rate(each.worst).interval
        if p_missed > THRESHOLDS.level or half < 0.025:
            verdicts.append(Verdict.UNTESTED)
        elif worst[0] >= half:
            verdicts.append(Verdict.REFUTED)
        else:
            sure = worst[1] < half and p_apart <= THRESHOLDS.level
            verdicts.append(Verdict.SUPPORTED if sure else Verdict.INCONCLUSIVE)
    return verdicts


def _gap(each: _Found, settings: Settings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap"))
    gap = each.whole.astype(np.float64) - each.worst
    means = gap[random.integers(0, len(gap), (_BOOTSTRAPS, len(gap)))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    null = _rate(each.untagged)
    return Estimate(
        f"gap between all heads and the worst at {each.place.name}",
        *(float(gap.mean()), float(low), float(high)),
        *(null.value, *null.interval),
        n=len(gap),
    )


def _facts(each: _Found, settings: Settings) -> list[Fact]:
    stimuli, null = {"n": len(each.whole), "seed": settings.seed}, _rate(each.untagged)
    about = {"place": each.place.name, "null": "untagged heads"}
    return [
        Fact(f"battery {CARD.name}", {**about, "ablated": what}, _rate(wrong), null, stimuli)
        for what, wrong in (("all heads", each.whole), (str(each.name), each.worst), ("worst MLP", each.mlp))
    ]


def _says(found: Sequence[_Found], verdicts: Sequence[Verdict], by: str) -> str:
    if not found:
        return "The model answers too few questions for anything to be missed."
    parts = []
    for kind, letter in (("delivering", "A"), ("making", "D")):
        mine = [v for each, v in zip(found, verdicts, strict=True) if each.place.name.startswith(letter)]
        counts = {verdict: mine.count(verdict) for verdict in Verdict}
        parts.append(
            f"of {len(mine)} places {kind} carries {counts[Verdict.SUPPORTED]} are redundant, "
            f"{counts[Verdict.REFUTED]} depend on one head, {counts[Verdict.UNTESTED]} are not missed"
        )
    alone = sum(_rate(each.mlp).interval[0] > each.whole.mean() / 2 for each in found)
    return f"{'; '.join(parts).capitalize()}; at {alone} one MLP alone is missed that much. Tagged by {by}."


def _beside(verdicts: Sequence[Verdict]) -> BesidePaper:
    told = [verdict for verdict in verdicts if verdict in (Verdict.SUPPORTED, Verdict.REFUTED)]
    ours = f"{told.count(Verdict.REFUTED)} of {len(told)} places that could be told depend on one head"
    return BesidePaper("single nodes that are necessary", "none", ours, Verdict.REFUTED not in told if told else None)


def _figure(found: Sequence[_Found]) -> Figure:
    x, names = range(len(found)), tuple(each.place.name for each in found)
    return Figure(
        "place",
        "share of questions gone wrong",
        (
            Series.of_rates("all heads of the place", Kind.EFFECT, x, [_rate(each.whole) for each in found]),
            Series.of_rates("the worst head alone", Kind.RIVAL, x, [_rate(each.worst) for each in found]),
            Series.of_rates("untagged heads", Kind.NULL, x, [_rate(each.untagged) for each in found]),
        ),
        names,
    )


def _share(wrong: NDArray[np.bool_]) -> str:
    return f"{int(wrong.sum())}/{len(wrong)}"


def _rate(wrong: NDArray[np.bool_]) -> Rate:
    return Rate(int(wrong.sum()), len(wrong))
