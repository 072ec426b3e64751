"""The exam: how often a model is wrong, on as many questions as are wanted, none of them picked by hand.

Takes  a model, its task, and populations with how many questions to draw from each.
Gives  for every part: how many questions were run and how many failed, an exact interval, and the failures.
Never  stops early, and never draws its questions with a training run's seed: it has its own.

A question fails if any of its outputs is wrong. Parts are run in chunks, so that an exam can stop and go on. Every part
draws its population from the beginning and in order, so a part of 400 and later of 600 more questions is the part of
1,000 at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.model.answer_pass import many_answer_logits
from carrylens.model.decoding import likeliest_of
from carrylens.model.transformer import Transformer
from carrylens.tasks.batches import Batch
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.training.batches import encode_examples
from carrylens.training.exam_results import ALL, MOST_KEPT, PartResult
from carrylens.training.losses import answered_right, output_logits

EXAM_SEED = 20_240_229
CHUNK = 1 << 14


@dataclass(frozen=True)
class ExamPart:
    """Questions of one population, and how many of them are drawn; `label` says of which sort the part is."""

    name: str
    population: Sampler
    count: int
    label: str = ALL
    seed: int = EXAM_SEED


def population_parts(task: Task, count: int, seed: int = EXAM_SEED) -> list[ExamPart]:
    """So many questions of each of the task's populations."""
    return [ExamPart(name, population, count, seed=seed) for name, population in task.samplers.items()]


def blank_results(parts: Sequence[ExamPart]) -> list[PartResult]:
    """Results of an exam that has not begun."""
    return [PartResult(part.name, part.label) for part in parts]


def sit(
    model: Transformer,
    task: Task,
    parts: Sequence[ExamPart],
    results: list[PartResult],
    watch: Callable[[int], None] | None = None,
) -> Iterator[list[PartResult]]:
    """Evaluate every part from where `results` stands, which are brought up to date; the results after each chunk."""
    for place, part in enumerate(parts):
        while (asked := results[place].asked) < part.count:
            count = min(CHUNK, part.count - asked)
            answered = _ask(model, task, part.population.draw(part.seed, asked, count))
            results[place] = answered.added_to(results[place], np.arange(count))
            if watch is not None:
                watch(count)
            yield results


def class_results(
    model: Transformer, task: Task, population: Sampler, count: int, seed: int = EXAM_SEED
) -> Mapping[str, PartResult]:
    """So many questions of one population, counted by the task's question classes; classes without any are left out."""
    found: dict[str, PartResult] = {}
    names: tuple[str, ...] = ()
    for start in range(0, count, CHUNK):
        questions = population.draw(seed, start, min(CHUNK, count - start))
        answered, classes = _ask(model, task, questions), task.classes(questions)
        names = classes.names
        for code in np.unique(classes.code).tolist():
            name = names[code]
            before = found.get(name, PartResult(name, ALL))
            found[name] = answered.added_to(before, np.flatnonzero(classes.code == code))
    return {name: found[name] for name in names if name in found}


@dataclass(frozen=True, eq=False)
class _Answered:
    task: Task
    questions: Batch
    wanted: NDArray[np.int64]  # [batch, output]
    given: NDArray[np.int64]
    wrong: NDArray[np.bool_]  # [batch]

    def added_to(self, result: PartResult, rows: NDArray[np.intp]) -> PartResult:
        failed = rows[self.wrong[rows]]
        shown = self._texts(failed[: MOST_KEPT - len(result.failures)])
        return PartResult(
            result.name,
            result.label,
            result.asked + len(rows),
            result.failed + len(failed),
            [*result.failures, *shown],
        )

    def _texts(self, rows: NDArray[np.intp]) -> list[list[str]]:
        if not len(rows):
            return []
        layout = self.task.layout
        texts = self.task.question_text(self.questions[rows])
        right, given = layout.output_text(self.wanted[rows]), layout.output_text(self.given[rows])
        return [list(each) for each in zip(texts, right, given, strict=True)]


def _ask(model: Transformer, task: Task, questions: Batch) -> _Answered:
    examples = encode_examples(task, questions).to(model.unembed.W_U.device)
    logits = output_logits(many_answer_logits(model, examples.tokens), task.layout)
    wrong = ~answered_right(logits, examples.wanted).all(1)
    wanted, given = examples.wanted.cpu().numpy(), likeliest_of(logits).cpu().numpy()
    return _Answered(task, questions, wanted, given, wrong.cpu().numpy())
