"""Ladders: arithmetic questions in which one carry or borrow travels further and further.

Takes  an arithmetic task.
Gives  for each operation rows of questions, one for each depth, and some questions of every class.
Never  gives a question that the task is not for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.targets import Target, TargetPopulation, is_possible
from carrylens.arithmetic.task import ArithmeticTask
from carrylens.explorer.packed import packed_values

_ROWS, _PER_CLASS, _SEED = 8, 24, 90_003
_TITLES = {False: "Length of the carry cascade", True: "Length of the borrow cascade"}


def class_samples(task: ArithmeticTask) -> Iterator[tuple[str, Questions]]:
    """Questions of every class that there is at this width."""
    letters = {Operation.ADD: "S", Operation.SUB: "MN", Operation.MIX: "SMN"}[task.operation]
    for found in QuestionClass:
        target = Target.of_class(found)
        if found.value[0] in letters and is_possible(target, task.digits):
            drawn = TargetPopulation(target, task.digits).draw(_SEED, 0, _PER_CLASS)
            fits = drawn[task.causal.admits(drawn)]
            if len(fits):
                yield found.value, fits


def ladders(task: ArithmeticTask) -> list[dict[str, Any]]:
    """For each operation some rows of questions; step k of a row has a cascade through k columns."""
    signs = {Operation.ADD: (False,), Operation.SUB: (True,), Operation.MIX: (False, True)}[task.operation]
    found = [(minus, [packed_values(row.values) for row in _rows(task, minus)]) for minus in signs]
    return [
        {"title": _TITLES[minus], "steps": _steps(task.digits, minus), "rows": rows} for minus, rows in found if rows
    ]


def _steps(digits: int, minus: bool) -> int:
    # A borrow that passed every column of D-D' would make the answer negative, and its digits those of D'-D.
    return digits - 1 if minus else digits


def _rows(task: ArithmeticTask, minus: bool) -> Iterator[Questions]:
    random = np.random.default_rng(_SEED)
    for number in range(_ROWS if _steps(task.digits, minus) > 1 else 0):
        row = _row(task.digits, minus, None if number == 0 else random)
        depths = classify(row)
        found = depths.borrow_depth if minus else depths.cascade_depth
        assert found.tolist() == list(range(len(row))), "a ladder climbs one column a step"
        if task.causal.admits(row).all():
            yield row


def _row(digits: int, minus: bool, random: np.random.Generator | None) -> Questions:
    # Column 0 makes the carry or borrow; at step k columns 1 to k pass it on, and those above stop it. Without a
    # generator: the row that ends in 555555+444448.
    def pick(low: int, high: int) -> int:
        return (low + high) // 2 if random is None else int(random.integers(low, high + 1))

    top, steps = [5 if random is None else pick(2, 7) for _ in range(digits)], _steps(digits, minus)
    passing = top if minus else [9 - digit for digit in top]
    stopping = [pick(0, digit - 1) for digit in top] if minus else [pick(0, 8 - digit) for digit in top]
    making = 8 if random is None else pick(top[0] + 1, 9) if minus else pick(10 - top[0], 9)
    second = [[making, *passing[1 : k + 1], *stopping[k + 1 :]] for k in range(steps)]
    return Questions(np.array([top] * steps), np.array(second), np.full(steps, minus))
