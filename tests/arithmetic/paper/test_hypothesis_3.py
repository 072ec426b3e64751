"""Hypothesis 3 answers every question right, and says of A2 what the usual algorithm does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from carrylens.arithmetic.paper import hypothesis_3
from carrylens.arithmetic.paper.hypothesis_3 import OWN, hypothesis
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import SV, A
from carrylens.claims.hypothesis_file import own_hypothesis
from carrylens.errors import CarryLensError

TASK = arithmetic_task(Operation.ADD, 5)


def test_it_answers_every_question_as_the_usual_algorithm_does() -> None:
    stated, questions = hypothesis(TASK).model, TASK.samplers["enriched"].draw(3, 0, 20_000)
    mine, right = stated.run(questions), TASK.causal.run(questions)
    assert all(np.array_equal(mine[output], right[output]) for output in TASK.causal.outputs)


@pytest.mark.parametrize(("question", "follows"), [("00012+00034", False), ("00012+00087", True)])
def test_a2_follows_the_earlier_carry_only_where_its_own_column_leaves_it_open(question: str, follows: bool) -> None:
    stated, asked = hypothesis(TASK).model, Questions.parse([question], 5)
    plain = stated.run(asked)
    turned = stated.run(asked, {SV[1]: 1 - plain[SV[1]]})
    assert bool(turned[A[2]][0] != plain[A[2]][0]) is follows
    usual = TASK.causal.run(asked, {SV[1]: 1 - plain[SV[1]]})
    assert usual[A[2]][0] != plain[A[2]][0]


def test_a2_follows_its_own_carry() -> None:
    stated, asked = hypothesis(TASK).model, Questions.parse(["00012+00034"], 5)
    assert stated.run(asked, {OWN[1]: np.array([1])})[A[2]][0] == 1


def test_it_is_a_hypothesis_file_and_of_five_digit_additions_alone() -> None:
    assert hypothesis_3.__file__ is not None
    assert own_hypothesis(Path(hypothesis_3.__file__), TASK).name == hypothesis_3.NAME
    with pytest.raises(CarryLensError):
        hypothesis(arithmetic_task(Operation.ADD, 6))
