"""Testing: how often a model is wrong, from where a test was stopped if it was.

Takes  a model, how many questions of each population and class.
Gives  the exam under way; the saved test that answers the same; the place where a result is kept.
Never  runs a model itself, and never lets a small test take the place of a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carrylens.arithmetic.zoo.exam_record import TEST, meets_bar
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.model_facts import saved_test
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed
from carrylens.json_records import to_text
from carrylens.model.source import ModelSource
from carrylens.training.devices import device_called
from carrylens.training.exam_results import PartResult

ExamFigures = dict[str, Any]
"""A test as `test.json` has it."""


def start_exam(
    source: str | ModelSource, per_population: int, per_class: int, device: str, threads: int, of: Sequence[str] = ()
) -> Exam:
    """The test of a model."""
    return Exam.start(source, per_population, per_class, device_called(device, threads).type, of)


def start_exhaustive(source: str | ModelSource, device: str, threads: int) -> Exam:
    """The test of a model on every question there is."""
    return Exam.start(source, 0, 0, device_called(device, threads).type, is_exhaustive=True)


def known_test(exam: Exam) -> tuple[Path, ExamFigures] | None:
    """A saved test of these weights on all the questions of this one or more, and where it is."""
    for place, known in _saved_tests(exam):
        asked = {(part["name"], part["operation"]): part["asked"] for part in known["parts"]}
        if all(asked.get((part.name, part.label), 0) >= part.count for part in exam.parts):
            return place / TEST, known
    return None


def keep_test(exam: Exam) -> Path:
    """Where the result was written: into the folder of the model's analyses, with all that was saved before."""
    folder = exam.source.analysis_folder(None)
    record = exam.record()
    for _, known in _saved_tests(exam):
        record = _merged(record, known)
    if exam.source.folder is not None and folder.resolve() == exam.source.folder.resolve():
        return exam.save(record)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made ({error.strerror}). Write --no-save.") from error
    add_sealed(folder, {TEST: (to_text(record, indent=1) + "\n").encode()})
    return folder / TEST


def _saved_tests(exam: Exam) -> list[tuple[Path, ExamFigures]]:
    found = []
    for place in exam.source.analysis_places(None):
        try:
            known = saved_test(place)
        except CarryLensError:  # one that cannot be believed is made again
            continue
        if known is not None and known["sha256"] == exam.model_hash and known["seed"] == exam.record()["seed"]:
            found.append((place, known))
    return found


def _merged(one: ExamFigures, other: ExamFigures) -> ExamFigures:
    # Of each part the larger test: with one seed it has all the questions of the smaller one.
    parts = {(part["name"], part["operation"]): part for part in other["parts"]}
    for part in one["parts"]:
        key = (part["name"], part["operation"])
        if key not in parts or parts[key]["asked"] <= part["asked"]:
            parts[key] = part
    results = [PartResult(part["name"], part["operation"], part["asked"], part["failed"]) for part in parts.values()]
    return {**one, "parts": list(parts.values()), "meets_bar": meets_bar(results)}
