"""Interventions: what a model answers when something inside it is replaced.

Takes  a model, questions, and edits: values that say what is replaced by what.
Gives  for every row, one edit on one question, the answer, its correctness and its margins.
Never  says what an answer means.

Where to look, in the order of a call:
- `sites.py` names places, `edits.py` has the edits, `checks.py` refuses those a model cannot serve;
- `engine.py` runs them: `sequences.py` finds the distinct sequences, `parts.py` and `clean.py` run them unedited,
  `plan.py` lays each edit out by layer, `edited_pass.py` runs it with what `fills.py` puts in place;
- `records.py` notes each row and makes `outcomes.py` of them; `keys.py`, `store.py` and `stored_rows.py` keep
  rows on disk.
"""

from carrylens.interventions.edits import (
    Edit,
    Fill,
    Norm,
    ablate,
    add_direction,
    edge,
    interchange,
    interpolate,
    keep_only,
    patch_difference,
    project,
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
    "interchange",
    "interpolate",
    "keep_only",
    "parse_sites",
    "patch_difference",
    "project",
]
