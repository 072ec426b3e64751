"""The timeline of arithmetic: what an algorithm knows at each position of the paper's layout.

Takes  an algorithm and questions.
Gives  what is known when, the U that resolves to 0 or 1 in the paper's algorithm figures included.
Never  works it out: `tasks/timeline.py` does.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.variables import TRI_STATE, U
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Column
from carrylens.tasks.timeline import Timeline
from carrylens.tasks.timeline import first_computable as first_computable_in
from carrylens.tasks.timeline import timeline as task_timeline
from carrylens.tasks.variables import UNKNOWN, Variable


def first_computable(model: Algorithm, variable: Variable) -> int:
    """The first position by which `variable` is settled whatever the question: where its last input arrives.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import ST, SV
    >>> addition = algorithm(Operation.ADD, 6)
    >>> first_computable(addition, ST[5]), first_computable(addition, SV[5])  # at D'5, at D'0
    (7, 12)
    """
    return first_computable_in(model, QuestionLayout(model.digits).layout(), variable)


class ArithmeticTimeline(Timeline):
    """What is known of each variable at each position up to `=`."""

    def state(self, variable: Variable) -> Column:
        """0, 1 or U for a carry, a borrow or a sign: U also where it is not known yet. [batch, position]."""
        if not set(self.model.values_of(variable)) <= set(TRI_STATE):
            raise CarryLensError(f"{variable} is a digit and has no state 0, 1 or U. Write settled({variable}).")
        settled = self.settled(variable)
        return np.where(settled == UNKNOWN, np.int8(U), settled)


def timeline(
    model: Algorithm, questions: Questions, read: Collection[Variable] | None = None, *, half_read: bool = False
) -> ArithmeticTimeline:
    """What `model` knows of every variable, or of those in `read`, at every position up to `=`.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import SV
    >>> known = timeline(algorithm(Operation.ADD, 3), Questions.parse(["555+448"]))
    >>> known.state(SV[2])[0]  # D2 D1 D0 + D'2 D'1 D'0 =: settled when D'0 arrives
    array([2, 2, 2, 2, 2, 2, 1, 1], dtype=int8)
    """
    found = task_timeline(model, QuestionLayout(model.digits).layout(), questions, read, half_read=half_read)
    return ArithmeticTimeline(found.model, found.possible)
