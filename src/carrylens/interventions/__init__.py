"""Interventions: what a model answers when something inside it is replaced.

Takes  a model, questions, and edits: values that say what is replaced by what.
Gives  for every row, one edit on one question, the answer, its correctness and its margins.
Never  says what an answer means.

`edits.py` has the edits, `engine.py` runs them.
"""

from carrylens.interventions.edits import (
    Edit,
    Fill,
    Norm,
    ablate,
    add_direction,
    edge,
    interpolate,
    keep_only,
    project,
    swap,
)
from carrylens.interventions.engine import Engine
from carrylens.interventions.outcomes import Outcomes
from carrylens.interventions.sites import Receiver, Residual, parse_sites

__all__ = [
    "Edit",
    "Engine",
    "Fill",
    "Norm",
    "Outcomes",
    "Receiver",
    "Residual",
    "ablate",
    "add_direction",
    "edge",
    "interpolate",
    "keep_only",
    "parse_sites",
    "project",
    "swap",
]
