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
4. A place is redundant if all its heads are missed more than the untagged, and the worst alone less than half as much:
   a paired test of the same questions (without all, without the worst), Holm over the places.
5. Places that stay open are asked four times as many questions; each round of asking has half of the level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

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
        "Paired tests of the same questions, Holm over places; those that stay open are asked four times as many.",
    ),
    refuted_if="at some place one head alone is surely missed at least half as much as all of them.",
    paper="no single node is necessary; necessity appears at the class level, and the gap grows with digits",
    where="Table of family invariants",
)
_BOOTSTRAPS = 500
_ROUNDS = (2, 8)
"""How many questions each round has asked in the end, times those of the settings."""
_LEAST_MISSED = 0.05
_KINDS = (("delivering", "A"), ("making", "D"))

Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Place:
    """A place whose heads are tested on one branch: which tokens of the answer count, and its MLPs."""

    branch: Branch
    name: str
    heads: Nodes
    mlps: Nodes
    tokens: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Missed:
    """Which questions go wrong at one place: without all heads, the worst one, untagged ones, the worst MLP.

    The first round's questions come first in all of them, and `untagged` and `mlp` have no others.
    """

    place: Place
    whole: Hits
    worst: Hits
    untagged: Hits
    mlp: Hits
    name: Node

    @property
    def excess(self) -> NDArray[np.int64]:
        """For each question twice the worst head's failure less that of all: on average above 0 if it is needed."""
        return 2 * self.worst.astype(np.int64) - self.whole.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Asked:
    """Questions of one branch: some to pick the worst head on, others to score it, a reference for means."""

    picking: Questions
    scoring: Questions
    reference: Questions


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    branches = branches_of(subject.operation)
    watch(CARD.title, 0, 2 * len(branches) + 1)
    tagged = tagged_nodes(subject, settings)
    untagged = [node for node in subject.nodes if node not in tagged.nodes]
    stream = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of(CARD.name, "reference"))
    reference = stream.take(0, settings.n_reference)
    asked, found = {}, []
    for at, branch in enumerate(branches):
        watch(CARD.title, at + 1, 2 * len(branches) + 1)
        asked[branch] = _questions(subject, branch, reference, settings)
        if min(len(asked[branch].picking), len(asked[branch].scoring)) >= THRESHOLDS.least_searched:
            found += _measure(subject, _places(subject, branch), asked[branch], untagged, settings)
    first, n_first = weigh_places(found, len(_ROUNDS)), _ROUNDS[0] * settings.n_questions
    for at, branch in enumerate(branches):
        watch(CARD.title, len(branches) + at + 1, 2 * len(branches) + 1)
        is_open = [e.place.branch is branch and v is Verdict.INCONCLUSIVE for e, v in zip(found, first, strict=True)]
        found = _ask_on(subject, found, is_open, asked[branch], n_first)
    second = weigh_places(found, len(_ROUNDS))
    verdicts = [then if now is Verdict.INCONCLUSIVE else now for now, then in zip(first, second, strict=True)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall([each for each in verdicts if each is not Verdict.UNTESTED]),
        says=_says(found, verdicts, tagged.by),
        facts=tuple(fact for each in found for fact in _facts(each, settings)),
        estimates=(*(_gap(each, settings) for each in found), *_mean_gaps(found, verdicts, settings)),
        figure=_figure(found) if found else None,
        headers=("place", "all heads", "worst head", "alone", "untagged", "worst MLP", "verdict"),
        rows=tuple(
            (e.place.name, _share(e.whole), str(e.name), *map(_share, (e.worst, e.untagged, e.mlp)), v.value)
            for e, v in zip(found, verdicts, strict=True)
        ),
        beside_paper=(_beside(verdicts),),
    )


def _questions(subject: Subject, branch: Branch, reference: Questions, settings: Settings) -> _Asked:
    # Enriched questions of one branch that the model answers.
    n_picking, seed = settings.n_questions // 2, settings.seed_of(CARD.name, branch.value)
    n = n_picking + _ROUNDS[-1] * settings.n_questions
    drawn = Stream(StreamKind.ENRICHED, branch.operation, subject.digits, seed).take(0, 3 * n)
    drawn = drawn[is_negative(drawn) == (branch is Branch.NEGATIVE)][:n]
    good = drawn[subject.right(drawn)]
    return _Asked(good[:n_picking], good[n_picking:], reference)


