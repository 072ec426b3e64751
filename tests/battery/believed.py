"""A model whose every answer is taken for right: what an experiment measures once the gate of right answers is open."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from battery.plants import untrained_subject
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.battery.subject import Subject


class Believed(Subject):
    """A subject that passes for one that answers every question."""

    def right(self, questions: Questions) -> NDArray[np.bool_]:
        return np.ones(len(questions), dtype=np.bool_)


def believed_untrained(operation: Operation, digits: int = 3) -> Believed:
    """Untrained weights, which no experiment refuses for their wrong answers."""
    plain = untrained_subject(operation, digits)
    return Believed(plain.name, plain.model, operation)
