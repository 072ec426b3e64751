"""What is known when, held against all questions that begin alike."""

from __future__ import annotations

import numpy as np
import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.timeline import first_computable, timeline
from carrylens.tasks.variables import UNKNOWN, Variable
from tasks.small_tasks import PARITY, PARITY_LAYOUT, WHEEL, WHEEL_LAYOUT, B, O, R, S, V, W, every_question

EVERY = every_question(PARITY)
VALUES = PARITY.run(EVERY)


def completions(row: int, position: int, variable: Variable) -> set[int]:
    """The variable's values over all questions whose tokens up to `position` are this one's."""
    seen = [each for each in PARITY.inputs if PARITY_LAYOUT.arrival_of(each) <= position]
    alike = np.ones(len(EVERY), dtype=bool)
    for each in seen:
        alike &= EVERY.column(each) == EVERY.column(each)[row]
    return set(VALUES[variable][alike].tolist())


@pytest.mark.parametrize("half_read", [False, True])
def test_nothing_is_known_too_soon_and_parities_just_in_time(half_read: bool) -> None:
    known = timeline(PARITY, PARITY_LAYOUT, EVERY, half_read=half_read)
    for variable in PARITY.variables:
        found = known.settled(variable)
        for row in range(0, len(EVERY), 9):
            for position in range(PARITY_LAYOUT.n_question):
                possible = completions(row, position, variable)
                settled = int(found[row, position])
                if settled != UNKNOWN:
                    assert possible == {settled}, (variable, row, position)
                elif variable.name in ("B", "R", "TURN"):
                    assert len(possible) > 1, (variable, row, position)
        assert (found[:, -1] == VALUES[variable]).all()


def test_a_variable_is_computable_where_its_last_input_arrives() -> None:
    """Bits come from the highest down, so every running parity waits for the last of them."""
    assert {first_computable(PARITY, PARITY_LAYOUT, R[k]) for k in range(6)} == {5}
    assert [first_computable(PARITY, PARITY_LAYOUT, each) for each in (B[4], S, O[5])] == [1, 6, 6]
    assert [first_computable(WHEEL, WHEEL_LAYOUT, each) for each in (V[0], V[2], W[0])] == [7, 7, 8]


def test_only_what_was_read_is_there() -> None:
    some = timeline(PARITY, PARITY_LAYOUT, EVERY[:4], read=[R[1]])
    assert (some.settled(R[1])[:, -1] == VALUES[R[1]][:4]).all()
    for variable in (R[2], Variable("X")):
        with pytest.raises(CarryLensError):
            some.settled(variable)
