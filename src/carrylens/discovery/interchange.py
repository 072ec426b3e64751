"""Swaps: what sets of nodes do to the answer when they take their values from another question.

Takes  an engine, sets of nodes, and matched pairs of a variable.
Gives  for each set and token of the answer: how often it becomes the counterfactual token where that differs, and how
       often it changes, from what the untouched model writes, where the variable agrees.
Never  decides what that means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.tokens import answer_positions, encode
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.pairs import Pairs, interchange_pairs, null_pairs
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class Stimuli:
    """Effect pairs of a variable, and null pairs with the same bases; drawn by `count` and `seed`."""

    variable: Variable
    effect: Pairs
    null: Pairs
    count: int
    seed: int

    @cached_property
    def expected(self) -> NDArray[np.int8]:
        """The tokens that the base's answer must have once the variable is the source's."""
        return answer_tokens(self.effect.base, self.effect.written())


@dataclass(frozen=True)
class SwapRates:
    """What swapping one set does to one token of the answer: `token` counts from the sign."""

    nodes: Nodes
    token: int
    hit: Rate
    null: Rate


def draw_stimuli(model: CausalModel, variable: Variable, count: int, seed: int) -> Stimuli:
    """`count` effect pairs of the variable, half as many more for a sign that may turn, and null pairs for all."""
    effect = interchange_pairs(model, variable, count, seed)
    return Stimuli(variable, effect, null_pairs(model, variable, effect.base, seed + 1), count, seed)


def swap_rates(
    engine: Engine,
    sets: Sequence[Nodes],
    stimuli: Stimuli,
    least: int,
    store: Path | None = None,
    least_hit: float = 0.0,
) -> list[SwapRates]:
    """Rates of every set and every token that differs in at least `least` effect pairs.

    A set that reaches `least_hit` at no token is not asked for its null, which then counts no pairs.
    """
    hits = dict(zip(sets, swap_hits(engine, sets, stimuli, least, store), strict=True))
    asked = [nodes for nodes in sets if any(hit.value >= least_hit for hit in hits[nodes].values())]
    changed = dict(zip(asked, _changed(engine, asked, stimuli, store), strict=True))
    return [
        SwapRates(nodes, token, hit, changed[nodes][token] if nodes in changed else Rate(0, 0))
        for nodes in sets
        for token, hit in hits[nodes].items()
    ]


def _changed(engine: Engine, sets: Sequence[Nodes], stimuli: Stimuli, store: Path | None) -> list[list[Rate]]:
    # For every set, how often each token changes on the null pairs.
    if not sets:
        return []
    null = engine.run([swap(nodes) for nodes in sets], stimuli.null.base, stimuli.null.source, store=store)
    return [[Rate(int(count), len(stimuli.null.base)) for count in some] for some in null.changed.sum(1)]


def swap_hits(
    engine: Engine, sets: Sequence[Nodes], stimuli: Stimuli, least: int, store: Path | None = None
) -> list[dict[int, Rate]]:
    """For every set, how often each token follows the variable, as `swap_rates` but without the null."""
    effect = engine.run([swap(nodes) for nodes in sets], stimuli.effect.base, stimuli.effect.source, store=store)
    asked = (stimuli.expected != effect.right) & (stimuli.expected != effect.clean_tokens)  # what stays did not follow
    return count_hits(effect.tokens, stimuli.expected, asked, least)


def count_hits(
    given: NDArray[np.int8], expected: NDArray[np.int8], asked: NDArray[np.bool_], least: int
) -> list[dict[int, Rate]]:
    """For every edit how often each token is the expected one where it is asked, in `least` questions or more.

    Axes: `given` [edit, question, token], the others [question, token].
    """
    hit, counts = ((given == expected) & asked).sum(1), asked.sum(0)
    tokens = np.flatnonzero(counts >= least)
    return [{int(token): Rate(int(row[token]), int(counts[token])) for token in tokens} for row in hit]


def answer_tokens(questions: Questions, given: Answers | None = None) -> NDArray[np.int8]:
    """The tokens of these answers, or of the right ones: [question, token]."""
    whole = encode(questions, answers(questions) if given is None else given)
    return whole[:, answer_positions(questions.digits).start + 1 :].astype(np.int8)
