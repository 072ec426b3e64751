"""Causal models of any task: run row by row, under `do`, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Family, Variable
from tasks.small_tasks import (
    BIT,
    OUT,
    PARITY,
    RUN,
    SIGN,
    WHEEL,
    B,
    D,
    K,
    M,
    O,
    R,
    S,
    T,
    V,
    W,
    every_question,
    slow_values,
)

MODELS = [PARITY, WHEEL]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_variable_is_what_going_row_by_row_gives(model: CausalModel) -> None:
    batch = population_of(model).draw(0, 0, 60)
    found = model.run(batch)
    for at in range(len(batch)):
        assert {each: int(found[each][at]) for each in model.variables} == slow_values(model, batch[at], {})


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_forced_variables_are_what_going_row_by_row_gives(model: CausalModel) -> None:
    random, batch = np.random.default_rng(1), population_of(model).draw(1, 0, 40)
    for _ in range(20):
        named = [model.variables[at] for at in random.choice(len(model.variables), 3, replace=False)]
        do = {each: random.choice(model.values_of(each), len(batch)) for each in named}
        found = model.run(batch, do)
        for at in range(len(batch)):
            forced = {each: int(values[at]) for each, values in do.items()}
            assert {each: int(found[each][at]) for each in model.variables} == slow_values(model, batch[at], forced)
        assert (model.output_values(batch, do) == found.outputs()).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_run_that_goes_on_from_another_is_what_a_whole_run_gives(model: CausalModel) -> None:
    random, batch = np.random.default_rng(2), population_of(model).draw(2, 0, 40)
    for read in (model.variables, model.outputs[:1]):
        before = model.run(batch, read=read)
        kept = {each: before[each].copy() for each in before}
        for _ in range(20):
            named = [model.variables[at] for at in random.choice(len(model.variables), 2, replace=False)]
            do = {each: random.choice(model.values_of(each), len(batch)) for each in named}
            again, whole = model.run_again(before, do, model.outputs), model.run(batch, do)
            assert all((again[each] == whole[each]).all() for each in (*model.outputs, *named))
        assert all((before[each] == kept[each]).all() for each in kept)


def test_a_run_that_goes_on_runs_only_what_depends_on_what_is_forced() -> None:
    ran: list[Variable] = []

    def noting(mechanism: Mechanism) -> Mechanism:
        def rule(*parents: Any) -> Any:
            ran.append(mechanism.variable)
            return mechanism.rule(*parents)

        return replace(mechanism, rule=rule)

    model = replace(PARITY, mechanisms=tuple(map(noting, PARITY.mechanisms)))
    before = model.run(population_of(model).draw(0, 0, 5))
    ran.clear()
    model.run_again(before, {R[3]: 1}, model.variables)
    assert set(ran) == {each for each in model.by_variable if R[3] in model.ancestors(each)}
    assert 0 < len(ran) < len(model.mechanisms)


def test_outputs_steer_where_later_ones_depend_on_them_and_they_are_fed_back() -> None:
    assert PARITY.steering == (S,)
    assert replace(PARITY, fed_back=False).steering == ()
    assert replace(PARITY, outputs=(*PARITY.outputs[1:], S)).steering == (), "what comes last steers nothing"
    assert WHEEL.steering == ()


def test_inputs_and_ancestors_are_those_that_a_change_reaches() -> None:
    """By the other route: flip each input in every question and see what changes."""
    batch = every_question(PARITY)
    before = PARITY.run(batch)
    reached: dict[Variable, set[Variable]] = {each: set() for each in PARITY.variables}
    for flipped in PARITY.inputs:
        after = PARITY.run(batch, do={flipped: 1 - batch.column(flipped)})
        for each in PARITY.variables:
            if (after[each] != before[each]).any():
                reached[each].add(flipped)
    assert {each: PARITY.inputs_of(each) for each in PARITY.variables} == reached
    assert PARITY.ancestors(R[1]) == {B[1], B[0], R[0]}


def test_a_model_for_some_questions_says_which() -> None:
    batch = population_of(WHEEL).draw(0, 0, 500)
    admitted = WHEEL.admits(batch)
    expected = [slow["D"] + slow["E"] <= 5 for slow in ({"D": row[0], "E": row[1]} for row in batch.values.tolist())]
    assert admitted.tolist() == expected
    assert 0 < admitted.sum() < len(batch)
    assert PARITY.admits(population_of(PARITY).draw(0, 0, 5)).all()


def test_a_fixed_input_has_one_value() -> None:
    fixed = replace(PARITY, fixed=((T, 1),))
    assert set(population_of(fixed).draw(0, 0, 50).column(T)) == {1}
    with pytest.raises(CarryLensError, match="TURN"):
        fixed.run(population_of(PARITY).draw(0, 0, 50))


def test_a_batch_of_other_inputs_is_refused() -> None:
    with pytest.raises(CarryLensError):
        PARITY.run(population_of(WHEEL).draw(0, 0, 3))
    with pytest.raises(CarryLensError):
        PARITY.run(Batch(PARITY.inputs[::-1], np.zeros((2, 7), dtype=np.int8)))


@pytest.mark.parametrize("variable", [Variable("R"), R[6], Variable("NONE", 0)], ids=str)
def test_a_variable_that_is_not_there_is_refused(variable: Variable) -> None:
    batch = population_of(PARITY).draw(0, 0, 3)
    for use in (PARITY.check, PARITY.ancestors, PARITY.inputs_of, lambda each: PARITY.run(batch, {each: 0})):
        with pytest.raises(CarryLensError, match="TURN"):
            use(variable)


def test_a_variable_that_is_not_there_is_refused_where_outputs_are_the_inputs_themselves() -> None:
    echo = CausalModel("echo", (BIT,), (B[0], B[1]), (B[0], B[1]), ())
    assert echo.output_values(every_question(echo)).tolist() == every_question(echo).values.tolist()
    with pytest.raises(CarryLensError, match="echo"):
        echo.check(R[0])


@pytest.mark.parametrize("value", [2, -1, 0.5, [0, 1], [[0]]])
def test_a_value_that_a_variable_never_takes_is_refused(value: Any) -> None:
    with pytest.raises(CarryLensError, match=r"R\[2\]"):
        PARITY.run(population_of(PARITY).draw(0, 0, 3), {R[2]: value})


WRONG = {
    "a parent that comes later": {"mechanisms": (Mechanism(R[1], (R[0],), np.copy), Mechanism(R[0], (B[0],), np.copy))},
    "stated twice": {"mechanisms": (*PARITY.mechanisms, Mechanism(R[0], (B[0],), np.copy))},
    "an input stated": {"mechanisms": (Mechanism(B[0], (), lambda: 0), *PARITY.mechanisms)},
    "a family that is missing": {"families": (BIT, RUN, SIGN, OUT)},
    "an output that nothing gives": {"outputs": (S, O[0])},
    "a family twice": {"families": (*PARITY.families, Family("B", (0, 1, 2), "bits again"))},
    "inputs of other values at index 0": {
        "families": (Family("B", (0, 1), "a bit", first_values=(0,)), *PARITY.families[1:])
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_a_model_that_does_not_hold_together_is_refused(name: str) -> None:
    with pytest.raises(CarryLensError):
        replace(PARITY, **WRONG[name])  # type: ignore[arg-type]


def test_models_are_the_same_where_all_they_are_made_of_is() -> None:
    assert replace(PARITY) == PARITY
    assert hash(PARITY) == hash(replace(PARITY))
    assert replace(PARITY, name="another") != PARITY
    assert {V[0], W[0], D[0], M, K} <= set(WHEEL.variables)
