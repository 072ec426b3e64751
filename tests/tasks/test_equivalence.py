"""Equivalence: held against every pair of questions there is."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from carrylens.tasks.batches import joined
from carrylens.tasks.causal import CausalModel, Mechanism
from carrylens.tasks.equivalence import are_equivalent, interchange_digests
from carrylens.tasks.pairs import counterfactual_outputs
from carrylens.tasks.variables import Family, Variable
from tasks.small_tasks import PARITY, B, O, R, S, T, differ, every_question, same

COPY, UNREAD = Family("COPY", (0, 1), "a copy"), Family("UNREAD", (0, 1), "what nothing reads")
SIX = replace(
    PARITY,
    families=(*PARITY.families, COPY, UNREAD),
    mechanisms=(
        *PARITY.mechanisms[:6],
        Mechanism(COPY[4], (R[4],), same),
        Mechanism(UNREAD[0], (R[0],), same),
        PARITY.mechanisms[6],
        *(Mechanism(O[4], (COPY[4], S), differ) if each.variable == O[4] else each for each in PARITY.mechanisms[7:]),
    ),
)


def on_every_pair(model: CausalModel) -> dict[Variable, np.ndarray]:
    every = every_question(model)
    count = len(every)
    base = every[np.repeat(np.arange(count), count)]
    source = joined([every] * count)
    return {each: counterfactual_outputs(model, each, base, source) for each in model.variables}


def test_variables_are_equivalent_where_no_pair_of_questions_tells_them_apart() -> None:
    truth = on_every_pair(SIX)
    for one, other in combinations(SIX.variables, 2):
        assert are_equivalent(SIX, one, other) is bool((truth[one] == truth[other]).all()), (one, other)
        for at in range(len(SIX.outputs)):
            alike = bool((truth[one][:, at] == truth[other][:, at]).all())
            assert are_equivalent(SIX, one, other, at) is alike, (one, other, at)


def test_a_copy_is_equivalent_only_where_its_reader_is() -> None:
    at = SIX.outputs.index(O[4])
    assert are_equivalent(SIX, R[4], COPY[4], at)
    assert not are_equivalent(SIX, R[4], COPY[4]), "R[4] is read by R[5], too"
    assert are_equivalent(SIX, R[0], B[0])
    assert not are_equivalent(SIX, R[0], R[1])


def test_a_variable_that_is_not_there_is_equivalent_to_itself_alone() -> None:
    stranger = Variable("X", 0)
    assert are_equivalent(SIX, stranger, stranger)
    assert not are_equivalent(SIX, stranger, T)


@pytest.mark.parametrize(
    "model", [SIX, CausalModel("switch", PARITY.families, (T,), (S,), (Mechanism(S, (T,), same),))]
)
def test_digests_have_one_part_for_each_output(model: CausalModel) -> None:
    digests = interchange_digests(model)
    assert set(digests) == set(model.variables)
    assert {len(each) for each in digests.values()} == {len(model.outputs)}
