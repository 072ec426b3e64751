"""Exams: a model's test that can be stopped, gone on with, and saved beside the model.

Takes  a model's name and how many questions to evaluate it on.
Gives  the results, the model card that shows them, and a place to go on from.
Never  mixes results of two models or two exams: what is kept carries the hash of both.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from carrylens.arithmetic.exam_counts import parse_counts
from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.arithmetic.zoo.cards import card_of
from carrylens.arithmetic.zoo.model_facts import CARD, HISTORY, TEST, TRUTH
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.errors import CarryLensError
from carrylens.files import write_whole
from carrylens.folders import CONFIG, MANIFEST, WEIGHTS, check_sealed, write_sealed
from carrylens.model.source import ModelSource
from carrylens.model.transformer import Transformer
from carrylens.training.exam import EXAM_SEED, MOST_KEPT, ExamPart, PartResult, blank_results, sit

BAR_PER_MILLION = 10
BAR_POPULATIONS = ("natural", "enriched")


@dataclass
class Exam:
    """One model's test under way."""

    source: ModelSource
    task: ArithmeticTask
    model: Transformer
    model_hash: str
    parts: list[ExamPart]
    results: list[PartResult]

    @classmethod
    def start(cls, source: str, per_population: int, per_class: int, device: str, of: Sequence[str] = ()) -> Exam:
        """The test of the model called `source`, from where it was stopped if it was; `of` is as for `--of`."""
        given, found = parse_counts(of), find_source(source)
        model, task = found.load(device), found.task
        if not isinstance(task, ArithmeticTask):
            raise CarryLensError(f"{source!r} is for {task.name!r}, which has no test here. Give a model that adds.")
        parts = exam_parts(task, per_population, per_class, of=given)
        if not parts:
            raise CarryLensError("A test of no questions tells nothing. Write --questions or --per-class of 1 or more.")
        exam = cls(found, task, model, found.sha256, parts, blank_results(parts))
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
        return {
            "model": self.source.name,
            "sha256": self.model_hash,
            "seed": EXAM_SEED,
            "meets_bar": meets_bar(self.results),
            "most_failures_kept": MOST_KEPT,
            "parts": [result.record() for result in self.results],
        }

    def keep(self) -> None:
        """Keep the counts so far, for the next call to go on from."""
        try:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CarryLensError(
                f"{self._kept.parent} cannot be made: {reason}. Set XDG_CACHE_HOME to a folder that can be written."
            ) from error
        write_whole(self._kept, msgspec.json.encode(self.results))

    def forget(self) -> None:
        """Drop what was kept."""
        self._kept.unlink(missing_ok=True)

    def folder_to_save(self) -> Path:
        """The folder that `save` writes into, or a clear error if it cannot."""
        folder = self.source.folder
        if folder is None:
            raise CarryLensError(
                f"{self.source.given} is no folder here, so no test can be saved in it. Leave --save out."
            )
        if not (folder / MANIFEST).exists():
            raise CarryLensError(
                f"{folder} was not saved by carrylens, so no test can be saved in it. Leave --save out."
            )
        check_sealed(folder)
        if not os.access(folder, os.W_OK):
            raise CarryLensError(f"{folder} cannot be written, so no test can be saved in it. Leave --save out.")
        return folder

    def save(self) -> Path:
        """Write the test and the model card into the model's folder, and seal it again."""
        folder, record = self.folder_to_save(), self.record()
        contents = {
            TEST: (json.dumps(record, indent=1) + "\n").encode(),
            CARD: card_of(self.source, folder, record).encode(),
        }
        own = [name for name in (CONFIG, WEIGHTS, HISTORY, TRUTH) if (folder / name).exists()]
        others = [name for name in check_sealed(folder) if name not in contents]  # such as a map
        write_sealed(folder, contents, also=list(dict.fromkeys((*own, *others))))
        return folder / TEST

    @property
    def _kept(self) -> Path:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        asked = json.dumps([self.model_hash, EXAM_SEED, [[part.name, part.label, part.count] for part in self.parts]])
        return home / "carrylens" / "exams" / f"{hashlib.sha256(asked.encode()).hexdigest()[:32]}.json"

    def _take_up(self) -> None:
        if self._kept.exists():
            try:
                self.results = msgspec.json.decode(self._kept.read_bytes(), type=list[PartResult])
            except (OSError, msgspec.MsgspecError):
                self.results = blank_results(self.parts)


def meets_bar(results: list[PartResult]) -> bool | None:
    """Fewer than 10 failures per million, natural and enriched, for each operation.

    With fewer than a million of either, None, unless the exact interval lies all below the bar or all above.
    """
    verdicts = [_meets_bar(result) for result in results if result.name in BAR_POPULATIONS]
    if False in verdicts:
        return False
    return None if None in verdicts or not verdicts else True


def _meets_bar(result: PartResult) -> bool | None:
    if result.asked >= 1_000_000:
        return result.failed * 1_000_000 < BAR_PER_MILLION * result.asked
    low, high = (end * 1_000_000 for end in result.interval())
    return True if high < BAR_PER_MILLION else False if low > BAR_PER_MILLION else None
