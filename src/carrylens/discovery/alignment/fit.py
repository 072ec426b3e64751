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

from dataclasses import dataclass

import numpy as np

from carrylens.discovery.alignment.alignment_task import AlignmentTask, inner_targets
from carrylens.discovery.alignment.fit_moves import (
    Candidates,
    candidate_targets,
    node_places,
    place_moves,
    site_moves,
    whole_place_moves,
)
from carrylens.discovery.alignment.placed_run import PlacedRun
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
    """How much is tried: rows of a trial, sweeps, targets tried for a node."""

    n_rows: int = 256
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
) -> Fitted:
    """The placement that was found; a fit that was `begun` with fewer sweeps goes on."""
    settings = settings or FitSettings()
    candidates = candidate_targets(about, settings.n_tried)
    found = _first_guess(about, settings) if begun is None else begun
    moves = list(node_places(about.nodes))
    for sweep in range(found.n_sweeps, settings.n_sweeps if not found.ended else 0):
        run = PlacedRun(_trial(about, settings, sweep), found.placement)
        for at, nodes in enumerate(moves):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}", at, len(moves))
            run = _improved(run, nodes, candidates)
        run = _with_exchanges(run)
        for place, target in enumerate(weak := _failing(run) if sweep else []):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}: what still fails", place, len(weak))
            for move in (*site_moves(run, target, candidates), *whole_place_moves(run, target, candidates)):
                run = _better(run, run.placement.given(move), tuple(move))
        found = Fitted(run.placement, sweep + 1, bool(sweep) and run.placement.held == found.placement.held)
        if found.ended:
            break
    return found


def _first_guess(about: AlignmentTask, settings: FitSettings) -> Fitted:
    trial = _trial(about, settings, 0)
    best = max((PlacedRun(trial, each) for each in first_placements(about)), key=_score)
    return Fitted(best.placement, 0)


def score_of(right: Bools, placement: NodePlacement) -> float:
    """The share of outputs that come out as predicted, and half as much that of whole answers, less what nodes cost."""
    gained = float(right.mean() + 0.5 * right.all(1).mean())
    return gained - _HELD * placement.size - _SHARED * placement.n_shared


def _score(run: PlacedRun) -> float:
    return score_of(run.right, run.placement)


def _trial(about: AlignmentTask, settings: FitSettings, sweep: int) -> Trial:
    n_rows = settings.n_rows * (1, 2, 4)[min(sweep, 2)] // 2  # small gains count in the end
    return Trial.drawn(about, JointDraw(), 7919 * (settings.seed + 1) + sweep, n_rows)


def _failing(run: PlacedRun) -> list[int]:
    # The targets whose outputs are not as predicted in all but a few rows, the worst first: where the target moves or
    # is held, and where nothing moves.
    trial, rates = run.trial, dict[int, float]()
    slots = trial.prediction(run.placement).chosen[trial.rows]
    places = {output: at for at, output in enumerate(trial.about.causal.outputs)}
    inner = inner_targets(trial.about)
    still = (slots[:, list(inner)] == OWN).all(1)
    for at in inner:
        right = np.asarray(run.right[:, [places[each] for each in trial.about.targets[at].outputs]].all(1))
        parts = [np.asarray(right[rows]) for rows in (slots[:, at] != OWN, still)]
        rates[at] = min((float(part.mean()) for part in parts if len(part)), default=1.0)
    return sorted((at for at, rate in rates.items() if rate < _WHOLE), key=lambda at: rates[at])[:_MOST_FAILING]


def _improved(run: PlacedRun, nodes: tuple[Node, ...], candidates: Candidates) -> PlacedRun:
    for move in place_moves(run, nodes, candidates):
        run = _better(run, run.placement.given(move), tuple(move))
    return run


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
                run = _better(run, run.placement.given(move), tuple(move))
    return run


def _better(run: PlacedRun, placement: NodePlacement, nodes: tuple[Node, ...]) -> PlacedRun:
    # The run under the placement if that scores higher, else the run as it is. First a look at a quarter of the rows
    # that can differ: most moves make much worse.
    differ = np.flatnonzero(run.trial.differs(run.placement, placement))
    near = run.can_move(placement, nodes)
    look = differ[::4]
    if len(look) >= _LEAST_LOOK:
        if near:
            looked = run.moved(placement, nodes, look).right
        else:
            looked = run.trial.followed(placement, run.trial.rows[look])
        if looked.sum() < run.right[look].sum():
            return run
    if not near:
        other = PlacedRun(run.trial, placement)
        return other if _score(other) > _score(run) else run
    moved, right = run.moved(placement, nodes, differ), run.right.copy()
    right[differ] = moved.right
    if score_of(right, placement) > _score(run):
        run.accept(moved)
    return run
