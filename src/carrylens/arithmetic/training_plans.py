"""Training plans: from a model's name to what a training run needs.

Takes  a name, whose recipe, and for a name that begins with ins the addition model to insert.
Gives  the plan: task, shape, recipe, population, hard questions, insertion.
Never  trains.

By what a name begins with: ins1 trains on from the inserted model; ins2 puts the inserted heads back every 100 steps,
ins3 the heads and MLPs.
"""

from __future__ import annotations

from dataclasses import replace

from carrylens.arithmetic.hard_questions import hard_populations
from carrylens.arithmetic.layouts import PAPER_LAYOUT, layout_called
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.recipes import RecipeKind, recipe_for, recipe_record, training_population
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.model.config import ModelConfig
from carrylens.model.transformer import Transformer
from carrylens.tasks.layout import Layout
from carrylens.training.insertion import Insertion, Placement, Restored
from carrylens.training.plan import TrainingPlan

_RESTORED = {1: Restored.NOTHING, 2: Restored.HEADS, 3: Restored.HEADS_AND_MLPS}


def plan_for(
    name: ModelName,
    kind: RecipeKind = RecipeKind.COMPACT,
    inserted: Transformer | None = None,
    inserted_from: str | None = None,
    placement: Placement = Placement.EARLY,
    layout: str = PAPER_LAYOUT,
    population: PopulationKind | None = None,
) -> TrainingPlan:
    """How the model called `name` is trained; `inserted_from` is what the inserted model is called.

    `layout` names how its questions are written; `population` is that of the questions, if not the recipe's.
    """
    _check_name(name, inserted)
    task = arithmetic_task(name.operation, name.digits, layout_called(layout, name.digits))
    insertion = None
    if inserted is not None:
        insertion = Insertion(inserted, inserted_from, placement, _RESTORED[name.insertion])
    return TrainingPlan(
        name=str(name),
        task=task,
        config=_config(name, task.layout),
        recipe=recipe_for(name, kind),
        population=training_population(name, kind, population),
        n_steps=name.n_steps,
        seed=name.seed,
        hard=hard_populations(name.operation, name.digits),
        insertion=insertion,
        next_name=str(replace(name, seed=name.seed + 1)),
        recorded=recipe_record(name, kind, population) | ({} if layout == PAPER_LAYOUT else {"layout": layout}),
    )


def _config(name: ModelName, layout: Layout) -> ModelConfig:
    config = config_of_width(name.digits, name.n_layers, name.n_heads, name.width, name.seed)
    n_tokens = len(layout.vocabulary)
    return replace(config, n_ctx=layout.n_positions, reads=layout.reads, d_vocab=n_tokens, d_vocab_out=n_tokens)


def _check_name(name: ModelName, inserted: Transformer | None) -> None:
    if (inserted is not None) != bool(name.insertion):
        raise CarryLensError(
            f"{name} and the model to insert do not go together. "
            "Give one with --insert for a name that begins with ins, and only then."
        )
    if name.grokfast:
        raise CarryLensError(
            f"{name} asks for grokfast (gf), which no recipe here has. Leave it out: {replace(name, grokfast=False)}."
        )
