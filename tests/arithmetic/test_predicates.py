"""Predicates on questions become gates that are open where they hold, and nothing else is taken for one."""

import numpy as np
import pytest

from carrylens.arithmetic import Operation, Population, PopulationKind, algorithm, classify
from carrylens.arithmetic.mixtures import G
from carrylens.arithmetic.predicates import gate_where
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.alignment.deviations import find_deviation
from carrylens.errors import CarryLensError

MIX = algorithm(Operation.MIX, 3)
QUESTIONS = Population(PopulationKind.ENRICHED, Operation.MIX, 3).draw(2, 0, 4000)


def holds(predicate: str) -> list[bool]:
    (mechanism,) = gate_where(predicate, MIX).mechanisms
    assert mechanism.variable == G.variable
    values = MIX.run(QUESTIONS)
    found = mechanism.rule(*(values[parent] for parent in mechanism.parents))
    return np.broadcast_to(np.asarray(found), len(QUESTIONS)).astype(bool).tolist()


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("D[2] <= 2", QUESTIONS.first[:, 2] <= 2),
        ("D[2]>7", QUESTIONS.first[:, 2] > 7),
        ("D'[0] >= 5", QUESTIONS.second[:, 0] >= 5),
        ("D'[1] != 4", QUESTIONS.second[:, 1] != 4),
        ("OPR = -", QUESTIONS.minus),
        ("OPR = + and D[1] < 3", ~QUESTIONS.minus & (QUESTIONS.first[:, 1] < 3)),
        ("ST[1] = U", QUESTIONS.first[:, 1] + QUESTIONS.second[:, 1] == 9),
    ],
)
def test_a_gate_is_open_where_its_predicate_holds(predicate: str, expected: np.ndarray) -> None:
    assert holds(predicate) == expected.tolist()
    assert 0 < sum(holds(predicate)) < len(QUESTIONS)


@pytest.mark.parametrize("name", ["S0", "S2", "M1", "N3"])
def test_a_class_is_a_predicate(name: str) -> None:
    expected = [found.value == name for found in classify(QUESTIONS).classes()]
    assert holds(f"the class is {name}") == expected
    assert any(expected)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "predicate"),
        ("D[2]", "predicate"),
        ("D[2] <= 2 or D[1] = 3", "predicate"),
        ("__import__('os')", "predicate"),
        ("D[7] <= 2", "variable"),
        ("X[2] <= 2", "variable"),
        ("D[2] <= 12", "never"),
        ("OPR = *", "never"),
        ("the class is S9", "class"),
    ],
)
def test_what_is_no_predicate_is_refused(text: str, told: str) -> None:
    with pytest.raises(CarryLensError, match=told):
        gate_where(text, MIX)


@pytest.mark.parametrize("predicate", ["D[2] <= 2", "D'[1] > 6", "OPR = -", "the class is S1"])
def test_what_a_search_for_deviations_says_is_a_predicate(predicate: str) -> None:
    task = arithmetic_task(Operation.MIX, 3)
    found = find_deviation(task, QUESTIONS, np.array(holds(predicate)))
    assert found is not None
    assert holds(found.where) == holds(predicate)
