"""Testing: how often a model is wrong, from where a test was stopped if it was.

Takes  a model, how many questions of each population and class.
Gives  the exam under way; what it found, or the saved test that answers the same; the place where that is kept.
Never  loses counts when it is stopped, and never lets a small test take the place of a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from carrylens.arithmetic.zoo.exam_record import TEST, meets_bar
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.model_facts import saved_test
from carrylens.errors import CarryLensError
from carrylens.folders import add_sealed
from carrylens.json_records import to_text
from carrylens.model.source import ModelSource
from carrylens.progress import Progress
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


KEEP_SECONDS = 30.0
"""How often the counts of a test under way are kept."""


@dataclass(frozen=True)
class TestResult:
    """The figures of a test, the file they are in, and what a person is to be told.

    `is_known` says that a saved test answered it; `not_saved` is why the file could not be written.
    """

    __test__ = False  # no test of pytest's

    figures: ExamFigures
    path: Path | None = None
    is_known: bool = False
    notes: tuple[str, ...] = ()
    not_saved: CarryLensError | None = None


def take_test(exam: Exam, progress: Progress, *, keep: bool, own: bool, restart: bool) -> TestResult:
    """Evaluate the model, or take a saved test on as many questions; `own` is whether to save beside the model."""
    noted: tuple[str, ...] = () if exam.note is None else (exam.note,)
    if not (own or restart or exam.is_exhaustive) and (known := known_test(exam)):
        return TestResult(known[1], known[0], True, noted)
    if own:
        exam.folder_to_save()  # before hours of questions, not after
    try:
        noted += _sit_kept(exam, progress)
    except BaseException as stop:  # there is no result that could tell
        for note in noted:
            stop.add_note(note)
        raise
    path, not_saved = _saved(exam, own=own) if own or (keep and not exam.is_exhaustive) else (None, None)
    if not_saved is None:
        exam.forget()
    return TestResult(exam.record(), path, False, noted, not_saved)


def _sit_kept(exam: Exam, progress: Progress) -> tuple[str, ...]:
    # Counts are kept on a timer, and when whoever watches the progress stops the work.
    kept_at, notes = monotonic(), tuple[str, ...]()
    for _ in exam.sit():
        try:
            progress("testing", exam.asked, exam.total)
        except BaseException:
            exam.keep()
            raise
        if not notes and monotonic() - kept_at >= KEEP_SECONDS:
            try:
                exam.keep()
            except CarryLensError as error:  # no reason to stop
                notes = (f"The counts so far cannot be kept. {error}",)
            kept_at = monotonic()
    return notes


def _saved(exam: Exam, *, own: bool) -> tuple[Path | None, CarryLensError | None]:
    # What went wrong is given back, so that the results can be shown first.
    again = ""
    with suppress(CarryLensError):
        exam.keep()
        again = " The results are kept: the same command tries to save them again, without a new test."
    try:
        return exam.save(_with_saved(exam)) if own else keep_test(exam), None
    except CarryLensError as error:
        return None, CarryLensError(f"{error}{again}")


def keep_test(exam: Exam) -> Path:
    """Where the result was written: into the folder of the model's analyses, with all that was saved before."""
    folder = exam.source.analysis_folder(None)
    record = _with_saved(exam)
    if exam.source.folder is not None and folder.resolve() == exam.source.folder.resolve():
        return exam.save(record)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made ({error.strerror}). Write --no-save.") from error
    add_sealed(folder, {TEST: (to_text(record, indent=1) + "\n").encode()})
    return folder / TEST


def _with_saved(exam: Exam) -> ExamFigures:
    # With what was saved before: an exhaustive test stands by itself.
    record = exam.record()
    for _, known in () if exam.is_exhaustive else _saved_tests(exam):
        record = _merged(record, known)
    return record


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
