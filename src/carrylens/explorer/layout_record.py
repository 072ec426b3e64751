"""Layout record: how a question stands as tokens, for a page to encode, decode and name it.

Takes  a task.
Gives  its places, tables from values to token ids, and how people write its questions.
Never  knows a model.
"""

from __future__ import annotations

from typing import Any

from carrylens.arithmetic.task import ArithmeticTask
from carrylens.tasks.layout import Layout, Slot
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Family, Variable


def layout_record(task: Task) -> dict[str, Any]:
    """The layout as plain data; inputs and outputs are named by their place among the causal model's."""
    layout, causal = task.layout, task.causal
    return {
        "name": task.name,
        "vocabulary": list(layout.vocabulary),
        "outputVocabulary": list(layout.output_vocabulary or layout.vocabulary),
        "slots": [_slot(task, at, slot) for at, slot in enumerate(layout.slots)],
        "nQuestion": layout.n_question,
        "fedBack": layout.is_fed_back,
        "readPositions": list(layout.read_positions),
        "outputPlaces": list(layout.output_places),
        "outputIds": [_output_ids(layout, output) for output in causal.outputs],
        "written": _written(task),
    }


def _written(task: Task) -> dict[str, Any] | None:
    # Arithmetic is typed and read as people do, such as 45+7, whatever order its digits stand in.
    if not isinstance(task, ArithmeticTask):
        return None
    signs = {"add": "+", "sub": "-", "mix": "+-"}[task.operation.value]
    outputs = task.causal.outputs
    heights = [task.digits + 1 if output.index is None else output.index for output in outputs]  # the sign on top
    downwards = sorted(range(len(outputs)), key=lambda at: -heights[at])
    return {"digits": task.digits, "signs": signs, "order": downwards}


def _slot(task: Task, at: int, slot: Slot) -> dict[str, Any]:
    layout, inputs = task.layout, task.causal.inputs
    record: dict[str, Any] = {"name": slot.name}
    if slot.input is not None:
        record["input"] = inputs.index(slot.input)
        record["ids"] = _ids(_family(layout, slot.input), layout.vocabulary)
    elif slot.output is not None:
        record["output"] = layout.outputs.index(slot.output)
        record["ids"] = _ids(_family(layout, slot.output), layout.vocabulary)
    else:
        record["token"] = layout.vocabulary.index(str(slot.token))
    if at in layout.read_positions:
        record["reads"] = layout.read_positions.index(at)
    return record


def _output_ids(layout: Layout, output: Variable) -> dict[str, int]:
    return _ids(_family(layout, output), layout.output_vocabulary or layout.vocabulary)


def _ids(family: Family, vocabulary: tuple[str, ...]) -> dict[str, int]:
    return {str(value): vocabulary.index(family.label(value)) for value in family.values}


def _family(layout: Layout, variable: Variable) -> Family:
    return next(family for family in layout.families if family.name == variable.name)
