"""Swaps: what sets of nodes do to the answer when they take their values from another question.

Takes  an engine, sets of nodes, and matched pairs of a variable.
Gives  for each set and token of the answer: how often it becomes the counterfactual token where that differs, and how
       often it changes where the variable agrees.
Never  decides what that means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.pairs import Pairs, effect_pairs, null_pairs
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.tokens import answer_positions, encode


@dataclass(frozen=True, eq=False)
class Stimuli:
    """Effect pairs of a variable, and null pairs with the same bases."""

    variable: Variable
    effect: Pairs
    null: Pairs
    seed: int


@dataclass(frozen=True)
class SwapRates:
    """What swapping one set does to one token of the answer: `token` counts from the sign."""

    nodes: Nodes
    token: int
    hit: Rate
    null: Rate


def draw_stimuli(model: CausalModel, variable: Variable, count: int, seed: int) -> Stimuli:
    """`count` effect pairs of the variable, and as many null pairs."""
    effect = effect_pairs(model, variable, count, seed)
    return Stimuli(variable, effect, null_pairs(model, variable, effect.base, seed + 1), seed)


def swap_rates(
    engine: Engine, sets: Sequence[Nodes], stimuli: Stimuli, least: int, store: Path | None = None
) -> list[SwapRates]:
    """Rates of every set and every token that differs in at least `least` effect pairs."""
    edits = [swap(nodes) for nodes in sets]
    effect = engine.run(edits, stimuli.effect.base, stimuli.effect.source, store=store)
    null = engine.run(edits, stimuli.null.base, stimuli.null.source, store=store)
    expected = answer_tokens(stimuli.effect.base, stimuli.effect.written())
    differs = expected != effect.right
    hit = ((effect.tokens == expected) & differs).sum(1)
    changed = (null.tokens != null.right).sum(1)
    return [
        SwapRates(
            nodes,
            int(token),
            Rate(int(hit[at, token]), int(differs[:, token].sum())),
            Rate(int(changed[at, token]), len(stimuli.null.base)),
        )
        for at, nodes in enumerate(sets)
        for token in np.flatnonzero(differs.sum(0) >= least)
    ]


def answer_tokens(questions: Questions, given: Answers | None = None) -> NDArray[np.int8]:
    """The tokens of these answers, or of the right ones: [question, token]."""
    whole = encode(questions, answers(questions) if given is None else given)
    return whole[:, answer_positions(questions.digits).start + 1 :].astype(np.int8)
