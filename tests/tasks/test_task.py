"""Tasks: what holds together, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.fingerprint import fingerprint
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task
from tasks.small_tasks import PARITY, PARITY_LAYOUT, WHEEL, WHEEL_LAYOUT, T, parity_task, wheel_task


@pytest.mark.parametrize("task", [parity_task(), wheel_task()], ids=lambda task: task.name)
def test_sequences_are_questions_with_their_right_outputs(task: Task) -> None:
    batch = task.samplers["all"].draw(0, 0, 30)
    right = task.causal.output_values(batch)
    assert (task.right_outputs(batch) == right).all()
    assert (task.token_ids(batch) == task.layout.encode(batch, right)).all()
    assert (task.output_ids(batch) == task.layout.output_ids(right)).all()
    wrong = np.zeros_like(right)
    assert (task.token_ids(batch, wrong) == task.layout.encode(batch, wrong)).all()
    assert (task.output_ids(batch, wrong) == task.layout.output_ids(wrong)).all()
    assert task.fingerprint == fingerprint(task.causal)
    if task.layout.is_fed_back:
        outputs = task.token_ids(batch)[:, task.layout.n_question :]
        assert task.layout.text(outputs) == task.layout.output_text(task.output_ids(batch))


def test_classes_are_the_tasks_or_one_for_all() -> None:
    batch = population_of(PARITY).draw(0, 0, 30)
    strata = parity_task().classes(batch)
    assert (strata.names, parity_task().class_names) == (("plain", "turned"),) * 2
    assert (strata.code == batch.column(T)).all()
    assert wheel_task().class_names == ("all",)
    assert not wheel_task().classes(population_of(WHEEL).draw(0, 0, 5)).code.any()


def test_conditions_are_the_tasks_or_one_for_all() -> None:
    assert [each.name for each in parity_task().watched] == ["turned"]
    (condition,) = wheel_task().watched
    assert condition.population == population_of(WHEEL)
    assert (condition.given, condition.clustered) == ((), ())


WRONG: dict[str, dict[str, Any]] = {
    "outputs that are others": {"causal": replace(PARITY, outputs=PARITY.outputs[:-1])},
    "outputs in another order": {"causal": replace(PARITY, outputs=PARITY.outputs[::-1])},
    "an input without a place": {
        "layout": replace(PARITY_LAYOUT, slots=tuple(slot for slot in PARITY_LAYOUT.slots if slot.input != T))
    },
    "fed back or not": {"causal": replace(PARITY, fed_back=False)},
    "no sampler": {"samplers": {}},
    "a layout of another task": {"layout": WHEEL_LAYOUT},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_task_that_does_not_hold_together_is_refused(name: str) -> None:
    with pytest.raises(CarryLensError):
        replace(parity_task(), **WRONG[name])


def test_a_fixed_input_needs_no_place() -> None:
    slots = tuple(slot for slot in PARITY_LAYOUT.slots if slot.input != T)
    fixed = replace(PARITY, fixed=((T, 1),))
    task = Task("turned", fixed, replace(PARITY_LAYOUT, slots=slots), {"all": population_of(fixed)})
    batch = task.parse(["010101>"])
    assert batch.column(T).tolist() == [1]
    assert task.question_text(batch) == ["010101>"]
