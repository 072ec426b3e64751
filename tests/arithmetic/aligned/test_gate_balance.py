"""A gate that few questions pass is passed by half of the training questions, and nothing else of them changes."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.arithmetic.aligned.gate_balance import GateBalanced, training_population
from carrylens.arithmetic.aligned.named_algorithms import algorithm_called
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation

ENRICHED = Population(PopulationKind.ENRICHED, Operation.ADD, 3)


def test_half_of_the_questions_pass_the_gate_and_only_its_digit_is_drawn_anew() -> None:
    balanced = GateBalanced(ENRICHED, index=2, limit=1)
    drawn, plain = balanced.draw(5, 0, 4000), ENRICHED.draw(5, 0, 4000)
    assert (drawn.first[:, 2] < 1).mean() == pytest.approx(0.5, abs=0.03)
    assert set(np.unique(drawn.first[:, 2])) == set(range(10))
    assert (drawn.first[:, :2] == plain.first[:, :2]).all()
    assert (drawn.second == plain.second).all()
    assert balanced.draw(5, 100, 7) == drawn[100:107]


def test_only_a_gate_that_few_questions_pass_is_balanced() -> None:
    rare, usual, plain = (
        algorithm_called(f"left-to-right add{words}", Operation.ADD, 3)
        for words in (", weighted-sum on 10%", ", weighted-sum on 30%", "")
    )
    assert training_population(ENRICHED, rare) == GateBalanced(ENRICHED, 2, 1)
    assert training_population(ENRICHED, usual) is ENRICHED
    assert training_population(ENRICHED, plain) is ENRICHED
