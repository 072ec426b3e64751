"""Training: a model from its name, in a folder that is in the state the caller thinks it is in.

Takes  a name, a recipe, a model to insert.
Gives  the plan, and the run once it is done or stopped.
Never  chooses a rate: `arithmetic/recipes.py` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from carrylens.arithmetic.aligned.plans import aligned_plan
from carrylens.arithmetic.layouts import PAPER_LAYOUT
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.populations import PopulationKind
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
from carrylens.training.acceptance import Acceptance
from carrylens.training.checkpoint import CHECKPOINT
from carrylens.training.devices import device_called
from carrylens.training.history import HistoryNote
from carrylens.training.insertion import Placement
from carrylens.training.plan import TrainingPlan
from carrylens.training.run import TrainingMonitor, TrainingRun
from carrylens.workflow.acceptance import accept_model, is_unaccepted
from carrylens.workflow.choices import choice

CHECKPOINT_SECONDS = 30.0


def training_plan(
    name: str,
    recipe: str,
    insert: str | None,
    placement: str,
    aligned: Path | None = None,
    layout: str = PAPER_LAYOUT,
    population: str | None = None,
) -> TrainingPlan:
    """What the train command was asked to train; `aligned` is a file that states an alignment to train under."""
    parsed = ModelName.parse(name)
    if aligned is not None:
        if insert is not None or recipe != RecipeKind.COMPACT.value or layout != PAPER_LAYOUT or population:
            raise CarryLensError("--aligned has a recipe of its own and inserts no model. Leave the other options out.")
        return aligned_plan(parsed, aligned)
    if parsed.planted:
        raise CarryLensError(f"{name} is planted, so nothing is trained. Write carrylens plant.")
    kind, where = choice(RecipeKind, recipe, "--recipe"), choice(Placement, placement, "--placement")
    sampled = None if population is None else choice(PopulationKind, population, "--population")
    if insert is None:
        return plan_for(parsed, kind, placement=where, layout=layout, population=sampled)
    inserted = find_source(insert)
    if not isinstance(inserted.task, ArithmeticTask) or inserted.task.operation is not Operation.ADD:
        raise CarryLensError(
            f"{inserted.name} is not an addition model. Give --insert a model whose name begins with add."
        )
    return plan_for(parsed, kind, inserted.load(), inserted.name, where, layout, sampled)


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


@dataclass(frozen=True)
class TrainedIn:
    """What training in a folder came to: not `finished` if it was stopped, after `step` steps; whether an alignment
    came out, if one was trained for."""

    model: Transformer
    history: Sequence[HistoryNote]
    finished: bool
    acceptance: Acceptance | None = None
    step: int = 0


def train_in(
    plan: TrainingPlan,
    folder: Path,
    device: str,
    threads: int,
    monitor: TrainingMonitor,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    *,
    resume: bool | None,
    restart: bool,
) -> TrainedIn:
    """The model and its losses. With `resume` None: loaded if finished, gone on with if stopped, else trained now."""
    there = (folder / MANIFEST).exists() and not restart
    if not (there and (resume is None or _is_only_unaccepted(plan, folder, resume))):
        goes_on = not restart and (folder / CHECKPOINT).exists() if resume is None else resume
        done = train_model(plan, folder, device, threads, monitor, checkpoint_seconds, resume=goes_on, restart=restart)
        if not done.done:
            return TrainedIn(done.model, done.history, False, step=done.step)
    source = find_source(str(folder), any_name=True)
    if resume is None and source.name not in (plan.name, folder.name):
        raise CarryLensError(f"{folder} holds {source.name}, not {plan.name}. Give another folder with out.")
    if plan.interchange is not None and is_unaccepted(folder):
        return TrainedIn(source.load(), history(folder), True, accept_model(plan, folder), plan.n_steps)
    return TrainedIn(source.load(), history(folder), True, step=plan.n_steps)


def _is_only_unaccepted(plan: TrainingPlan, folder: Path, resume: bool) -> bool:
    return plan.interchange is not None and resume and is_unaccepted(folder)
