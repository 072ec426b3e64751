"""Usefulness: what goes wrong without a node.

Takes  an engine, nodes, questions and reference questions.
Gives  for each node how many questions fail when it writes its mean, and when it writes what another question makes it
       write; which tokens of the answer go wrong, and in which classes of questions.
Never  calls a node useless: another may do its work while it is away.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.classes import CLASSES, classify
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import Usefulness
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, ablate
from carrylens.interventions.engine import Engine, Watch
from carrylens.nodes import Node


def measure_usefulness(
    engine: Engine,
    nodes: Sequence[Node],
    questions: Questions,
    reference: Questions,
    *,
    store: Path | None = None,
    watch: Watch | None = None,
) -> list[Usefulness]:
    """Ablate each node alone, both ways."""
    edits = [ablate([node], fill) for node in nodes for fill in (Fill.MEAN, Fill.RESAMPLE)]
    outcomes = engine.run(edits, questions, reference=reference, store=store, watch=watch)
    n, codes = len(questions), classify(questions).code
    clean = np.asarray((outcomes.clean_tokens != outcomes.right).any(-1))
    failed = outcomes.failed.reshape(len(nodes), 2, n)
    wrong = ~outcomes.correct.reshape(len(nodes), 2, n, -1)
    return [
        Usefulness(
            node=node,
            mean=_rate(failed[at, 0]),
            resample=_rate(failed[at, 1]),
            clean=_rate(clean),
            tokens=tuple(_rate(token) for token in wrong[at, 0].T),
            classes={CLASSES[code].value: _rate(failed[at, 0][codes == code]) for code in np.unique(codes)},
        )
        for at, node in enumerate(nodes)
    ]


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
