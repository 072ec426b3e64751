"""Testing: how often a model is wrong, from where a test was stopped if it was.

Takes  a model's name, how many questions of each population and class.
Gives  the exam under way.
Never  runs a model itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.zoo.exams import Exam
from carrylens.training.devices import device_called


def start_exam(
    source: str, per_population: int, per_class: int, device: str, threads: int, of: Sequence[str] = ()
) -> Exam:
    """The test of a model."""
    return Exam.start(source, per_population, per_class, device_called(device, threads).type, of)


def start_exhaustive(source: str, device: str, threads: int) -> Exam:
    """The test of a model on every question there is."""
    return Exam.start(source, 0, 0, device_called(device, threads).type, is_exhaustive=True)
