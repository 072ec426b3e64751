"""Causal record: an algorithm as tables, so that a page can run it, and run it under `do`.

Takes  a causal model.
Gives  its variables, who depends on whom, and for every rule a table of what it makes of its parents' values.
Never  states a rule: tables are filled in by the rules themselves, whatever the task is.

A rule's table has an entry for each combination of its parents' values, in the order of `itertools.product`; tables
that are alike are kept once.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from carrylens.errors import CarryLensError
from carrylens.explorer.packed import packed_values
from carrylens.report.kind_styles import kind_class
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.timeline import parent_combinations
from carrylens.tasks.variables import Family

_MOST = 1 << 18  # entries of one table


def causal_record(model: CausalModel) -> dict[str, Any]:
    """The causal model as plain data; variables are named by their place, inputs first."""
    place = {variable: at for at, variable in enumerate(model.variables)}
    tables: dict[str, int] = {}
    mechanisms = [
        [
            place[mechanism.variable],
            [place[parent] for parent in mechanism.parents],
            tables.setdefault(_table(model, mechanism), len(tables)),
        ]
        for mechanism in model.mechanisms
    ]
    families = list(model.family_called)
    return {
        "name": model.name,
        "families": [_family(family) for family in model.families],
        "variables": [[families.index(variable.name), variable.index] for variable in model.variables],
        "values": [list(model.values_of(variable)) for variable in model.variables],
        "nInputs": len(model.inputs),
        "fixed": [[place[variable], value] for variable, value in model.fixed],
        "outputs": [place[output] for output in model.outputs],
        "steering": [model.outputs.index(output) for output in model.steering],
        "mechanisms": mechanisms,
        "tables": list(tables),
    }


def _family(family: Family) -> dict[str, Any]:
    return {
        "name": family.name,
        "title": family.title or family.name,
        "meaning": family.meaning,
        "kind": kind_class(family.kind),
        "labels": {str(value): family.label(value) for value in family.values},
    }


def _table(model: CausalModel, mechanism: Mechanism) -> str:
    size = prod(len(model.values_of(parent)) for parent in mechanism.parents)
    if size > _MOST:
        raise CarryLensError(
            f"{mechanism.variable} of {model.name!r} depends on {size:,} combinations of its parents' values, more "
            f"than a page can hold ({_MOST:,}). State it in smaller steps."
        )
    combinations = parent_combinations(model, mechanism)
    result = np.asarray(mechanism.rule(*combinations.T)).astype(np.int64)
    found = np.broadcast_to(result, (len(combinations),))
    if not np.isin(found, model.values_of(mechanism.variable)).all():
        raise CarryLensError(
            f"The rule of {mechanism.variable} of {model.name!r} gives a value that its family does not have. Add it "
            "to the family's values."
        )
    return packed_values(found)
