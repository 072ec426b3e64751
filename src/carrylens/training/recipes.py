"""Recipes: how a model is trained, as one small table.

Takes  a model's name.
Gives  `TrainingRecipe`: optimiser, rates, batch, schedule and stream.
Never  trains.

The default recipe is ours, `compact`; `paper` is the published one, kept exactly for comparison.

| compact | Muon (blocks' matrices) | AdamW (the rest) | output matrices start | full rate for | weights averaged over |
|---|---|---|---|---|---|
| additions of fewer than 10 digits | 0.02 | 3e-3 | random | nothing | the last fifth of the steps |
| subtractions of up to 6 digits | 0.01 | 2e-3 | at zero | nothing | nothing: the last weights |
| longer subtractions | 0.01 | 2e-3 | at zero | half of the steps | nothing |
| everything else | 0.01 | 2e-3 | random | nothing | nothing |

A batch has 128 questions.

`LOG.md` has the runs behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.streams import Stream, StreamKind


class RecipeKind(Enum):
    """Whose recipe."""

    COMPACT = "compact"
    PAPER = "paper"


@dataclass(frozen=True)
class TrainingRecipe:
    """Everything about a training run that the model's name does not say.

    `adam_rate` is AdamW's learning rate; where there is a `muon_rate`, Muon trains the blocks' matrices with that, and
    AdamW the rest. The rate rises over the `warm_up` share of the steps, stays for the `steady` share, then falls to
    zero. The trained weights are their mean over the `tail` share of the steps. With `silent_start`, heads and MLPs
    write nothing at first: the matrices by which they write start at zero.
    """

    kind: RecipeKind
    stream: StreamKind
    batch: int
    adam_rate: float
    muon_rate: float | None
    betas: tuple[float, float]
    weight_decay: float
    warm_up: float
    cosine: bool
    clip: float | None
    minus_share: float | None
    tail: float = 0.0
    silent_start: bool = False
    steady: float = 0.0

    def rate_at(self, step: int, n_steps: int) -> float:
        """The share of the learning rate in force at `step`, counted from 0."""
        warm_up = max(1, int(self.warm_up * n_steps))
        if step < warm_up:
            return (step + 1) / warm_up
        falls_at = warm_up + int(self.steady * n_steps)
        passed = max(0, step - falls_at) / max(1, n_steps - falls_at)
        return 0.5 * (1 + math.cos(math.pi * passed)) if self.cosine else 1 - passed

    def questions(self, name: ModelName) -> Stream:
        """The stream the model is trained on."""
        return Stream(self.stream, name.operation, name.digits, name.seed, self.minus_share)


def recipe_for(name: ModelName, kind: RecipeKind = RecipeKind.COMPACT) -> TrainingRecipe:
    """The recipe for the model called `name`.

    >>> recipe_for(ModelName.parse("add_d6_l2_h3_t15K_s1"), RecipeKind.PAPER).adam_rate
    8e-05
    """
    return _paper(name) if kind is RecipeKind.PAPER else _compact(name)


def _compact(name: ModelName) -> TrainingRecipe:
    is_easy = name.operation is Operation.ADD and name.digits < 10
    return TrainingRecipe(
        kind=RecipeKind.COMPACT,
        stream=StreamKind.ENRICHED,
        batch=128,
        adam_rate=3e-3 if is_easy else 2e-3,
        muon_rate=0.02 if is_easy else 0.01,
        betas=(0.9, 0.98),
        weight_decay=0.1,
        warm_up=0.05,
        cosine=False,
        clip=1.0,
        minus_share=0.8 if name.insertion else None,
        tail=0.2 if is_easy else 0.0,
        silent_start=name.operation is Operation.SUB,
        steady=0.5 if name.operation is Operation.SUB and name.digits > 6 else 0.0,
    )


def _paper(name: ModelName) -> TrainingRecipe:
    return TrainingRecipe(
        kind=RecipeKind.PAPER,
        stream=StreamKind.PAPER,
        batch=64,
        adam_rate=8e-5,
        muon_rate=None,
        betas=(0.9, 0.98),
        weight_decay=0.1,
        warm_up=0.2,
        cosine=True,
        clip=None,
        minus_share=0.8 if name.insertion else None,
    )
