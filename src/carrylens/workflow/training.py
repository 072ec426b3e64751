"""Training: a model from its name, in a folder that is in the state the caller thinks it is in.

Takes  a name, a recipe, a model to insert.
Gives  the plan, and the run once it is done or stopped.
Never  chooses a rate: `arithmetic/recipes.py` does.
"""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.aligned.plans import aligned_plan
from carrylens.arithmetic.layouts import PAPER_LAYOUT
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.recipes import RecipeKind
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.training_plans import plan_for
from carrylens.arithmetic.zoo.model_facts import history
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.errors import CarryLensError
from carrylens.files import working
from carrylens.folders import MANIFEST
from carrylens.model.transformer import Transformer
from carrylens.training import run
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.devices import device_called
from carrylens.training.history import HistoryNote
from carrylens.training.insertion import Placement
from carrylens.training.plan import TrainingPlan
from carrylens.training.run import TrainingMonitor, TrainingRun
from carrylens.workflow.choices import choice

CHECKPOINT_SECONDS = 30.0


def training_plan(
    name: str,
    recipe: str,
    insert: str | None,
    placement: str,
    aligned: Path | None = None,
    layout: str = PAPER_LAYOUT,
) -> TrainingPlan:
    """What the train command was asked to train; `aligned` is a file that states an alignment to train under."""
    parsed = ModelName.parse(name)
    if aligned is not None:
        if insert is not None or recipe != RecipeKind.COMPACT.value or layout != PAPER_LAYOUT:
            raise CarryLensError("--aligned has a recipe of its own and inserts no model. Leave the other options out.")
        return aligned_plan(parsed, aligned)
    if parsed.planted:
        raise CarryLensError(f"{name} is planted, so nothing is trained. Write carrylens plant.")
    kind, where = choice(RecipeKind, recipe, "--recipe"), choice(Placement, placement, "--placement")
    if insert is None:
        return plan_for(parsed, kind, placement=where, layout=layout)
    inserted = find_source(insert)
    if not isinstance(inserted.task, ArithmeticTask) or inserted.task.operation is not Operation.ADD:
        raise CarryLensError(f"{inserted.name} is no addition model. Give --insert a model whose name begins with add.")
    return plan_for(parsed, kind, inserted.load(), inserted.name, where, layout)


def train_model(
    plan: TrainingPlan,
    folder: Path,
    device: str,
    threads: int,
    monitor: TrainingMonitor,
    checkpoint_seconds: float,
    *,
    resume: bool,
    restart: bool,
) -> TrainingRun:
    """Train, or go on training, in that folder."""
    where = device_called(device, threads)
    with working(folder):
        run.prepare_folder(folder, resume=resume, restart=restart)
        under_way = (run.resume if resume else run.start)(plan, folder, where)
        run.train(under_way, monitor, checkpoint_seconds)
    return under_way


def train_or_resume(
    plan: TrainingPlan, folder: Path, device: str, threads: int, monitor: TrainingMonitor, *, restart: bool
) -> tuple[Transformer, list[HistoryNote]]:
    """The model and its losses: loaded if it is finished there, gone on with if it was stopped, else trained now."""
    if restart or not (folder / MANIFEST).exists():
        resume = not restart and (folder / CHECKPOINT).exists()
        train_model(plan, folder, device, threads, monitor, CHECKPOINT_SECONDS, resume=resume, restart=restart)
    source = find_source(str(folder))
    if source.name != plan.name:
        raise CarryLensError(f"{folder} holds {source.name}, not {plan.name}. Give another folder with out.")
    return source.load(), history(folder)
