"""Necessity: is any single head necessary for the carry, or only all heads of a place together?

Takes  a subject.
Gives  for every digit how often it is off by the carry without all heads that deliver its carry, without the worst of
       them alone, and without untagged ones; the same for the heads at each column's place, and for MLPs beside them.
Never  picks the worst head on the questions it is scored on, and never counts a failure that is not the carry's.

1. Delivery: the heads of the combiner's layer (`combiner_layer.py`) at the place that predicts digit j; what counts is
   that digit. Making: the heads of earlier layers at D'k; what counts are the digits above k. Each branch by itself:
   heads may divide the branches.
2. Take the carry from all heads together, from each alone, from untagged heads; count the questions with a digit that
   is off by just that carry (`carry_errors.py` says how both is done).
3. The worst single head is picked on one split; all rates are those of another.
4. A place is redundant if all its heads are missed more than the untagged, and the worst alone less than half as much:
   a paired test of the same questions (without all, without the worst), Holm over the places. The same for MLPs.
5. Places that stay open are evaluated on four times as many questions; each round has half of the level.
6. The gap, all heads less the worst: for every place, and its mean for each branch over the places that are missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layers
from carrylens.arithmetic.battery.measures.useful_nodes import find_useful_nodes
from carrylens.arithmetic.battery.necessity.card import CARD
from carrylens.arithmetic.battery.necessity.carry_errors import (
    CarryPlace,
    PlaceQuestions,
    carry_errors,
    carry_errors_untagged,
    carry_places,
    draw_branch_questions,
    draw_place_pairs,
)
from carrylens.arithmetic.battery.necessity.place_verdicts import MissedPlace, weigh_places
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.nodes import Node

_ROUNDS = (2, 8)
"""How many questions each round has used in the end, times those of the settings."""


@dataclass(frozen=True)
class NecessityMeasurements:
    """What is missed at each place, the verdict on it, and how nodes were called useful."""

    found: tuple[MissedPlace, ...]
    verdicts: tuple[Verdict, ...]
    by: str


def measure(context: ExperimentContext) -> NecessityMeasurements:
    """Both rounds: all places, then those that stay open."""
    subject, layers = context.subject, combiner_layers(context)
    places = [place for branch, layer in layers.items() for place in carry_places(subject, branch, layer)]
    context.watch(CARD.title, 0, len(places) + 1)
    tagged = find_useful_nodes(context)
    untagged = [node for node in subject.nodes if node not in tagged.nodes]
    asked, found = _questions(context, places), []
    for at, place in enumerate(places):
        context.watch(CARD.title, at + 1, len(places) + 1)
        each = _measure_place(context, place, asked[place], untagged)
        if each is not None:
            found.append(each)
    first = weigh_places(found, len(_ROUNDS))
    for at, verdict in enumerate(first):
        if verdict is Verdict.INCONCLUSIVE:
            context.watch(CARD.title, len(places), len(places) + 1)
            found[at] = _ask_on(context, found[at], asked[found[at].place])
    second = weigh_places(found, len(_ROUNDS))
    verdicts = [then if now is Verdict.INCONCLUSIVE else now for now, then in zip(first, second, strict=True)]
    return NecessityMeasurements(tuple(found), tuple(verdicts), tagged.by)


def _questions(context: ExperimentContext, places: Sequence[CarryPlace]) -> dict[CarryPlace, PlaceQuestions]:
    # Pairs of its own for each place that delivers; the same questions for all that make carries of one branch.
    subject, settings = context.subject, context.settings
    population = Population(PopulationKind.ENRICHED, subject.operation, subject.digits)
    reference = population.draw(settings.seed_of(CARD.name, "reference"), 0, settings.n_reference)
    n = _n_picking(settings) + _ROUNDS[-1] * settings.n_questions
    branches = dict.fromkeys(place.branch for place in places)
    making = {
        branch: draw_branch_questions(subject, branch, n, reference, settings.seed_of(CARD.name, branch.value))
        for branch in branches
    }
    return {
        place: draw_place_pairs(subject, place, n, reference, settings.seed_of(CARD.name, place.name))
        if place.delivers
        else making[place.branch]
        for place in places
    }


def _n_picking(settings: BatterySettings) -> int:
    return settings.n_questions // 2


def _measure_place(
    context: ExperimentContext, place: CarryPlace, asked: PlaceQuestions, untagged: Sequence[Node]
) -> MissedPlace | None:
    # The first round.
    subject, settings = context.subject, context.settings
    n, stop = _n_picking(settings), _n_picking(settings) + _ROUNDS[0] * settings.n_questions
    picking, scoring = asked[:n].answered(subject), asked[n:stop].answered(subject)
    if min(len(picking), len(scoring)) < THRESHOLDS.least_searched:
        return None
    failures = carry_errors(subject, place, [(node,) for node in (*place.heads, *place.mlps)], picking).sum(1)
    n_heads = len(place.heads)
    head, mlp = place.heads[failures[:n_heads].argmax()], place.mlps[failures[n_heads:].argmax()]
    whole, worst, by_mlp = carry_errors(subject, place, [place.heads, (head,), (mlp,)], scoring)
    seed = settings.seed_of(CARD.name, place.name, "untagged")
    without = carry_errors_untagged(context, place, scoring, untagged, seed)
    return MissedPlace(place, whole, worst, without, by_mlp, head)


def _ask_on(context: ExperimentContext, each: MissedPlace, asked: PlaceQuestions) -> MissedPlace:
    # The second round: the rest of the questions.
    subject, settings = context.subject, context.settings
    more = asked[_n_picking(settings) + _ROUNDS[0] * settings.n_questions :].answered(subject)
    if not len(more):
        return each
    wrong = carry_errors(subject, each.place, [each.place.heads, (each.name,)], more)
    whole, worst = (np.concatenate(both) for both in ((each.whole, wrong[0]), (each.worst, wrong[1])))
    return replace(each, whole=whole, worst=worst)
