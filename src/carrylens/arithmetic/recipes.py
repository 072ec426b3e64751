"""Recipes: how models that add and subtract are trained, as one small table.

Takes  a model's name.
Gives  the recipe, and the population of questions that goes with it.
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

from dataclasses import asdict
from enum import Enum

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.training.recipe import TrainingRecipe

_INSERTED_MINUS_SHARE = 0.8
_RECORDED = (
    *("kind", "stream", "batch", "adam_rate", "muon_rate", "betas", "weight_decay", "warm_up", "cosine", "clip"),
    *("minus_share", "tail", "silent_start", "steady"),
)  # what files have said from the first; whether weight decay leaves norms and biases out, the kind says


class RecipeKind(Enum):
    """Whose recipe."""

    COMPACT = "compact"
    PAPER = "paper"


def recipe_for(name: ModelName, kind: RecipeKind = RecipeKind.COMPACT) -> TrainingRecipe:
    """The recipe for the model called `name`.

    >>> recipe_for(ModelName.parse("add_d6_l2_h3_t15K_s1"), RecipeKind.PAPER).adam_rate
    8e-05
    """
    return _paper() if kind is RecipeKind.PAPER else _compact(name)


def training_population(
    name: ModelName, kind: RecipeKind = RecipeKind.COMPACT, chosen: PopulationKind | None = None
) -> Population:
    """The questions that the model called `name` is trained on: those `chosen`, or the recipe's.

    Where an addition model is inserted, more of them subtract.
    """
    sampled = chosen or (PopulationKind.PAPER if kind is RecipeKind.PAPER else PopulationKind.ENRICHED)
    return Population(sampled, name.operation, name.digits, _INSERTED_MINUS_SHARE if name.insertion else None)


def recipe_record(
    name: ModelName, kind: RecipeKind = RecipeKind.COMPACT, chosen: PopulationKind | None = None
) -> dict[str, object]:
    """What files say of how the model called `name` is trained: the recipe, and the population of questions."""
    population = training_population(name, kind, chosen)
    said = asdict(recipe_for(name, kind)) | {
        "kind": kind.value,
        "stream": population.kind.value,
        "minus_share": population.minus_share,
    }
    return {field: said[field] for field in _RECORDED}


def _compact(name: ModelName) -> TrainingRecipe:
    is_easy = name.operation is Operation.ADD and name.digits < 10
    return TrainingRecipe(
        batch=128,
        adam_rate=3e-3 if is_easy else 2e-3,
        muon_rate=0.02 if is_easy else 0.01,
        betas=(0.9, 0.98),
        weight_decay=0.1,
        warm_up=0.05,
        cosine=False,
        clip=1.0,
        tail=0.2 if is_easy else 0.0,
        silent_start=name.operation is Operation.SUB,
        steady=0.5 if name.operation is Operation.SUB and name.digits > 6 else 0.0,
    )


def _paper() -> TrainingRecipe:
    return TrainingRecipe(
        batch=64,
        adam_rate=8e-5,
        muon_rate=None,
        betas=(0.9, 0.98),
        weight_decay=0.1,
        warm_up=0.2,
        cosine=True,
        clip=None,
        decays_all=True,
    )