def _places(subject: Subject, branch: Branch) -> list[Place]:
    found, last = [], subject.last_layer
    for digit in range(branch.top(subject.digits), 0, -1):
        here = subject.nodes_at(subject.predicting(digit))
        heads = tuple(node for node in here if node.layer == last and not node.is_mlp)
        mlps = tuple(node for node in here if node.layer == last and node.is_mlp)
        found.append(Place(branch, f"A{digit} {branch.value}", heads, mlps, (subject.token(digit),)))
    for k in range(branch.top(subject.digits) - 1, -1, -1):
        here = tuple(node for node in subject.nodes_at(subject.position(f"D'{k}")) if node.layer < last)
        heads, mlps = (tuple(node for node in here if node.is_mlp is kind) for kind in (False, True))
        if heads:
            found.append(Place(branch, f"D'{k} {branch.value}", heads, mlps, tuple(range(subject.token(k)))))
    return found


def _measure(
    subject: Subject, places: Sequence[Place], asked: _Asked, untagged: Sequence[Node], settings: Settings
) -> list[Missed]:
    # The first round: all places of a branch together, so that every question is read once.
    single = [[(node,) for node in (*place.heads, *place.mlps)] for place in places]
    picked = []
    for place, wrong in zip(places, _wrong(subject, single, places, asked.picking, asked.reference), strict=True):
        n_heads, failures = len(place.heads), wrong.sum(1)
        picked.append((place.heads[failures[:n_heads].argmax()], place.mlps[failures[n_heads:].argmax()]))
    scoring = asked.scoring[: _ROUNDS[0] * settings.n_questions]
    sets = [[place.heads, (head,), (mlp,)] for place, (head, mlp) in zip(places, picked, strict=True)]
    scored = _wrong(subject, sets, places, scoring, asked.reference)
    control = _wrong_untagged(subject, places, scoring, asked.reference, untagged, settings)
    return [
        Missed(place, wrong[0], wrong[1], without, wrong[2], head)
        for place, wrong, without, (head, _) in zip(places, scored, control, picked, strict=True)
    ]


def _ask_on(
    subject: Subject, found: Sequence[Missed], is_open: Sequence[bool], asked: _Asked, n_first: int
) -> list[Missed]:
    # The second round: the rest of the questions, for the places that are open.
    mine = [each for each, still in zip(found, is_open, strict=True) if still]
    more = asked.scoring[n_first:]
    if not mine or not len(more):
        return list(found)
    sets, places = [[each.place.heads, (each.name,)] for each in mine], [each.place for each in mine]
    wrong = iter(_wrong(subject, sets, places, more, asked.reference))
    return [_joined(each, next(wrong)) if still else each for each, still in zip(found, is_open, strict=True)]


def _joined(each: Missed, wrong: Hits) -> Missed:
    whole, worst = (np.concatenate(both) for both in ((each.whole, wrong[0]), (each.worst, wrong[1])))
    return replace(each, whole=whole, worst=worst)


def _wrong(
    subject: Subject, sets: Sequence[Sequence[Nodes]], places: Sequence[Place], asked: Questions, reference: Questions
) -> list[Hits]:
    # For each place which questions go wrong without each of its sets: [set, question].
    edits = [ablate(nodes) for some in sets for nodes in some]
    correct = subject.engine.run(edits, asked, reference=reference).correct
    cuts = np.cumsum([len(some) for some in sets])[:-1]
    return [
        np.asarray(~mine[..., list(place.tokens)].all(-1))
        for mine, place in zip(np.split(correct, cuts), places, strict=True)
    ]


def _wrong_untagged(
    subject: Subject,
    places: Sequence[Place],
    asked: Questions,
    reference: Questions,
    untagged: Sequence[Node],
    settings: Settings,
) -> list[Hits]:
    # Each question with another of the matched sets, so that no question counts twice; empty sets change nothing.
    half, found = subject.position("="), []
    for place in places:
        random = np.random.default_rng(settings.seed_of(CARD.name, place.name))
        sets = [matched_set(place.heads, untagged, half, random) for _ in range(settings.n_draws)]
        found.append([nodes for nodes in sets if nodes])
    rows = [(at, row) for at, sets in enumerate(found) if sets for row in range(len(asked))]
    missed = [np.zeros(0, dtype=np.bool_) for _ in places]
    if rows:
        edits = [ablate(found[at][row % len(found[at])]) for at, row in rows]
        correct = subject.engine.run_each(edits, asked[np.array([row for _, row in rows])], reference=reference).correct
        whose = np.array([at for at, _ in rows])
        for at in np.unique(whose):
            missed[at] = ~correct[whose == at][:, list(places[at].tokens)].all(-1)
    return missed


