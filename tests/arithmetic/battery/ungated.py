"""A subject whose every answer passes for right: what experiments measure in untrained weights, past their gate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arithmetic.battery.plants import untrained_subject
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation, Questions


@dataclass(frozen=True, eq=False)
class UngatedSubject(Subject):
    """No question is left out because the model fails on it."""

    def right(self, questions: Questions) -> NDArray[np.bool_]:
        return np.ones(len(questions), dtype=np.bool_)


def ungated_subject(operation: Operation, digits: int = 3) -> Subject:
    plain = untrained_subject(operation, digits)
    return UngatedSubject(plain.name, plain.model, operation)
