"""Planting: the circuit that the command line's dials describe, and how often its model errs.

Takes  an operation, a number of digits, dials.
Gives  the circuit description, and the results of testing its model.
Never  plants: `arithmetic/planted/` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrylens.arithmetic.exam_parts import exam_parts
from carrylens.arithmetic.planted import description
from carrylens.arithmetic.planted import dials as dial
from carrylens.arithmetic.planted.hostile import Hostile, Memorised
from carrylens.arithmetic.planted.planting import Planted
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.errors import CarryLensError
from carrylens.files import read_whole
from carrylens.training.exam import blank_results, sit
from carrylens.training.exam_results import PartResult
from carrylens.workflow.choices import choice


def describe_plant(
    operation: str, digits: int, method: str, dials: Mapping[str, Any], hostile: Mapping[str, Any]
) -> description.CircuitDescription:
    """The circuit description that the command line's dials ask for."""
    chosen = dict(dials)
    looked_up = choice(Memorised, hostile["memorised"], "--memorised")
    chosen["hostile"] = Hostile(**dict(hostile) | {"memorised": looked_up})
    for name, kind in (("copies", dial.Copies), ("timing", dial.Timing), ("carry", dial.Carry)):
        chosen[name] = choice(kind, chosen[name], f"--{name}")
    wanted, how = choice(Operation, operation, "OPERATION"), choice(description.Method, method, "--method")
    settings = dial.Dials(**chosen)
    if how is description.Method.LEFT_TO_RIGHT:
        return dial.describe(wanted, digits, settings)
    if how is description.Method.RIGHT_TO_LEFT:
        return dial.right_to_left(wanted, digits)
    if wanted is not Operation.ADD:
        raise CarryLensError(f"A {how.value} plant can only add, not {wanted.value}. Write carrylens plant add.")
    return (dial.one_layer if how is description.Method.ONE_LAYER else dial.place_value)(digits, settings)


def read_description(path: Path) -> description.CircuitDescription:
    """The circuit description in a file."""
    text = read_whole(path, "Give a description's file.")
    return description.CircuitDescription.from_json(text, source=str(path))


def plant_exam(planted: Planted, n_questions: int) -> list[PartResult]:
    """So many enriched questions of each operation, and a hundredth of that of every class and depth."""
    stated = planted.truth.description
    task = arithmetic_task(stated.operation, stated.digits)
    parts = exam_parts(task, n_questions, max(1, n_questions // 100))
    parts = [part for part in parts if part.name not in ("natural", "paper")]
    results = blank_results(parts)
    for _ in sit(planted.model, task, parts, results):
        pass
    return results
