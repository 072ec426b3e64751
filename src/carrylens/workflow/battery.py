"""The battery: the experiments on a model, each kept as soon as it is there.

Takes  an analysis, and the name of one experiment or none.
Gives  the outcomes and their folder.
Never  runs again what was run with the same settings.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from carrylens.arithmetic.battery.battery_folder import save_outcomes, saved_map_of_weights, saved_outcomes
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.fresh_outcomes import is_fresh, run_experiments
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.subject import InsertedModel, Subject
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.model_facts import training_run
from carrylens.arithmetic.zoo.sources import find_source, shipped_names
from carrylens.errors import CarryLensError
from carrylens.files import working
from carrylens.model.source import ModelSource
from carrylens.model.transformer import Transformer
from carrylens.report.sentences.sentence_registry import sentence_of
from carrylens.tasks.task import Task
from carrylens.training.insertion import Placement
from carrylens.workflow.analysis import Analysis


def run_battery(analysis: Analysis, only: str | None = None) -> tuple[Path, list[Outcome]]:
    """The outcomes of all experiments on a model, or of one, and their folder."""
    experiments, source = experiments_called(only), analysis.source
    folder = source.analysis_folder(analysis.out)
    about = {"model": source.name, **analysis.about}
    own = [] if source.folder is None else [source.folder]  # a shipped model may have come with map and outcomes
    mapped = (each for place in [folder, *own] if (each := saved_map_of_weights(place, source.sha256)))
    subject = Subject(source.name, analysis.model, _operation(source.task), next(mapped, None), _inserted(source))
    here = saved_outcomes(folder, about)
    came = [outcome for place in own if place.resolve() != folder.resolve() for outcome in saved_outcomes(place, about)]
    there = [] if analysis.restart else [*here, *came]
    done = here if analysis.out else there  # who names a folder wants the outcomes in it
    context = ExperimentContext(subject, BatterySettings.chosen(analysis.seed, quick=analysis.quick), analysis.progress)
    full = [replace(context, settings=BatterySettings.chosen(analysis.seed))] if analysis.quick else []
    found = []
    ways = (*full, context)
    is_done = all(any(is_fresh(each, one, way) for each in done for way in ways) for one in experiments)
    with nullcontext() if is_done else working(folder):
        for outcome in run_experiments(context, experiments, there, sentence_of, full):
            if outcome not in done:  # what is in the folder goes before what came with the model
                kept = {each.card.name: each for each in (*came, *saved_outcomes(folder, about), outcome)}
                save_outcomes(folder, about, list(kept.values()))
            found.append(outcome)
    only_came = all(outcome in came and outcome not in here for outcome in found)
    came_along = only_came and not (analysis.out or analysis.restart)
    return own[0] if came_along and found else folder, found


def _operation(task: Task) -> Operation:
    if not isinstance(task, ArithmeticTask) or not task.question_layout.is_standard:
        raise CarryLensError(
            "The experiments need a model that adds or subtracts in the paper's layout; this one is for "
            f"{task.name!r}. "
            "Write carrylens map and carrylens judge instead."
        )
    return task.operation


def _inserted(source: ModelSource) -> InsertedModel | None:
    # The addition model that was put into this one, if its history names one that can be found.
    run = {} if source.folder is None else training_run(source.folder)
    if "inserted_from" not in run:
        return None
    model = _trained_beside(source, str(run["inserted_from"]), run.get("inserted_sha256"))
    if model is None:
        return None
    late = run.get("placement") == Placement.LATE.value
    return InsertedModel(str(run["inserted_from"]), model, late, _from_scratch(ModelName.parse(source.name)))


def _trained_beside(source: ModelSource, name: str, sha256: object) -> Transformer | None:
    # The model of that name in a folder beside this one's, as family run makes them, or wherever models are found.
    beside = [] if source.folder is None else [str(source.folder.parent / name)]
    for place in (*beside, name):
        try:
            found = find_source(place)
            if sha256 in (None, found.sha256):
                return found.load()
        except CarryLensError:
            continue
    return None


def _from_scratch(name: ModelName) -> Subject | None:
    # The first shipped model of the same operation and shape into which nothing was put.
    shape = ("operation", "digits", "n_layers", "n_heads", "width", "planted")
    for other in map(ModelName.parse, shipped_names()):
        if not other.insertion and all(getattr(other, part) == getattr(name, part) for part in shape):
            return Subject(str(other), find_source(str(other)).load(), other.operation)
    return None
