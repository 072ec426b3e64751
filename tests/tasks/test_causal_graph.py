"""Causal graphs: who depends on whom, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from carrylens.errors import CarryLensError
from carrylens.tasks.causal_graph import CausalGraph, Mechanism
from carrylens.tasks.variables import Family, Variable

X, Y, BOTH, FIRST, LAST, IDLE = (Variable(name) for name in ("X", "Y", "BOTH", "FIRST", "LAST", "IDLE"))
FAMILIES = tuple(Family(each.name, (0, 1), "a bit") for each in (X, Y, BOTH, FIRST, LAST, IDLE))


def copied(*values: int) -> int:
    return values[0]


def graph(*mechanisms: Mechanism, outputs: tuple[Variable, ...] = (FIRST, LAST)) -> CausalGraph:
    return CausalGraph("small", FAMILIES, (X, Y), outputs, mechanisms)


MECHANISMS = (
    Mechanism(BOTH, (X, Y), copied),
    Mechanism(FIRST, (X,), copied),
    Mechanism(LAST, (BOTH, FIRST), copied),
    Mechanism(IDLE, (), copied),
)


def test_ancestors_and_inputs_go_all_the_way_up() -> None:
    small = graph(*MECHANISMS)
    assert small.ancestors(LAST) == {BOTH, FIRST, X, Y}
    assert small.ancestors(X) == small.ancestors(IDLE) == frozenset()
    assert small.inputs_of(FIRST) == small.inputs_of(X) == {X}
    assert small.inputs_of(IDLE) == frozenset()
    assert small.variables == (X, Y, BOTH, FIRST, LAST, IDLE)
    assert small.values_of(LAST) == (0, 1)


def test_outputs_steer_what_follows_only_where_they_are_fed_back() -> None:
    assert graph(*MECHANISMS).steering == (FIRST,)
    assert graph(*MECHANISMS, outputs=(LAST, FIRST)).steering == ()
    assert replace(graph(*MECHANISMS), fed_back=False).steering == ()


@pytest.mark.parametrize(
    ("mechanisms", "named"),
    [
        (MECHANISMS[::-1], "LAST.*BOTH, FIRST"),
        ((*MECHANISMS, MECHANISMS[0]), "BOTH.*twice"),
        (MECHANISMS[:2], "LAST"),
        ((*MECHANISMS, Mechanism(Variable("ODD"), (X,), copied)), "ODD"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(mechanisms: tuple[Mechanism, ...], named: str) -> None:
    with pytest.raises(CarryLensError, match=named):
        graph(*mechanisms)
    with pytest.raises(CarryLensError, match="family twice"):
        replace(graph(*MECHANISMS), families=(*FAMILIES, FAMILIES[0]))
    with pytest.raises(CarryLensError, match=r"ODD.*BOTH"):
        graph(*MECHANISMS).ancestors(Variable("ODD"))
