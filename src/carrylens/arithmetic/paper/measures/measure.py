"""Measure: one thing that is measured about some models, and how.

Takes  nothing.
Gives  `PaperMeasure`, the one shape that the registry knows.
Never  runs one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.paper.measurements import LabelledRate

Rates = Sequence[LabelledRate]


@dataclass(frozen=True)
class PaperMeasure:
    """`about` says which models it is of, `run` measures one; `settings` are kept beside what it gives."""

    name: str
    about: Callable[[ModelName], bool]
    run: Callable[[ExperimentContext], Rates]
    settings: Mapping[str, int]
    form: int = 1
