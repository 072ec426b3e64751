"""Plans of aligned models: from a name and an alignment to what a training run needs.

Takes  a model's name, and an alignment with an algorithm that carrylens has or that a file of the user's states.
Gives  the plan; the questions that an aligned model is accepted on; other algorithms to hold against it.
Never  trains.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from carrylens.alignment import Alignment
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.aligned.gate_balance import training_population
from carrylens.arithmetic.aligned.named_algorithms import algorithm_called, named_algorithms
from carrylens.arithmetic.aligned.sites import alignment_of, is_held_by, rival_alignment, shape_for
from carrylens.arithmetic.hard_questions import hard_populations
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.model_shapes import config_of_width
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.errors import CarryLensError
from carrylens.files import read_whole
from carrylens.tasks.causal import CausalModel
from carrylens.training.acceptance import HeldOut
from carrylens.training.interchange import Interchange
from carrylens.training.plan import TrainingPlan
from carrylens.training.recipe import TrainingRecipe

_HELD_OUT_SEED, _HELD_OUT = 1_000_003, 5_000
_STATED_IN_A_FILE = ".py"


def aligned_plan(name: ModelName, path: Path) -> TrainingPlan:
    """How the model called `name` is trained under the alignment in a file."""
    alignment = _read(path)
    task = arithmetic_task(name.operation, name.digits)
    if name.insertion or name.grokfast:
        raise CarryLensError(f"{name} cannot be trained under an alignment. Write a name such as {_plain(name)}.")
    causal = _algorithm(alignment.algorithm, task, path)
    return TrainingPlan(
        name=str(name),
        task=task,
        config=config_of_width(name.digits, name.n_layers, name.n_heads, name.width, name.seed),
        recipe=TrainingRecipe(),
        population=training_population(_population(task), causal),
        n_steps=name.n_steps,
        seed=name.seed,
        hard=hard_populations(name.operation, name.digits),
        interchange=Interchange(causal, alignment),
        next_name=str(replace(name, seed=name.seed + 1)),
    )


def held_out(task: ArithmeticTask, count: int = _HELD_OUT) -> HeldOut:
    """The questions that an aligned model is accepted on; no run draws them."""
    return HeldOut(task, _population(task), _HELD_OUT_SEED, count)


def other_algorithms(plan: TrainingPlan) -> dict[str, Interchange]:
    """Every other algorithm for the same questions, at the same sites if it can stand there; none for other shapes.

    One whose every variable is a function of what one site holds is no other algorithm there, and is left out.
    """
    task, how = plan.task, plan.interchange
    assert isinstance(task, ArithmeticTask)
    assert how is not None
    shape, causal = shape_for(task.operation), how.causal if isinstance(how.causal, Algorithm) else None
    if (plan.config.n_layers, plan.config.n_heads) != (shape.n_layers, shape.n_heads):
        return {}
    return {
        name: Interchange(model, rival_alignment(model, causal, how.alignment) if causal else alignment_of(model))
        for name, model in named_algorithms(task.operation, task.digits).items()
        if not is_held_by(model, how.causal.name, how.alignment)
    }


def _population(task: ArithmeticTask) -> Population:
    return Population(PopulationKind.ENRICHED, task.operation, task.digits)


def _algorithm(name: str, task: ArithmeticTask, path: Path) -> CausalModel:
    if name.endswith(_STATED_IN_A_FILE):
        return own_hypothesis(path.parent / name, task).model
    return algorithm_called(name, task.operation, task.digits)


def _read(path: Path) -> Alignment:
    return Alignment.from_json(read_whole(path, "Give a file."), str(path))


def _plain(name: ModelName) -> ModelName:
    return replace(name, insertion=0, grokfast=False)
