"""Every rival is a hypothesis that can be aligned: it fits its task, and each target can be moved by some question."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic import Operation
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.aligned.named_algorithms import named_algorithms
from carrylens.arithmetic.hypotheses import aligned_rivals, hypothesis_called, mixture_where, rivals_for, usual_for
from carrylens.arithmetic.layouts import QuestionLayout
from carrylens.arithmetic.task import ArithmeticTask, arithmetic_task
from carrylens.claims.hypothesis import Hypothesis
from carrylens.discovery.alignment.targets import targets_of
from carrylens.errors import CarryLensError
from carrylens.tasks.variables import Variable

ADD, SUB, MIX = Operation.ADD, Operation.SUB, Operation.MIX
RIGHT = {"ripple", "binary", "weighted-sum"}
WITHOUT_ROOM = QuestionLayout(4, sign=False, answer_digits=4)
UNITS_FIRST = QuestionLayout(3, units_first=True)
TASKS = [
    *(arithmetic_task(operation, digits) for operation in Operation for digits in (1, 3)),
    arithmetic_task(ADD, 4, WITHOUT_ROOM),
    arithmetic_task(MIX, 3, UNITS_FIRST),
]


def about(task: ArithmeticTask) -> str:
    return f"{task.name} {'' if task.question_layout.is_standard else 'otherwise'}"


@pytest.mark.parametrize("task", TASKS, ids=about)
def test_every_rival_fits_its_task_and_has_a_name_of_its_own(task: ArithmeticTask) -> None:
    found = [usual_for(task), *aligned_rivals(task)]
    assert len({each.name for each in found}) == len(found)
    for each in found:
        each.check_fits(task)
        assert hypothesis_called(each.name, task) == each
        assert set(each.folded) <= set(each.required)
    assert {each.name for each in rivals_for(task)} <= {each.name for each in found}


@pytest.mark.parametrize("task", [task for task in TASKS if task.digits > 1], ids=about)
def test_rivals_that_must_be_right_are_and_one_layer_ones_are_not(task: ArithmeticTask) -> None:
    questions = task.samplers["enriched"].draw(3, 0, 3000)
    right = task.causal.output_values(questions)
    for each in aligned_rivals(task):
        is_right = bool((each.model.output_values(questions) == right).all())
        assert is_right == any(word in each.name for word in RIGHT), each.name


def moved(stated: Hypothesis, variables: tuple[Variable, ...], task: ArithmeticTask) -> set[Variable]:
    """The outputs that change on some question if the variables take their values from another one."""
    base, source = (task.samplers["enriched"].draw(seed, 0, 3000) for seed in (1, 2))
    values = stated.model.run(source)
    after = stated.model.output_values(base, do={each: values[each] for each in variables})
    changed = (after != stated.model.output_values(base)).any(axis=0)
    return {output for output, has in zip(stated.model.outputs, np.atleast_1d(changed), strict=True) if has}


@pytest.mark.parametrize("task", [task for task in TASKS if task.digits > 1], ids=about)
def test_every_target_moves_what_reads_it(task: ArithmeticTask) -> None:
    for stated in aligned_rivals(task):
        for target in targets_of(stated.model, stated.required, stated.folded):
            if "S9[0]" in map(str, target.variables):
                continue  # nothing lies below the units: what looks through them sees no carry
            assert moved(stated, target.variables, task) & set(target.outputs), f"{target} of {stated.name}"


def test_a_gate_is_sought_at_each_output_only_where_it_can_be_found() -> None:
    task = arithmetic_task(ADD, 3)
    stated = hypothesis_called("left-to-right add but one-layer add where D[2] <= 2", task)
    targets = targets_of(stated.model, stated.required, stated.folded)
    assert [str(each) for each in targets if each.family == "G"] == ["G for A[3]", "G for A[2]", "G for A[1]"]
    agreeing = hypothesis_called("left-to-right add, weighted-sum on 30%", task)
    assert "G" in agreeing.optional
    assert "G" not in agreeing.required


@pytest.mark.parametrize("second", ["weighted-sum add", "one-layer add", "ripple add"])
@pytest.mark.parametrize("predicate", ["D[2] <= 2", "the class is S2", "ST[1] = U and D'[0] > 4"])
def test_any_two_hypotheses_mix_by_any_predicate(second: str, predicate: str) -> None:
    task = arithmetic_task(ADD, 3)
    stated = hypothesis_called(f"left-to-right add but {second} where {predicate}", task)
    other = hypothesis_called(second, task)
    questions = task.samplers["enriched"].draw(3, 0, 3000)
    values = stated.model.run(questions)
    chosen = values[Variable("G")] == 1
    assert 0 < chosen.sum() < len(questions)
    expected = np.where(
        chosen[:, None], other.model.output_values(questions), usual_for(task).model.output_values(questions)
    )
    assert (values.outputs() == expected).all()
    assert "ST" in stated.required


def test_a_mixture_is_known_in_other_layouts() -> None:
    task = arithmetic_task(ADD, 4, WITHOUT_ROOM)
    stated = hypothesis_called("left-to-right add but weighted-sum add where D[2] <= 1", task)
    stated.check_fits(task)
    plain = arithmetic_task(ADD, 4)
    again = mixture_where("D[2] <= 1", usual_for(plain), hypothesis_called("weighted-sum add", plain))
    assert (again.name, again.required) == (stated.name, stated.required)


@pytest.mark.parametrize(
    "name", ["ripple sub", "weighted-sum add where D[0] = 1", "x but y where D[0] = 1", "", "left-to-right add but "]
)
def test_a_name_that_carrylens_does_not_know_is_refused_with_those_that_it_does(name: str) -> None:
    with pytest.raises(CarryLensError, match="weighted-sum add"):
        hypothesis_called(name, arithmetic_task(ADD, 3))


@pytest.mark.parametrize("operation", list(Operation))
def test_what_models_are_trained_to_run_can_be_aligned(operation: Operation) -> None:
    task = arithmetic_task(operation, 3)
    for name, model in named_algorithms(operation, 3).items():
        stated = hypothesis_called(name, task)
        assert stated.model == model
        assert isinstance(stated.model, Algorithm)
        used = {each.name for output in model.outputs for each in model.ancestors(output)} - {"D", "D'", "OPR"}
        assert used - {"G"} <= set(stated.required), name
