"""A user's own hypothesis, from a short Python file.

Takes  a file that defines `hypothesis(task)`, and a task.
Gives  the `Hypothesis` that it states for this task.
Never  runs a file that the user did not name: it is Python, and does what it says.

Files of the first version define `hypothesis(operation, digits)`. They work for tasks that have an operation and a
number of digits.
"""

from __future__ import annotations

import inspect
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from carrylens.claims.claims import claims_of
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError, reason_of
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task

_TRIED = 256  # questions on which every mechanism is run once
_ADVICE = "Define hypothesis(task) there, as docs/own_hypothesis.md shows."


def own_hypothesis(path: Path, task: Task) -> Hypothesis:
    """What the file states for this task, after making sure that its mechanisms run and its claims can be derived."""
    if not path.is_file():
        raise CarryLensError(f"{path} is not a file. Give a Python file that states a hypothesis.")
    try:
        state = runpy.run_path(str(path)).get("hypothesis")
        stated = _stated(path, state, task) if callable(state) else None
        if isinstance(stated, Hypothesis):
            stated.check_fits(task)
            _check_runs(stated.model, task)
            claims_of(stated, task.layout)
    except CarryLensError:
        raise
    except (Exception, SystemExit) as error:  # whatever goes wrong in the user's file is the user's to mend
        raise CarryLensError(f"{path} fails with {type(error).__name__}: {reason_of(error)}. {_ADVICE}") from error
    if not isinstance(stated, Hypothesis):
        raise CarryLensError(f"{path} states no hypothesis. {_ADVICE}")
    return stated


def _stated(path: Path, state: Callable[..., Any], task: Task) -> object:
    if _n_parameters(state) != 2:
        return state(task)
    operation, digits = getattr(task, "operation", None), getattr(task, "digits", None)
    if operation is None or digits is None:
        raise CarryLensError(
            f"{path} defines hypothesis(operation, digits), but {task.name!r} has no operation and digits. {_ADVICE}"
        )
    return state(operation, digits)


def _n_parameters(state: Callable[..., Any]) -> int:
    # How many arguments must be given in order; those with a default need not be.
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    every = inspect.signature(state).parameters.values()
    return sum(each.kind in placed and each.default is inspect.Parameter.empty for each in every)


def _check_runs(model: CausalModel, task: Task) -> None:
    # Every mechanism once, so that one that cannot run, or gives a value its family does not have, fails here.
    for variable, column in model.run(population_of(task.causal).draw(0, 0, _TRIED)).items():
        allowed = model.values_of(variable)
        if strangers := sorted(set(np.unique(column).tolist()) - set(allowed)):
            raise CarryLensError(
                f"{variable} of {model.name!r} is {strangers[0]} in some question, but its family has the values "
                f"{', '.join(map(str, allowed))}. Fix the rule, or declare the value."
            )
