"""Exams: a model's test that can be stopped, gone on with, and saved beside the model.

Takes  a model's name and how many questions to evaluate it on.
Gives  the results, the model card that shows them, and a place to go on from.
Never  mixes results of two models or two exams: what is kept carries the hash of both.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from carrylens.arithmetic.exam_counts import named_counts, parse_counts
from carrylens.arithmetic.exam_parts import every_parts, exam_parts
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.cards import card_of
from carrylens.arithmetic.zoo.exam_record import EXHAUSTIVE, TEST, ExamPartRecord, ExamRecord, meets_bar
from carrylens.arithmetic.zoo.model_facts import CARD, saved_test, training_run
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.errors import CarryLensError
from carrylens.files import cache_home, make_folder, read_whole, write_whole
from carrylens.folders import MANIFEST, add_sealed, check_sealed
from carrylens.json_records import Schema, to_plain, to_text
from carrylens.model.source import ModelSource
from carrylens.model.transformer import Transformer
from carrylens.tasks.task import Task
from carrylens.training.exam import EXAM_SEED, ExamPart, blank_results, population_parts, sit
from carrylens.training.exam_results import MOST_KEPT, PartResult


class KeptExam(msgspec.Struct, frozen=True):
    """A test that was stopped: its results so far, and their hash, by which damage is seen."""

    results: list[PartResult]
    sha256: str

    @classmethod
    def of(cls, results: Sequence[PartResult]) -> KeptExam:
        """What is kept of these results."""
        return cls(list(results), _hash(results))

    def check_fits(self, parts: Sequence[ExamPart]) -> None:
        """Raise an error that says why, unless these can be results of a test with these parts."""
        if self.sha256 != _hash(self.results):
            raise CarryLensError("its results are not those that were kept")
        if [(each.name, each.label) for each in self.results] != [(part.name, part.label) for part in parts]:
            raise CarryLensError("it has other populations or classes")
        for each, part in zip(self.results, parts, strict=True):
            shown = min(each.failed, MOST_KEPT)
            if not each.failed <= each.asked <= part.count or len(each.failures) != shown:
                raise CarryLensError(
                    f"{each.failed} failures, {len(each.failures)} of them shown, in {each.asked} of {part.count} "
                    "questions are impossible"
                )


_KEPT_SCHEMA = Schema(KeptExam, "kept test", "The test starts anew.")


def _hash(results: Sequence[PartResult]) -> str:
    return hashlib.sha256(to_text(results).encode()).hexdigest()


def _parts_of(
    task: Task, per_population: int, per_class: int, of: Sequence[str], is_exhaustive: bool
) -> list[ExamPart]:
    # Classes, depths and structures are those of arithmetic; another task has its populations.
    if isinstance(task, ArithmeticTask):
        given = parse_counts(of)
        return every_parts(task) if is_exhaustive else exam_parts(task, per_population, per_class, of=given)
    if is_exhaustive:
        raise CarryLensError(f"The questions of {task.name!r} cannot all be listed. Leave out --exhaustive.")
    counts = dict.fromkeys(task.samplers, per_population) | named_counts(of, tuple(task.samplers))
    return [replace(part, count=counts[part.name]) for part in population_parts(task, 1) if counts[part.name]]


@dataclass
class Exam:
    """One model's test under way."""

    source: ModelSource
    task: Task
    model: Transformer
    model_hash: str
    parts: list[ExamPart]
    results: list[PartResult]
    note: str | None = None
    """What a person is to be told before the test goes on."""
    is_exhaustive: bool = False
    """Whether it is on every question there is."""

    @classmethod
    def start(
        cls,
        source: str | ModelSource,
        per_population: int,
        per_class: int,
        device: str,
        of: Sequence[str] = (),
        *,
        is_exhaustive: bool = False,
    ) -> Exam:
        """The test of the model called `source`, from where it was stopped if it was; `of` is as for `--of`.

        One that `is_exhaustive` is on every question there is, whatever the counts.
        """
        found = find_source(source) if isinstance(source, str) else source
        task = found.task
        parts = _parts_of(task, per_population, per_class, of, is_exhaustive)
        if not parts:
            raise CarryLensError("The test would have no questions. Write --questions or --per-class of 1 or more.")
        exam = cls(found, task, found.load(device), found.sha256, parts, blank_results(parts))
        exam.is_exhaustive = is_exhaustive
        exam._take_up()
        return exam

    @property
    def total(self) -> int:
        """How many questions there are in all."""
        return sum(part.count for part in self.parts)

    @property
    def asked(self) -> int:
        """How many it was evaluated on so far."""
        return sum(result.asked for result in self.results)

    @property
    def done(self) -> bool:
        """Whether it was evaluated on all."""
        return self.asked >= self.total

    def sit(self) -> Iterator[int]:
        """Go on; how many more questions were evaluated, after each chunk."""
        before = self.asked
        for _ in sit(self.model, self.task, self.parts, self.results):
            yield self.asked - before
            before = self.asked

    def record(self) -> dict[str, Any]:
        """The results as plain data."""
        record = ExamRecord(
            model=self.source.name,
            sha256=self.model_hash,
            seed=EXAM_SEED,
            meets_bar=meets_bar(self.results),
            most_failures_kept=MOST_KEPT,
            parts=[ExamPartRecord.of(result) for result in self.results],
        )
        plain: dict[str, Any] = to_plain(record)
        return plain

    def keep(self) -> None:
        """Keep the counts so far, for the next call to go on from."""
        make_folder(self._kept.parent, "Set XDG_CACHE_HOME to a folder that can be written.")
        write_whole(self._kept, to_text(KeptExam.of(self.results)).encode())

    def forget(self) -> None:
        """Drop what was kept."""
        with suppress(OSError):  # where nothing could be kept, nothing is there
            self._kept.unlink(missing_ok=True)

    def folder_to_save(self) -> Path:
        """The folder that `save` writes into, or a clear error if it cannot.

        Where the model was not saved by carrylens, that is the folder of what else is found out about it.
        """
        own = self.source.folder
        folder = own if own is not None and (own / MANIFEST).exists() else self.source.analysis_folder(None)
        make_folder(folder)
        if (folder / MANIFEST).exists():
            check_sealed(folder)
        if not os.access(folder, os.W_OK):
            raise CarryLensError(f"{folder} cannot be written, so no test can be saved in it. Leave --save out.")
        return folder

    def save(self, figures: dict[str, Any] | None = None) -> Path:
        """Write the test, or these figures, into a folder, beside the model if it is ours, with its card; seal it."""
        folder, record = self.folder_to_save(), self.record() if figures is None else figures
        file = EXHAUSTIVE if self.is_exhaustive else TEST
        contents = {file: (to_text(record, indent=1) + "\n").encode()}
        test, every = (saved_test(folder), record) if self.is_exhaustive else (record, None)
        is_aligned = "aligned" in training_run(folder)  # its card says how well it runs what it was trained to run
        if folder == self.source.folder and not is_aligned and test is not None and test["sha256"] == self.model_hash:
            contents[CARD] = card_of(self.source, folder, test, every).encode()
        add_sealed(folder, contents)
        return folder / file

    @property
    def _kept(self) -> Path:
        home = cache_home()
        asked = to_text([self.model_hash, EXAM_SEED, [[part.name, part.label, part.count] for part in self.parts]])
        return home / "carrylens" / "exams" / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.json"

    def _take_up(self) -> None:
        if not self._kept.exists():
            return
        try:
            kept = _KEPT_SCHEMA.decode(read_whole(self._kept), str(self._kept))
            with _KEPT_SCHEMA.refusing(str(self._kept)):
                kept.check_fits(self.parts)
            self.results = kept.results
        except CarryLensError as error:
            aside = self._kept.with_suffix(".damaged")
            with suppress(OSError):
                self._kept.replace(aside)
            self.note = f"{error} It was set aside as {aside.name}."
