"""The fit: the placement under which the algorithm says best what random joint interventions do.

Takes  what is aligned, how much to try.
Gives  a placement, and how well it did on the questions that it was chosen with.
Never  reports that as a result: `joint_test.py` measures on others.

1. Start from the first guess that does best.
2. Go through the places of each layer, all nodes at once, all heads, and then each node: take a target away, give one
   more that the write varies with, or another instead, wherever more outputs then come out as predicted.
3. Of two targets that are made from the same inputs, let the one take the other's nodes, and the other stand where it
   is read.
4. Again, on fresh questions, until nothing moves or the sweeps are over.
Only rows that a move can have changed are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placed_run import PlacedRun
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.start import first_placements, may_hold
from carrylens.discovery.alignment.trial import Bools, JointDraw, Trial
from carrylens.nodes import Node
from carrylens.progress import Progress, silent

_LEAST_SHARE = 0.03  # of a write's variance, for a target to be worth a try
_LEAST_LOOK = 8  # rows
_READ_SHARE = 0.2  # of a write's variance, for a node to bring a target to where it is read
_SHARED = 3e-3  # what each further target in a node costs: most nodes hold one
_HELD = 2e-4  # what a target in a node costs: a node that makes no difference is idle

Candidates = dict[Node, tuple[int, ...]]


@dataclass(frozen=True)
class FitSettings:
    """How much is tried: rows of a trial, sweeps, targets tried for a node."""

    n_rows: int = 256
    n_sweeps: int = 4
    n_tried: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Fitted:
    """A placement, and its score on the questions that it was chosen with."""

    placement: NodePlacement
    score: float


def fit_alignment(about: AlignmentTask, settings: FitSettings | None = None, watch: Progress = silent) -> Fitted:
    """The placement that was found."""
    settings = settings or FitSettings()
    candidates = {node: _candidates(about, node, settings.n_tried) for node in about.nodes}
    trial = _trial(about, settings, 0)
    found = max((PlacedRun(trial, each) for each in first_placements(about)), key=_score).placement
    moves, score = list(_places(about.nodes)), 0.0
    for sweep in range(settings.n_sweeps):
        run = PlacedRun(_trial(about, settings, sweep), found)
        for at, nodes in enumerate(moves):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}", at, len(moves))
            run = _improved(run, nodes, candidates)
        run = _with_exchanges(run)
        moved = run.placement.held != found.held
        found, score = run.placement, _score(run)
        if not moved:
            break
    return Fitted(found, score)


def score_of(right: Bools, placement: NodePlacement) -> float:
    """The share of outputs that come out as predicted, and half as much that of whole answers, less what nodes cost."""
    gained = float(right.mean() + 0.5 * right.all(1).mean())
    return gained - _HELD * placement.size - _SHARED * placement.n_shared


def _score(run: PlacedRun) -> float:
    return score_of(run.right, run.placement)


def _trial(about: AlignmentTask, settings: FitSettings, sweep: int) -> Trial:
    n_rows = settings.n_rows * (1, 2, 4)[min(sweep, 2)] // 2  # small gains count in the end
    return Trial.drawn(about, JointDraw(), 7919 * (settings.seed + 1) + sweep, n_rows)


def _candidates(about: AlignmentTask, node: Node, n_tried: int) -> tuple[int, ...]:
    shares = {
        at: about.finder.share(node, at) for at, target in enumerate(about.targets) if may_hold(about, target, node)
    }
    ranked = sorted((at for at in shares if shares[at] > _LEAST_SHARE), key=lambda at: -shares[at])
    return tuple(ranked[:n_tried])


def _places(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    # All nodes of a place and layer at once, then its heads, then each node alone; layer by layer.
    places: dict[tuple[int, int], list[Node]] = {}
    for node in sorted(nodes, key=lambda each: (each.layer, each.position, each.is_mlp)):
        places.setdefault((node.layer, node.position), []).append(node)
    for some in places.values():
        heads = [node for node in some if not node.is_mlp]
        yield from dict.fromkeys((tuple(some), tuple(heads), *((node,) for node in some)))


def _improved(run: PlacedRun, nodes: tuple[Node, ...], candidates: Candidates) -> PlacedRun:
    for move in _moves(run.placement, nodes, candidates):
        if any(
            len(held) > 1 and (len(held) > 3 or run.trial.about.finder.of(node, held) is None)
            for node, held in move.items()
        ):
            continue
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


def _moves(
    placement: NodePlacement, nodes: tuple[Node, ...], candidates: Candidates
) -> Iterator[dict[Node, tuple[int, ...]]]:
    # Nothing, or without one of them; another alone, one more.
    now = {node: placement.held[node] for node in nodes}
    offered = list(dict.fromkeys(at for node in nodes for at in candidates[node]))
    inside = list(dict.fromkeys(at for held in now.values() for at in held))
    options: list[dict[Node, tuple[int, ...]]] = [dict.fromkeys(nodes, ())]
    options += [{node: tuple(at for at in held if at != each) for node, held in now.items()} for each in inside]
    options += [dict.fromkeys(nodes, (each,)) for each in dict.fromkeys((*offered, *inside))]
    options += [{node: tuple(sorted({*held, each})) for node, held in now.items()} for each in offered]
    seen = [now]
    for option in options:
        if option not in seen:
            seen.append(option)
            yield option
