"""Exam parts: what a model that adds or subtracts is tested on.

Takes  a task, and how many questions of each population, class, depth and structure to draw.
Gives  the parts of its exam: each operation apart, every population, class, exact depth and structure.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.exam_counts import WrittenCounts, population_counts, single_operations
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.targets import Chain, Target, TargetPopulation, is_possible
from carrylens.arithmetic.task import ArithmeticTask, population, structure_populations
from carrylens.training.exam import EXAM_SEED, ExamPart


def exam_parts(
    task: ArithmeticTask,
    per_population: int,
    per_class: int,
    seed: int = EXAM_SEED,
    of: WrittenCounts = MappingProxyType({}),
) -> list[ExamPart]:
    """For each operation every population with `per_population` questions, the rest with `per_class` of each.

    `of` says where a population, or one operation's, has another count; with none of the structured population its
    structures are left out, too. A layout whose answers have no room for every sum has no classes or depths: their
    questions do not all fit.
    """
    parts, counts = [], population_counts(task.operation, per_population, of)
    for each in single_operations(task.operation):
        parts += [
            ExamPart(kind.value, population(kind, each, task.question_layout), counts[kind, each], each.value, seed)
            for kind in PopulationKind
        ]
        parts += [
            ExamPart(name, TargetPopulation(target, task.digits), per_class, each.value, seed)
            for name, target in _targets(each, task)
            if is_possible(target, task.digits)
        ]
        if counts[PopulationKind.STRUCTURED, each]:
            parts += [
                ExamPart(name, drawn, per_class, each.value, seed)
                for name, drawn in structure_populations(each, task.question_layout).items()
            ]
    return [part for part in parts if part.count]


def _targets(operation: Operation, task: ArithmeticTask) -> Iterator[tuple[str, Target]]:
    is_add = operation is Operation.ADD
    if is_add and task.question_layout.n_answer_digits == task.digits:
        return
    for found in QuestionClass:
        if found.value[0] in ("S" if is_add else "MN"):
            yield f"class {found.value}", Target.of_class(found)
    for depth in range(task.digits):
        if is_add:
            yield f"cascade depth {depth}", Target.of_depth(Chain.CASCADE, depth)
        else:
            yield f"sign depth {depth}", Target.of_depth(Chain.SIGN, depth)
            yield f"borrow depth {depth}, positive", Target.of_depth(Chain.BORROW, depth)
            yield f"borrow depth {depth}, negative", Target.of_depth(Chain.BORROW, depth, negative=True)
