"""Exhaustive activation patching: every node takes what it writes for an unrelated question.

Takes  what a method is given; it does not use the algorithm.
Gives  for every node how far the outputs move: the Kullback-Leibler divergence of the patched outputs from the clean
       ones, over questions and outputs.
Never  says what a node carries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from carrylens.benchmark.method_interface import Found, Given
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node

_PAIRS = 64
_AT_ONCE = 64  # nodes, to bound memory


def find_by_patching(given: Given) -> Found:
    """How much each node matters."""
    n_pairs = _PAIRS // (1 + given.quick)
    nodes, base, source = given.nodes, given.draw(n_pairs), given.draw(n_pairs, start=n_pairs)
    scores: dict[Node, float] = {}
    with Engine(given.model, given.task) as engine:
        clean = engine.run([interchange([nodes[0]])], base, base, logits=True).logits
        assert clean is not None
        for start in range(0, len(nodes), _AT_ONCE):
            some = nodes[start : start + _AT_ONCE]
            given.progress("patching", start, len(nodes))
            moved = engine.run([interchange([node]) for node in some], base, source, logits=True).logits
            assert moved is not None
            scores |= dict(zip(some, divergence(clean, moved).mean((1, 2)).tolist(), strict=True))
    return Found(node_scores=scores)


def divergence(clean: NDArray[np.floating], moved: NDArray[np.floating]) -> NDArray[np.float64]:
    """The Kullback-Leibler divergence of `moved` from `clean`, both logits, over the last axis."""
    one, other = (log_softmax(np.asarray(each, dtype=np.float64), axis=-1) for each in (clean, moved))
    return np.asarray((np.exp(one) * (one - other)).sum(-1))
