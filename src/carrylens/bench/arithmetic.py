"""The arithmetic benchmark: all sub-tasks, answers and classes of many questions, against plain Python integers.

Takes  a number of questions and of digits.
Gives  seconds for ours, seconds for the plain route on a part of them, and whether the answers agree.
Never  times the drawing of the questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.classes import classify
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation

_PLAIN_SHARE = 50  # the plain route is slow: it answers one question in this many


@dataclass(frozen=True)
class ArithmeticBench:
    """What one run measured."""

    digits: int
    n_questions: int
    n_variables: int
    subtask_seconds: float
    class_seconds: float
    n_plain: int
    plain_seconds: float
    agrees: bool

    @property
    def ratio(self) -> float:
        """How many times more answers a second ours gives, all sub-tasks included, than plain Python integers."""
        return (self.plain_seconds / self.n_plain) / (self.subtask_seconds / self.n_questions)


def bench_arithmetic(n_questions: int, digits: int, seed: int) -> ArithmeticBench:
    """Time every sub-task and class of `n_questions` mixed enriched questions."""
    questions = Population(PopulationKind.ENRICHED, Operation.MIX, digits).draw(seed, 0, n_questions)
    started = perf_counter()
    values = subtasks(questions)
    computed = perf_counter()
    classify(questions)
    classified = perf_counter()
    some = questions[: max(1, n_questions // _PLAIN_SHARE)]
    texts = some.text()
    restarted = perf_counter()
    plain = [plain_answer(text, digits) for text in texts]
    ended = perf_counter()
    return ArithmeticBench(
        digits=digits,
        n_questions=n_questions,
        n_variables=len(values),
        subtask_seconds=computed - started,
        class_seconds=classified - computed,
        n_plain=len(some),
        plain_seconds=ended - restarted,
        agrees=plain == Answers.of_outputs(values.outputs()).text()[: len(some)],
    )


def plain_answer(text: str, digits: int) -> str:
    """The answer by Python's own whole numbers, written as a model's is."""
    first, second = int(text[:digits]), int(text[digits + 1 : -1])
    value = first + second if text[digits] == "+" else first - second
    return f"{'-' if value < 0 else '+'}{abs(value):0{digits + 1}d}"
