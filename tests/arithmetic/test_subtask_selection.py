"""Selection first gives the same answers by variables that are chosen before they are combined."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.algorithms import algorithm, answers
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.selection import select_first, selected_first


@pytest.mark.parametrize("operation", [Operation.SUB, Operation.MIX])
def test_no_answer_changes(operation: Operation) -> None:
    questions = Population(PopulationKind.ENRICHED, operation, 4).draw(1, 0, 300)
    found, right = select_first(algorithm(operation, 4)).answers(questions), answers(questions)
    assert (found.digits == right.digits).all()
    assert (found.negative == right.negative).all()


def test_what_is_chosen_is_required_and_an_addition_has_nothing_to_choose() -> None:
    (form,) = selected_first(left_to_right(Operation.MIX, 3))
    assert {"XD", "XV"} <= set(form.required)
    assert {"SA", "MD", "ND", "SV", "MV", "NV"}.isdisjoint(form.required)
    assert selected_first(left_to_right(Operation.ADD, 3)) == ()
