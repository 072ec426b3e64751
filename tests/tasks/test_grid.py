"""The grid of inputs: cells in and out, switches turned, new values of every family's own."""

from __future__ import annotations

import numpy as np

from carrylens.arithmetic import Operation, algorithm
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import grid_of
from carrylens.tasks.samplers import population_of
from tasks.small_tasks import N_CELLS, PARITY, WHEEL, B, D, E, K, M, S, T, V

GRID, BATCH = grid_of(WHEEL), population_of(WHEEL).draw(0, 0, 200)


def test_cells_are_the_columns_by_family_and_index() -> None:
    assert ([family.name for family in GRID.families], GRID.size, GRID.switches) == (["D", "E"], N_CELLS, (M, K))
    cells = GRID.cells(BATCH)
    for at, family in enumerate((D, E)):
        for k in range(N_CELLS):
            assert (cells[at, :, k] == BATCH.column(family[k])).all()
    assert GRID.with_cells(BATCH, cells) == BATCH


def test_a_turned_switch_goes_on_to_its_next_value_and_round() -> None:
    rows = np.arange(len(BATCH)) % 2 == 0
    found = GRID.with_cells(BATCH, GRID.cells(BATCH), {M: rows})
    assert (found.column(M) == np.where(rows, (BATCH.column(M) + 1) % 3, BATCH.column(M))).all()
    assert (found.column(K) == BATCH.column(K)).all()


def test_steps_lead_to_every_other_value_and_never_back() -> None:
    cells, random = GRID.cells(BATCH), np.random.default_rng(0)
    stepped = GRID.stepped(cells, GRID.draw_steps(random, len(BATCH)))
    assert (stepped != cells).all()
    for at, family in enumerate((D, E)):
        assert set(np.unique(stepped[at])) == set(family.values)
    assert (GRID.stepped(cells, np.zeros_like(cells)) == cells).all()


def test_drawn_values_are_those_of_the_family() -> None:
    random = np.random.default_rng(0)
    for drawn in (GRID.draw_anew(random, 100), GRID.draw_together(random, 100), GRID.draw_some(random, 100)):
        for at, family in enumerate((D, E)):
            assert set(np.unique(drawn[at])) == set(family.values)
    assert GRID.draw_some(random, 7).shape == (2, 7)


def test_cells_and_indices_of_variables() -> None:
    assert GRID.holds({D[1], E[0], M}).tolist() == [[False, True, False], [True, False, False]]
    assert GRID.indices_of({D[1], E[0], M}) == [0, 1]
    assert GRID.indices_of(WHEEL.inputs_of(V[1])) == [0, 1]


def test_families_may_have_other_indices() -> None:
    ragged = CausalModel("ragged", WHEEL.families, (D[0], D[1], E[2]), (D[0],), ())
    grid, batch = grid_of(ragged), population_of(ragged).draw(0, 0, 20)
    assert grid.size == 3
    cells = grid.cells(batch)
    assert (cells[1, :, :2] == 0).all()
    assert grid.with_cells(batch, cells) == batch
    assert grid.with_cells(batch, grid.draw_anew(np.random.default_rng(0), 20)).inputs == ragged.inputs


def test_a_model_of_switches_has_no_cells() -> None:
    switches = CausalModel("switches", PARITY.families, (T,), (T,), ())
    grid, batch = grid_of(switches), population_of(switches).draw(0, 0, 5)
    assert (grid.size, grid.cells(batch).shape, grid.indices_of({T})) == (0, (0, 5, 0), [])
    assert grid.with_cells(batch, grid.cells(batch)) == batch
    assert grid_of(algorithm(Operation.ADD, 3)).switches == (), "an addition's operator is the same in all questions"
    assert grid_of(PARITY).switches == (T,)
    assert S not in grid_of(PARITY).switches
    assert grid_of(PARITY).indices_of({B[3]}) == [3]
