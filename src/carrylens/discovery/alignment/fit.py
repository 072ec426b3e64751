"""The fit: the placement under which the algorithm says best what random joint interventions do.

Takes  what is aligned, targets, how much to try.
Gives  a placement, and how well it did on the questions that it was chosen with.
Never  reports that as a result: `joint_test.py` measures on others.

1. Start from the first guess that does best.
2. Go through the places of each layer, all nodes of a place at once and then each alone: give them to a target that
   their write varies with, or to none, wherever more outputs then come out as predicted.
3. Try to let two targets stand together that are made from the same inputs.
4. Again, on fresh questions, until nothing moves or the sweeps are over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from carrylens.discovery.alignment.start import ExplainedShares, first_placements, may_hold, varying_with
from carrylens.discovery.alignment.targets import AlignmentTarget, may_merge, merged
from carrylens.discovery.alignment.trial import IDLE, AlignmentTask, JointDraw, NodePlacement, Trial
from carrylens.nodes import Node
from carrylens.progress import Progress, silent

_LEAST_SHARE = 0.05  # of a write's variance, for a target to be worth a try
_MISSING = 0.02  # what a target without any node costs
_MERGED = 0.01  # what letting two targets move together must gain
_GAIN = 1e-6


@dataclass(frozen=True)
class FitSettings:
    """How much is tried: rows of a trial, sweeps, targets tried for a node."""

    n_rows: int = 256
    n_sweeps: int = 3
    n_tried: int = 3
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Fitted:
    """A placement, and its score on the questions that it was chosen with."""

    placement: NodePlacement
    score: float


def fit_alignment(
    about: AlignmentTask,
    targets: tuple[AlignmentTarget, ...],
    settings: FitSettings | None = None,
    watch: Progress = silent,
) -> Fitted:
    """The placement that was found."""
    settings = settings or FitSettings()
    shares = varying_with(about, targets)
    trial = _trial(about, len(targets), settings, 0)
    fitted = max(
        (Fitted(each, score(trial, each)) for each in first_placements(about, targets)), key=lambda each: each.score
    )
    for sweep in range(settings.n_sweeps):
        trial = _trial(about, len(targets), settings, sweep)
        before = fitted.placement
        say = partial(watch, f"aligning, sweep {sweep + 1} of {settings.n_sweeps}")
        fitted = _with_merges(trial, _swept(trial, fitted.placement, shares, settings.n_tried, say))
        if fitted.placement is before:
            break
    return fitted


def score(trial: Trial, placement: NodePlacement) -> float:
    """Outputs that come out as predicted, and half as much whole answers; less for targets without a node."""
    right = trial.followed(placement)
    missing = len(placement.targets) - int(placement.placed.sum())
    return float(right.mean() + 0.5 * right.all(1).mean()) - _MISSING * missing


def _trial(about: AlignmentTask, n_targets: int, settings: FitSettings, sweep: int) -> Trial:
    seed = 7919 * (settings.seed + 1) + sweep
    return Trial.drawn(about, n_targets, JointDraw(), seed, settings.n_rows)


def _swept(
    trial: Trial, placement: NodePlacement, shares: ExplainedShares, n_tried: int, say: Callable[[int, int], None]
) -> Fitted:
    best, moves = Fitted(placement, score(trial, placement)), list(_moves(trial.about.nodes))
    for at, nodes in enumerate(moves):
        say(at, len(moves))
        for target in _options(trial.about, best.placement, nodes, shares, n_tried):
            if any(best.placement.held[node] != target for node in nodes):
                tried = best.placement.moved(nodes, target)
                reached = score(trial, tried)
                if reached > best.score + _GAIN:
                    best = Fitted(tried, reached)
    return best


def _moves(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    # All nodes of a place and layer at once, from layer 0 up, then each node alone.
    places: dict[tuple[int, int], list[Node]] = {}
    for node in sorted(nodes, key=lambda each: (each.layer, each.position)):
        places.setdefault((node.layer, node.position), []).append(node)
    yield from map(tuple, places.values())
    yield from ((node,) for some in places.values() for node in some)


def _options(
    about: AlignmentTask, placement: NodePlacement, nodes: Sequence[Node], shares: ExplainedShares, n_tried: int
) -> list[int]:
    # What some of the nodes hold, nothing, and the targets that their writes vary with most.
    found = {IDLE, *(placement.held[node] for node in nodes)}
    for node in nodes:
        by_target = shares[node][list(placement.draws)]
        ranked = sorted(range(len(by_target)), key=lambda at: -by_target[at])[:n_tried]
        found |= {at for at in ranked if by_target[at] > _LEAST_SHARE}
    able = [at for at in found if at == IDLE or all(may_hold(about, placement.targets[at], node) for node in nodes)]
    return sorted(able)


def _with_merges(trial: Trial, fitted: Fitted) -> Fitted:
    causal, best = trial.about.causal, fitted
    for one, other in combinations(range(len(fitted.placement.targets)), 2):
        if not may_merge(causal, *(fitted.placement.targets[at] for at in (one, other))):
            continue
        targets = best.placement.targets
        places = [
            targets.index(fitted.placement.targets[at])
            for at in (one, other)
            if fitted.placement.targets[at] in targets
        ]
        if len(places) < 2:
            continue
        tried = _merge(best.placement, *places)
        reached = score(trial, tried)
        if reached > best.score + _MERGED:
            best = Fitted(tried, reached)
    return best


def _merge(placement: NodePlacement, one: int, other: int) -> NodePlacement:
    targets = list(placement.targets)
    targets[one] = merged(targets[one], targets[other])
    del targets[other]
    renamed = {at: at - (at > other) for at in range(len(placement.targets))} | {IDLE: IDLE, other: one - (one > other)}
    held = {node: renamed[target] for node, target in placement.held.items()}
    return NodePlacement(tuple(targets), held, tuple(np.delete(placement.draws, other).tolist()))
