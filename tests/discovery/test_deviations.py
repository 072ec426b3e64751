"""Predicates on questions that account for failures."""

import numpy as np

from carrylens.arithmetic import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.discovery.deviations import find_deviation
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

TASK = arithmetic_task(Operation.ADD, 3)
QUESTIONS = population_of(TASK.causal).draw(1, 0, 1200)


def test_a_gate_is_found_by_its_digit_and_limit() -> None:
    gate = QUESTIONS.column(Variable("D", 2)) <= 2
    noise = np.random.default_rng(1).random(len(QUESTIONS)) < 0.05
    found = find_deviation(TASK, QUESTIONS, gate ^ noise)
    assert found is not None
    assert found.where == "D[2] <= 2"
    assert abs(found.share - gate.mean()) < 1e-9
    assert found.inside.value > 0.9 > 0.1 > found.outside.value


def test_failures_that_nothing_accounts_for_get_no_predicate() -> None:
    named = 0
    for seed in range(60):
        failed = np.random.default_rng(seed).random(len(QUESTIONS)) < 0.3
        named += find_deviation(TASK, QUESTIONS, failed) is not None
    assert named <= 2, "one in a thousand is expected"


def test_no_failure_has_no_deviation() -> None:
    assert find_deviation(TASK, QUESTIONS, np.zeros(len(QUESTIONS), dtype=np.bool_)) is None
