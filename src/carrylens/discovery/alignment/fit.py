"""The fit: the placement under which the algorithm says best what random joint interventions do.

Takes  what is aligned, how much to try.
Gives  a placement, and how well it did on the questions that it was chosen with.
Never  reports that as a result: `joint_test.py` measures on others.

1. Start from the first guess that does best.
2. Go through the places of each layer, all nodes at once, all heads, and then each node: take a target away, give one
   more that the write varies with, or another instead, wherever more outputs then come out as predicted.
3. Of two targets that are made from the same inputs, let the one take the other's nodes, and the other stand where it
   is read.
4. From the second sweep on, for each target that still fails: give it at once all nodes of a layer that vary with it
   most, wherever they stand; and change all nodes of a place at once.
5. Again, on fresh questions, until nothing moves or the sweeps are over.
Only rows that a move can have changed are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.alignment.alignment_task import AlignmentTask, inner_targets
from carrylens.discovery.alignment.fit_moves import (
    Candidates,
    Move,
    candidate_targets,
    filling_moves,
    node_places,
    place_moves,
    site_moves,
    whole_place_moves,
)
from carrylens.discovery.alignment.placed_run import PlacedRun, Try
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.start import first_placements
from carrylens.discovery.alignment.trial import Bools, JointDraw, Trial
from carrylens.model.interchange_pass import OWN
from carrylens.nodes import Node
from carrylens.progress import Progress, silent

_WHOLE = 0.97  # the share of a target's rows that come out as predicted, from which on it is left alone
_MOST_FAILING = 8  # targets that are tried again in a sweep
_LEAST_LOOK = 8  # rows
_READ_SHARE = 0.2  # of a write's variance, for a node to bring a target to where it is read
_SHARED = 3e-3  # what each further target in a node costs: most nodes hold one
_HELD = 2e-4  # what a target in a node costs: a node that makes no difference is idle


@dataclass(frozen=True)
class FitSettings:
    """How much is tried: rows of a trial, of each target by itself, sweeps, targets tried for a node."""

    n_rows: int = 256
    n_alone: int = 16
    n_sweeps: int = 4
    n_tried: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """A placement, and after how many sweeps it was reached; with `ended` the last one moved nothing."""

    placement: NodePlacement
    n_sweeps: int
    ended: bool = False


def fit_alignment(
    about: AlignmentTask,
    settings: FitSettings | None = None,
    watch: Progress = silent,
    begun: Fitted | None = None,
    keep: Callable[[Fitted], None] = lambda _: None,
) -> Fitted:
    """The placement that was found; a fit that was `begun` with fewer sweeps goes on. `keep` is given every sweep's."""
    settings = settings or FitSettings()
    candidates = candidate_targets(about, settings.n_tried)
    found = _first_guess(about, settings) if begun is None else begun
    moves = list(node_places(about.nodes))
    for sweep in range(found.n_sweeps, settings.n_sweeps if not found.ended else 0):
        run = PlacedRun(sweep_trial(about, settings, sweep), found.placement)
        for at, nodes in enumerate(moves):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}", at, len(moves))
            _improved(run, nodes, candidates)
        run = _with_exchanges(run)
        for move in filling_moves(run, candidates):
            run = _better(run, move)
        for place, target in enumerate(weak := failing_targets(run) if sweep else []):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}: what still fails", place, len(weak))
            for move in site_moves(run, target, candidates):
                run = _better(run, move)
            for ways in whole_place_moves(run, target, candidates):
                _best(run, ways)
        found = Fitted(run.placement, sweep + 1, bool(sweep) and run.placement.held == found.placement.held)
        keep(found)
        if found.ended:
            break
    return found


def _first_guess(about: AlignmentTask, settings: FitSettings) -> Fitted:
    trial = sweep_trial(about, settings, 0)
    best = max((PlacedRun(trial, each) for each in first_placements(about)), key=_score)
    return Fitted(best.placement, 0)


def score_of(trial: Trial, right: Bools, placement: NodePlacement) -> float:
    """The share of outputs that come out as predicted, and half as much that of whole answers, less what nodes cost."""
    return _gained(trial, right) - _HELD * placement.size - _SHARED * placement.n_shared


def _gained(trial: Trial, right: Bools) -> float:
    return float(trial.weights @ _gains(right))


def _gains(right: Bools) -> NDArray[np.float64]:
    return np.asarray(right.mean(1) + 0.5 * right.all(1))


