"""Ablations: what goes wrong without a node, without a whole place, and without a node and its backups.

Takes  an engine, nodes, questions and reference questions.
Gives  for each node how many questions fail when it writes its mean, and when it writes what another question makes it
       write; which outputs go wrong, and in which classes of questions. The same for all nodes of a place,
       and for a node together with those that could do its work.
Never  calls a node useless: another may do its work while it is away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.attention import Pattern, overlap
from carrylens.discovery.behaviours import BackupUse, PlaceUse
from carrylens.discovery.node_map import Nodes, Usefulness
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, ablate
from carrylens.interventions.engine import Engine, RowProgress
from carrylens.interventions.waves import Call, Waves
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch

_FILLS = (Fill.MEAN, Fill.RESAMPLE)
ALIKE = 0.5
"""Two heads may back each other up if they give that share of their attention to the same places."""


@dataclass(frozen=True, eq=False)
class Ablations:
    """What became of each set of nodes under both fills: failed [set, fill, question], wrong with a token axis.

    `clean_wrong` [question, token] is wrong untouched.
    """

    failed: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    clean_wrong: NDArray[np.bool_]

    @property
    def clean(self) -> NDArray[np.bool_]:
        """The questions that fail untouched."""
        return np.asarray(self.clean_wrong.any(-1))


def ablate_sets(
    engine: Engine,
    sets: Sequence[Nodes],
    questions: Batch,
    reference: Batch,
    *,
    store: Path | None = None,
    watch: RowProgress | None = None,
) -> Ablations:
    """Ablate each set, both ways."""
    edits = tuple(ablate(nodes, fill) for nodes in sets for fill in _FILLS)
    (found,) = Waves(engine, store).run([Call(edits, questions, reference=reference)], watch)
    wrong = (found.tokens != found.right).reshape(len(sets), len(_FILLS), *found.right.shape)
    return Ablations(wrong.any(-1), wrong, np.asarray(found.clean_tokens != found.right))


def measure_usefulness(
    engine: Engine,
    nodes: Sequence[Node],
    questions: Batch,
    reference: Batch,
    *,
    store: Path | None = None,
    watch: RowProgress | None = None,
) -> list[Usefulness]:
    """Ablate each node alone, both ways."""
    found = ablate_sets(engine, [(node,) for node in nodes], questions, reference, store=store, watch=watch)
    strata, failed = engine.task.classes(questions), found.failed.any(1) & ~found.clean
    return [
        Usefulness(
            node=node,
            mean=_rate(found.failed[at, 0]),
            resample=_rate(found.failed[at, 1]),
            clean=_rate(found.clean),
            tokens=tuple(_rate(token) for token in (found.wrong[at].any(0) & ~found.clean_wrong).T),
            classes={strata.names[code]: _rate(failed[at][strata.code == code]) for code in np.unique(strata.code)},
        )
        for at, node in enumerate(nodes)
    ]


def measure_places(
    engine: Engine,
    nodes: Sequence[Node],
    questions: Batch,
    reference: Batch,
    *,
    store: Path | None = None,
    watch: RowProgress | None = None,
) -> list[PlaceUse]:
    """Ablate every one of the nodes at each position together."""
    positions = sorted({node.position for node in nodes})
    sets = [tuple(node for node in nodes if node.position == position) for position in positions]
    found = ablate_sets(engine, sets, questions, reference, store=store, watch=watch)
    names = engine.task.layout.place_names
    return [
        PlaceUse(
            position=position,
            place=names[position],
            mean=_rate(found.failed[at, 0]),
            resample=_rate(found.failed[at, 1]),
            clean=_rate(found.clean),
            tokens=tuple(_rate(token) for token in found.wrong[at, 0].T),
        )
        for at, position in enumerate(positions)
    ]


def likely_backups(node: Node, nodes: Sequence[Node], patterns: Sequence[Pattern]) -> Nodes:
    """Those that could do the node's work while it is away.

    For a head: the other heads of its layer at its position that look at the same places, in some condition. For an
    MLP: the MLPs of the other layers at its position. Copies at other places are not among them.
    """
    here = [each for each in nodes if each.position == node.position and each != node]
    if node.is_mlp:
        return tuple(each for each in here if each.is_mlp)
    heads = [each for each in here if each.layer == node.layer and not each.is_mlp]
    return tuple(each for each in heads if any(overlap(pattern, node, each) >= ALIKE for pattern in patterns))


def measure_backups(
    engine: Engine,
    backups: Mapping[Node, Nodes],
    questions: Batch,
    reference: Batch,
    *,
    store: Path | None = None,
    watch: RowProgress | None = None,
) -> dict[Node, BackupUse]:
    """Ablate each node together with its backups, and these without it."""
    some = {node: others for node, others in backups.items() if others}
    if not some:
        return {}
    sets = list(dict.fromkeys(each for node, others in some.items() for each in (_joined(node, others), others)))
    found = ablate_sets(engine, sets, questions, reference, store=store, watch=watch)
    failed = dict(zip(sets, found.failed, strict=True))
    return {node: _backups(others, failed[_joined(node, others)], failed[others]) for node, others in some.items()}


def _joined(node: Node, others: Nodes) -> Nodes:
    return tuple(sorted((node, *others)))


def _backups(others: Nodes, together: NDArray[np.bool_], alone: NDArray[np.bool_]) -> BackupUse:
    rates = {}
    for at, fill in enumerate(_FILLS):
        rates[fill.value] = _rate(together[at])
        rates[f"{fill.value}_alone"] = _rate(alone[at])
        rates[f"{fill.value}_lost"] = _rate(together[at] & ~alone[at])
    return BackupUse(nodes=others, **rates)


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
