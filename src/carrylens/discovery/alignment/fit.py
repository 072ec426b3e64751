"""The fit: the placement under which the algorithm says best what random joint interventions do.

Takes  what is aligned, how much to try.
Gives  a placement, and how well it did on the questions that it was chosen with.
Never  reports that as a result: `joint_test.py` measures on others.

1. Start from the first guess that does best.
2. Go through the places of each layer, all nodes at once, all heads, and then each node: take a target away, give one
   more that the write varies with, or another instead, wherever more outputs then come out as predicted.
3. Of two targets that are made from the same inputs, let the one take the other's nodes, and the other stand where it is
   read.
4. Again, on fresh questions, until nothing moves or the sweeps are over.
Only rows that a move can have changed are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.discovery.alignment.start import first_placements, may_hold
from carrylens.discovery.alignment.trial import AlignmentTask, Bools, JointDraw, NodePlacement, Trial
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


@dataclass(frozen=True, eq=False)
class Fitted:
    """A placement, which outputs of a trial it predicts, and its score on the questions that it was chosen with."""

    placement: NodePlacement
    right: Bools
    score: float


def fit_alignment(about: AlignmentTask, settings: FitSettings | None = None, watch: Progress = silent) -> Fitted:
    """The placement that was found."""
    settings = settings or FitSettings()
    candidates = {node: _candidates(about, node, settings.n_tried) for node in about.nodes}
    trial = _trial(about, settings, 0)
    fitted = max((evaluated(trial, each) for each in first_placements(about)), key=lambda each: each.score)
    moves = list(_places(about.nodes))
    for sweep in range(settings.n_sweeps):
        trial = _trial(about, settings, sweep)
        best = evaluated(trial, fitted.placement)
        for at, nodes in enumerate(moves):
            watch(f"aligning, sweep {sweep + 1} of {settings.n_sweeps}", at, len(moves))
            best = _improved(trial, best, nodes, candidates)
        best = _with_exchanges(trial, best)
        moved = best.placement.held != fitted.placement.held
        fitted = best
        if not moved:
            break
    return fitted


def evaluated(trial: Trial, placement: NodePlacement, near: Fitted | None = None) -> Fitted:
    """A placement with its score; of one that is near it, only the rows that can differ are computed anew.

    The score is the share of outputs that come out as predicted, and half as much that of whole answers.
    """
    if near is None:
        right = trial.followed(placement)
    else:
        differ, right = trial.differs(near.placement, placement), near.right.copy()
        if differ.any():
            right[differ] = trial.followed(placement, trial.rows[differ])
    score = float(right.mean() + 0.5 * right.all(1).mean()) - _HELD * placement.size - _SHARED * placement.n_shared
    return Fitted(placement, right, score)


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


def _improved(trial: Trial, best: Fitted, nodes: tuple[Node, ...], candidates: Candidates) -> Fitted:
    for move in _moves(best.placement, nodes, candidates):
        if any(
            len(held) > 1 and (len(held) > 3 or trial.about.finder.of(node, held) is None)
            for node, held in move.items()
        ):
            continue
        tried = best.placement.given(move)
        if not _is_hopeless(trial, tried, best):
            reached = evaluated(trial, tried, best)
            best = reached if reached.score > best.score else best
    return best


def _with_exchanges(trial: Trial, best: Fitted) -> Fitted:
    # Two targets of the same inputs, of which one may be taken for the other where both are brought: give its nodes to
    # the other, and to itself those that vary with it where it is read.
    about = trial.about
    for one, others in about.siblings.items():
        target = about.targets[one]
        read = about.task.layout.read_position(target.outputs[0])
        near = [n for n in about.nodes if n.position == read and about.finder.share(n, one) > _READ_SHARE]
        for other in others if len(target.outputs) == 1 else ():
            far = [node for node in best.placement.nodes(one) if node.position != read]
            for layer in sorted({node.layer for node in near}) if far else ():
                move = {node: (other,) for node in far} | {n: (one,) for n in near if n.layer == layer and not n.is_mlp}
                tried = evaluated(trial, best.placement.given(move), best)
                best = tried if tried.score > best.score else best
    return best


def _is_hopeless(trial: Trial, placement: NodePlacement, best: Fitted) -> bool:
    # A look at a quarter of the rows that can differ: most moves make much worse.
    differ = np.flatnonzero(trial.differs(best.placement, placement))
    look = differ[::4]
    if len(look) < _LEAST_LOOK:
        return False
    return bool(trial.followed(placement, trial.rows[look]).sum() < best.right[look].sum())


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
