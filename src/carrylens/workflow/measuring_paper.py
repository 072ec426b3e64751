"""Measuring for the paper: what its claims need and no experiment has, on the shipped models.

Takes  a file, in which what was measured before may stand; folders of models that do not ship.
Gives  the file with all measurements, written after each, so that the same call goes on where it was stopped, and with
       what the folders say of their models.
Never  measures again what is there of the same weights, form and settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from carrylens.arithmetic.battery.battery_folder import saved_map_of_weights
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.measurements import Measurement, PaperFile, read_paper_file
from carrylens.arithmetic.paper.measures.measure import PaperMeasure
from carrylens.arithmetic.paper.measures.measure_registry import MEASURES
from carrylens.arithmetic.paper.saved_models import ModelRecord
from carrylens.arithmetic.zoo.failure_table import accurate_names
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.files import write_whole
from carrylens.model.source import ModelSource
from carrylens.progress import Progress, silent
from carrylens.workflow.answering_paper import saved_model


def measure_paper(
    file: Path, folders: Sequence[Path] = (), progress: Progress = silent, names: Sequence[str] | None = None
) -> PaperFile:
    """The file with all measurements, those that were not there made now, and with the models of these folders.

    `names` are the models that are measured, or else all accurate ones that ship.
    """
    sources = [find_source(name) for name in (accurate_names()[0] if names is None else names)]
    wanted = [(each, one) for each in MEASURES for one in sources if each.about(ModelName.parse(one.name))]
    was = read_paper_file(file)
    found = [each for each in was.measurements if _is_wanted(each, wanted)]
    models = _with_folders(was.models, folders)
    for at, (measure, source) in enumerate(wanted):
        progress(f"{measure.name} of {source.name}", at, len(wanted))
        if not any(_is_of(each, measure, source) for each in found):
            found.append(_measured(measure, source, progress))
            write_whole(file, PaperFile(tuple(_in_order(found, wanted)), models).to_bytes())
    made = PaperFile(tuple(_in_order(found, wanted)), models)
    write_whole(file, made.to_bytes())
    return made


def _with_folders(known: Sequence[ModelRecord], folders: Sequence[Path]) -> tuple[ModelRecord, ...]:
    # Of the same weights, the folder knows best.
    new = [ModelRecord.of(saved_model(folder)) for folder in folders]
    hashes = {each.sha256 for each in new}
    return (*(each for each in known if each.sha256 not in hashes), *new)


def _is_wanted(each: Measurement, wanted: Sequence[tuple[PaperMeasure, ModelSource]]) -> bool:
    return any(_is_of(each, measure, source) for measure, source in wanted)


def _is_of(each: Measurement, measure: PaperMeasure, source: ModelSource) -> bool:
    made = (each.name, each.model, each.sha256, each.form, each.settings)
    return made == (measure.name, source.name, source.sha256, measure.form, dict(measure.settings))


def _in_order(
    found: Sequence[Measurement], wanted: Sequence[tuple[PaperMeasure, ModelSource]]
) -> Iterator[Measurement]:
    for measure, source in wanted:
        yield from (each for each in found if _is_of(each, measure, source))


def _measured(measure: PaperMeasure, source: ModelSource, progress: Progress) -> Measurement:
    name = ModelName.parse(source.name)
    mapped = None if source.folder is None else saved_map_of_weights(source.folder, source.sha256)
    subject = Subject(source.name, source.load(), name.operation, mapped)
    rates = measure.run(ExperimentContext(subject, BatterySettings.chosen(), progress))
    settings = dict(measure.settings)
    return Measurement(measure.name, source.name, source.sha256, measure.form, settings, tuple(rates))