def weigh_places(found: Sequence[Missed], n_rounds: int = 1) -> list[Verdict]:
    """SUPPORTED: the worst head is surely missed less than half as much as all; REFUTED: surely more.

    UNTESTED: a place that is not missed at all cannot be told redundant from idle. The level is shared among rounds.
    """
    level = THRESHOLDS.level / n_rounds
    n = [len(each.mlp) for each in found]
    missed = holm([Fact("", {}, _rate(e.whole[:m]), _rate(e.untagged)).p for e, m in zip(found, n, strict=True)])
    needed, spared = (holm([_paired(sign * each.excess) for each in found]) for sign in (1, -1))
    verdicts = []
    for at, each in enumerate(found):
        if missed[at] > level or each.whole.mean() < _LEAST_MISSED:
            verdicts.append(Verdict.UNTESTED)
        elif needed[at] <= level:
            verdicts.append(Verdict.REFUTED)
        else:
            verdicts.append(Verdict.SUPPORTED if spared[at] <= level else Verdict.INCONCLUSIVE)
    return verdicts


def _paired(excess: NDArray[np.int64]) -> float:
    # The p of the mean being above 0. Too few questions that say anything say nothing.
    if np.count_nonzero(excess) < THRESHOLDS.least_searched:
        return 1.0
    if excess.min() == excess.max():
        return 0.0 if excess[0] > 0 else 1.0
    return float(ttest_1samp(excess, 0, alternative="greater").pvalue)


def _gap(each: Missed, settings: Settings) -> Estimate:
    random = np.random.default_rng(settings.seed_of(CARD.name, "bootstrap"))
    value, low, high = _bootstrap(each.whole.astype(np.float64) - each.worst, random)
    null = _rate(each.untagged)
    name = f"gap between all heads and the worst at {each.place.name}"
    return Estimate(name, value, low, high, null.value, *null.interval, n=len(each.whole))


def _bootstrap(values: NDArray[np.float64], random: np.random.Generator) -> tuple[float, float, float]:
    means = values[random.integers(0, len(values), (_BOOTSTRAPS, len(values)))].mean(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)


def _mean_gaps(found: Sequence[Missed], verdicts: Sequence[Verdict], settings: Settings) -> list[Estimate]:
    # Of the places of a branch that are missed, over the questions that all of them were asked.
    told = [each for each, verdict in zip(found, verdicts, strict=True) if verdict is not Verdict.UNTESTED]
    random, estimates = np.random.default_rng(settings.seed_of(CARD.name, "mean gap")), []
    for branch in dict.fromkeys(each.place.branch for each in told):
        for kind, letter in _KINDS:
            mine = [each for each in told if each.place.branch is branch and each.place.name.startswith(letter)]
            if not mine:
                continue
            n = len(mine[0].mlp)
            gap = np.mean([each.whole[:n].astype(np.float64) - each.worst[:n] for each in mine], axis=0)
            null = np.mean([each.untagged if len(each.untagged) else np.zeros(n) for each in mine], axis=0)
            name = f"{branch.value}: mean gap of {len(mine)} places {kind} carries, null untagged heads"
            (value, low, high), (middle, null_low, null_high) = (_bootstrap(each, random) for each in (gap, null))
            estimates.append(Estimate(name, value, low, high, middle, null_low, null_high, n))
    return estimates


def _facts(each: Missed, settings: Settings) -> list[Fact]:
    stimuli, null = {"n": len(each.whole), "seed": settings.seed}, _rate(each.untagged)
    about = {"place": each.place.name, "null": "untagged heads"}
    return [
        Fact(f"battery {CARD.name}", {**about, "ablated": what}, _rate(wrong), null, stimuli)
        for what, wrong in (("all heads", each.whole), (str(each.name), each.worst), ("worst MLP", each.mlp))
    ]


def _says(found: Sequence[Missed], verdicts: Sequence[Verdict], by: str) -> str:
    if not found:
        return "The model answers too few questions for anything to be missed."
    parts = []
    for kind, letter in _KINDS:
        mine = [v for each, v in zip(found, verdicts, strict=True) if each.place.name.startswith(letter)]
        counts = {verdict: mine.count(verdict) for verdict in Verdict}
        parts.append(
            f"of {len(mine)} places {kind} carries {counts[Verdict.SUPPORTED]} are redundant, "
            f"{counts[Verdict.REFUTED]} depend on one head, {counts[Verdict.UNTESTED]} are not missed, "
            f"{counts[Verdict.INCONCLUSIVE]} are open"
        )
    alone = sum(_rate(each.mlp).interval[0] > each.whole.mean() / 2 for each in found)
    return f"{'; '.join(parts).capitalize()}; at {alone} one MLP alone is missed that much. Tagged by {by}."


def _beside(verdicts: Sequence[Verdict]) -> BesidePaper:
    told = [verdict for verdict in verdicts if verdict in (Verdict.SUPPORTED, Verdict.REFUTED)]
    ours = f"{told.count(Verdict.REFUTED)} of {len(told)} places that could be told depend on one head"
    return BesidePaper("single nodes that are necessary", "none", ours, Verdict.REFUTED not in told if told else None)


def _figure(found: Sequence[Missed]) -> Figure:
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
