"""Moves: other placements that a fit may try.

Takes  a run under a placement, what the writes of nodes vary with.
Gives  moves: for some nodes the targets that they would hold.
Never  decides whether a move is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from carrylens.discovery.alignment.alignment_task import AlignmentTask
from carrylens.discovery.alignment.placed_run import PlacedRun
from carrylens.discovery.alignment.start import may_hold
from carrylens.nodes import Node

_LEAST_SHARE = 0.03  # of a write's variance, for a target to be worth a try
_SITE_SHARE = 0.1  # of a write's variance, for a node to be part of a site over several positions
_MOST_TOGETHER = 3  # targets in one node
_MOST_AT_ONCE = 5  # nodes of a place that are changed at once
_MOST_PLACES = 2  # at which all nodes are changed at once, for one target

HeldTargets = tuple[int, ...]
Move = Mapping[Node, HeldTargets]
Candidates = Mapping[Node, HeldTargets]


def candidate_targets(about: AlignmentTask, n_tried: int) -> Candidates:
    """For every node the few targets that its write varies with most, of those that it may hold."""
    found = dict[Node, HeldTargets]()
    for node in about.nodes:
        shares = {
            at: about.finder.share(node, at) for at, target in enumerate(about.targets) if may_hold(about, target, node)
        }
        ranked = sorted((at for at in shares if shares[at] > _LEAST_SHARE), key=lambda at: -shares[at])
        found[node] = tuple(ranked[:n_tried])
    return found


def node_places(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """All nodes of a place and layer at once, then its heads, then each node alone; layer by layer."""
    for some in _by_place(nodes):
        heads = [node for node in some if not node.is_mlp]
        yield from dict.fromkeys((tuple(some), tuple(heads), *((node,) for node in some)))


def place_moves(run: PlacedRun, nodes: tuple[Node, ...], candidates: Candidates) -> Iterator[Move]:
    """For nodes of one place: nothing, or without one target; another alone, one more."""
    now = {node: run.placement.held[node] for node in nodes}
    offered = list(dict.fromkeys(at for node in nodes for at in candidates[node]))
    inside = list(dict.fromkeys(at for held in now.values() for at in held))
    options: list[dict[Node, HeldTargets]] = [dict.fromkeys(nodes, ())]
    options += [{node: tuple(at for at in held if at != each) for node, held in now.items()} for each in inside]
    options += [dict.fromkeys(nodes, (each,)) for each in dict.fromkeys((*offered, *inside))]
    options += [{node: tuple(sorted({*held, each})) for node, held in now.items()} for each in offered]
    seen = [now]
    for option in options:
        if option not in seen and _can_be_held(run.trial.about, option):
            seen.append(option)
            yield option


def filling_moves(run: PlacedRun, candidates: Candidates) -> Iterator[Move]:
    """All idle nodes, or those of a layer, to what they vary with most: those of a chain matter only together."""
    idle = {node: offered[:1] for node, offered in candidates.items() if offered and not run.placement.held[node]}
    yield idle
    for layer in sorted({node.layer for node in idle}):
        yield {node: offered for node, offered in idle.items() if node.layer == layer}


def site_moves(run: PlacedRun, target: int, candidates: Candidates) -> Iterator[Move]:
    """All nodes of one layer, or of all up to one, that vary with a target more than with any other: to it at once."""
    about = run.trial.about
    mine = [
        node
        for node, offered in candidates.items()
        if offered and offered[0] == target and about.finder.share(node, target) > _SITE_SHARE
    ]
    seen = list[Move]()
    for layer in sorted({node.layer for node in mine}):
        for some in ([n for n in mine if n.layer == layer], [n for n in mine if n.layer <= layer]):
            for kept in (some, [n for n in some if not n.is_mlp]):
                move = {node: (target,) for node in kept if run.placement.held[node] != (target,)}
                if move and move not in seen:
                    seen.append(move)
                    yield move


def whole_place_moves(run: PlacedRun, target: int, candidates: Candidates) -> Iterator[list[Move]]:
    """For each place where writes vary with a target most: each node as it is, to the target, or idle, in every way."""
    about = run.trial.about
    shares = {node: about.finder.share(node, target) for node in about.nodes if target in candidates[node]}

    def matters(place: Sequence[Node]) -> float:
        return max(shares.get(node, 0.0) + (target in run.placement.held[node]) for node in place)

    places = [some for some in _by_place(about.nodes) if any(node in shares for node in some)]
    for place in sorted(places, key=matters, reverse=True)[:_MOST_PLACES]:
        some = sorted(place, key=lambda node: -shares.get(node, 0.0))[:_MOST_AT_ONCE]
        options = [dict.fromkeys((run.placement.held[node], (target,), ())) for node in some]
        moves = [dict(zip(some, chosen, strict=True)) for chosen in product(*options)]
        yield [move for move in moves if any(run.placement.held[node] != held for node, held in move.items())]


def _can_be_held(about: AlignmentTask, move: Move) -> bool:
    return all(
        len(held) < 2 or (len(held) <= _MOST_TOGETHER and about.finder.of(node, held) is not None)
        for node, held in move.items()
    )


def _by_place(nodes: Sequence[Node]) -> list[list[Node]]:
    places: dict[tuple[int, int], list[Node]] = {}
    for node in sorted(nodes, key=lambda each: (each.layer, each.position, each.is_mlp)):
        places.setdefault((node.layer, node.position), []).append(node)
    return list(places.values())