def _is_surely_worse(run: PlacedRun, right: Bools, rows: NDArray[np.intp]) -> bool:
    # Whether some rows lose by more than two standard errors of what a sum of such gains and losses has.
    gained = run.trial.weights[rows] * (_gains(right) - _gains(run.right[rows]))
    return bool(gained.sum() < -2 * np.sqrt((gained**2).sum()))


def _score(run: PlacedRun) -> float:
    return score_of(run.trial, run.right, run.placement)


def sweep_trial(about: AlignmentTask, settings: FitSettings, sweep: int) -> Trial:
    """The questions and interventions of a sweep; of one after the last, some that no sweep has seen."""
    n_rows = settings.n_rows * (1, 2, 4)[min(sweep, 2)] // 2  # small gains count in the end
    draw = JointDraw(alone=settings.n_alone, by_itself=inner_targets(about))
    return Trial.drawn(about, draw, 7919 * (settings.seed + 1) + sweep, n_rows)


def failing_targets(run: PlacedRun) -> list[int]:
    """The targets whose outputs are not as predicted in all but a few rows, the worst first: where the target moves or
    is held, where it alone moves, and where nothing moves."""
    trial, rates = run.trial, dict[int, float]()
    slots = trial.prediction.chosen[trial.rows]
    places = {output: at for at, output in enumerate(trial.about.causal.outputs)}
    inner = inner_targets(trial.about)
    still = (slots[:, list(inner)] == OWN).all(1)
    for at in inner:
        right = np.asarray(run.right[:, [places[each] for each in trial.about.targets[at].outputs]].all(1))
        moves = slots[:, at] != OWN
        parts = [np.asarray(right[rows]) for rows in (moves, moves & trial.alone[trial.rows], still)]
        rates[at] = min((float(part.mean()) for part in parts if len(part)), default=1.0)
    return sorted((at for at, rate in rates.items() if rate < _WHOLE), key=lambda at: rates[at])[:_MOST_FAILING]


def _best(run: PlacedRun, moves: Sequence[Move]) -> bool:
    # Whether one of these moves at one place was kept: the best, if it scores higher than the run as it is. First a
    # look at a quarter of the rows that can differ: most moves make much worse.
    trial, tries, looks = run.trial, list[Try](), list[Try]()
    for move in moves:
        placement, nodes = run.placement.given(move), tuple(move)
        differ = np.flatnonzero(trial.differs(run.placement, placement, nodes))
        tries.append(Try(placement, nodes, differ))
        looks.append(Try(placement, nodes, differ[::4] if len(differ) >= 4 * _LEAST_LOOK else differ[:0]))
    seen = run.moved([each for each in looks if len(each.rows)])
    worse = {each.tried.placement for each in seen if _is_surely_worse(run, each.right, each.tried.rows)}
    left = [each for each in tries if each.placement not in worse]
    best, most = None, _score(run)
    for moved in run.moved(left):
        right = run.right.copy()
        right[moved.tried.rows] = moved.right
        if (score := score_of(trial, right, moved.tried.placement)) > most:
            best, most = moved, score
    if best is not None:
        run.accept(best)
    return best is not None


def _improved(run: PlacedRun, nodes: tuple[Node, ...], candidates: Candidates) -> None:
    seen = list[Move]()
    while moves := [move for move in place_moves(run, nodes, candidates) if move not in seen]:
        seen += moves
        if not _best(run, moves):
            break


def _with_exchanges(run: PlacedRun) -> PlacedRun:
    # Two targets of the same inputs, of which one may be taken for the other where both are brought: give its nodes to
    # the other, and to itself those that vary with it where it is read.
    about = run.trial.about
    for one, others in about.siblings.items():
        target = about.targets[one]
        read = about.task.layout.read_position(target.outputs[0])
        near = [n for n in about.nodes if n.position == read and about.finder.share(n, one) > _READ_SHARE]
        for other in others if len(target.outputs) == 1 else ():
            far = [node for node in run.placement.nodes(one) if node.position != read]
            for layer in sorted({node.layer for node in near}) if far else ():
                move = dict.fromkeys(far, (other,)) | {n: (one,) for n in near if n.layer == layer and not n.is_mlp}
                run = _better(run, move)
    return run


def _better(run: PlacedRun, move: Move) -> PlacedRun:
    # The run under the placement that a move gives, at several places, if that scores higher, else the run as it is.
    placement = run.placement.given(move)
    look = np.flatnonzero(run.trial.differs(run.placement, placement))[::4]
    if len(look) >= _LEAST_LOOK:
        looked = run.trial.followed(placement, run.trial.rows[look])
        if _is_surely_worse(run, looked, look):
            return run
    other = PlacedRun(run.trial, placement)
    return other if _score(other) > _score(run) else run
