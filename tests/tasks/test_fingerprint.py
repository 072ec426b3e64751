"""Fingerprints: alike for models that compute alike, however they are written; others for any other model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from carrylens.arithmetic import Operation, algorithm, ripple
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.fingerprint import fingerprint
from carrylens.tasks.variables import Family
from tasks.small_tasks import PARITY, RUN, WHEEL, B, R, S, T


def with_rule(model: CausalModel, at: int, rule: Any, parents: Sequence[Any] | None = None) -> CausalModel:
    changed = list(model.mechanisms)
    old = changed[at]
    changed[at] = Mechanism(old.variable, old.parents if parents is None else tuple(parents), rule)
    return replace(model, mechanisms=tuple(changed))


def at(model: CausalModel, variable: Any) -> int:
    return [each.variable for each in model.mechanisms].index(variable)


SAME = {
    "the very model": PARITY,
    "another name": replace(PARITY, name="called otherwise"),
    "another rule that gives the same": with_rule(PARITY, at(PARITY, R[3]), lambda a, b: a != b),
    "a rule by a table": with_rule(PARITY, at(PARITY, R[3]), lambda a, b: np.array([[0, 1], [1, 0]])[a, b]),
    "other words": replace(PARITY, families=tuple(replace(each, meaning="?", labels=()) for each in PARITY.families)),
}
OTHER = {
    "a rule that is another in one case": with_rule(PARITY, at(PARITY, R[3]), lambda a, b: a | b),
    "a constant": with_rule(PARITY, at(PARITY, R[0]), lambda _: 0),
    "another parent": with_rule(PARITY, at(PARITY, R[3]), lambda a, b: a ^ b, (B[3], R[1])),
    "parents in reverse": with_rule(PARITY, at(PARITY, R[3]), lambda a, b: a ^ b, (R[2], B[3])),
    "another order of outputs": replace(PARITY, outputs=PARITY.outputs[::-1]),
    "one output less": replace(PARITY, outputs=PARITY.outputs[:-1]),
    "another order of inputs": replace(PARITY, inputs=PARITY.inputs[::-1]),
    "a fixed input": replace(PARITY, fixed=((T, 0),)),
    "a fixed input of another value": replace(PARITY, fixed=((T, 1),)),
    "more values": replace(
        PARITY, families=tuple(Family("R", (0, 1, 2), "") if each is RUN else each for each in PARITY.families)
    ),
    "another task": WHEEL,
}


@pytest.mark.parametrize("name", SAME)
def test_a_model_stated_otherwise_has_the_same_fingerprint(name: str) -> None:
    assert fingerprint(SAME[name]) == fingerprint(PARITY)


def test_every_change_that_shows_has_another_fingerprint() -> None:
    found = {name: fingerprint(model) for name, model in OTHER.items()}
    assert len({*found.values(), fingerprint(PARITY)}) == len(OTHER) + 1


def test_a_rule_with_more_parents_than_can_be_gone_through_is_tried_on_some() -> None:
    ten = Family("X", tuple(range(10)), "a digit")
    inputs = tuple(ten[k] for k in range(6))

    def total(*parts: Any) -> Any:
        return sum(int_part.astype(np.int64) for int_part in parts) % 10

    wide = CausalModel("wide", (ten,), inputs, (ten[6],), (Mechanism(ten[6], inputs, total),))
    other = with_rule(wide, 0, lambda *parts: (total(*parts) + (parts[0] == 3)) % 10)
    again = with_rule(wide, 0, lambda *parts: np.add.reduce([part.astype(int) for part in parts]) % 10)
    assert fingerprint(wide) == fingerprint(again) != fingerprint(other)


def test_the_algorithms_of_arithmetic_have_one_each() -> None:
    models = [state(operation, digits) for state in (algorithm, ripple) for operation in Operation for digits in (1, 2)]
    assert len({fingerprint(model) for model in models}) == len(models)
    assert S in PARITY.outputs
