"""Maps of a user's own variables: read with the causal model that declares them, and with no other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from carrylens.arithmetic import Operation, ripple
from carrylens.arithmetic.algorithm_model import state_algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.arithmetic.variables import ST, C
from carrylens.discovery.node_map import NodeMap, Role
from carrylens.discovery.saved_map import read_map, task_of_map
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import parse_nodes
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import Family
from discovery.same_maps import assert_same, read_again

TASK = arithmetic_task(Operation.ADD, 2)
TENS = Family("TENS", (0, 1), "whether the sum of a column is ten or more")
NODES = tuple(parse_nodes("P4L0H0"))


def more_than_nine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one + other > 9


OWN = state_algorithm(
    "with tens of my own",
    Operation.ADD,
    2,
    (
        *algorithm(Operation.ADD, 2).mechanisms,
        Mechanism(TENS[0], TASK.causal.by_variable[ST[0]].parents, more_than_nine),
    ),
    [TENS],
)
OWN_MAP = NodeMap("m", TASK, OWN, 2, 3, (), (Role(NODES, TENS[0], 2, Rate(9, 9), Rate(0, 9), 1e-4),))


def test_a_map_of_own_variables_is_refused_without_their_model_and_read_with_it() -> None:
    with pytest.raises(CarryLensError, match="--hypothesis"):
        read_again(OWN_MAP)
    assert_same(read_again(OWN_MAP, OWN), OWN_MAP)


def test_a_model_that_says_the_same_in_other_words_will_do() -> None:
    reworded = [*OWN.mechanisms[:-1], Mechanism(TENS[0], OWN.mechanisms[-1].parents, lambda d, e: (d + e) // 10)]
    again = read_again(OWN_MAP, replace(OWN, name="in other words", mechanisms=tuple(reworded)))
    assert again.roles == OWN_MAP.roles
    assert again.causal.name == "in other words"


@pytest.mark.parametrize("other", [ripple(Operation.ADD, 2), replace(OWN, mechanisms=OWN.mechanisms[:-1])])
def test_another_model_will_not_do(other: object) -> None:
    with pytest.raises(CarryLensError, match="--hypothesis"):
        NodeMap.from_json(OWN_MAP.to_json(), find_task, other)  # type: ignore[arg-type]


def test_a_map_of_the_tasks_own_variables_needs_no_model_and_minds_none() -> None:
    plain = NodeMap("m", TASK, TASK.causal, 2, 3, (), ())
    assert_same(read_again(plain), plain)
    assert_same(read_again(plain, OWN), plain)


def test_a_rivals_variables_are_checked_against_the_rival() -> None:
    rival = ripple(Operation.ADD, 2)
    found = NodeMap("m", TASK, rival, 2, 3, (), (Role(NODES, C[0], 2, Rate(9, 9), Rate(0, 9), 1e-4),))
    assert_same(read_again(found, rival), found)
    with pytest.raises(CarryLensError, match=r"C\[7\]"):
        read_again(replace(found, roles=(replace(found.roles[0], variable=C[7]),)), rival)


def test_the_task_of_a_map_is_known_without_the_model(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("own") / "map.json"
    path.write_text(OWN_MAP.to_json())
    assert task_of_map(path, find_task) == TASK
    assert_same(read_map(path, find_task, OWN), OWN_MAP)
    for content in ("", "[]", "3", "{}", '{"task": 3}'):
        path.write_text(content)
        for read in (task_of_map, read_map):
            with pytest.raises(CarryLensError):
                read(path, find_task)
