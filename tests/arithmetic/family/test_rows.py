"""Rows as people write them."""

from __future__ import annotations

import pytest

from carrylens.arithmetic.family.rows import parse_rows, read_rows, rows_called, waits_for
from carrylens.arithmetic.family.run_state import EndedStep, FamilyState, StepEnd
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.recipes import training_population
from carrylens.arithmetic.zoo.failure_table import published_figures
from carrylens.errors import CarryLensError
from carrylens.report.terminal.family_run import progress_lines, summary_lines
from carrylens.workflow.training import training_plan

ADD = '[[rows]]\nmodel = "add_d6_l2_h3_w96_t2K_s1"\n'
INS = '[[rows]]\nmodel = "ins1_mix_d6_l3_h4_w96_t6K_s1"\n'


def test_the_papers_rows_are_all_there_once_and_in_its_order() -> None:
    rows = read_rows("paper")
    assert [row.paper for row in rows] == list(dict.fromkeys(found["model"] for found in published_figures()))
    assert len(rows) == 46
    shapes = [(r.name.operation, r.name.digits, r.name.n_layers, r.name.n_heads, r.name.insertion) for r in rows]
    papers = [type(r)(model=str(r.paper)).name for r in rows]
    assert shapes == [(p.operation, p.digits, p.n_layers, p.n_heads, p.insertion) for p in papers]


def test_an_insertion_waits_for_the_row_it_inserts() -> None:
    rows = parse_rows(f'{INS}insert = "add_d6_l2_h3_w96_t2K_s1"\n{ADD}'.encode(), "rows")
    assert waits_for(rows[0], rows) is rows[1]
    assert waits_for(rows[1], rows) is None
    assert rows_called(rows, ["ins1"]) == rows


def test_seeds_make_rows_and_defaults_are_for_all() -> None:
    text = '[defaults]\nquick = true\n[[rows]]\nmodel = "add_d2_l1_h1_w8_t20"\nseeds = [3, 4]\nquick = false\n' + ADD
    rows = parse_rows(text.encode(), "rows")
    assert [(row.name.seed, row.quick) for row in rows] == [(3, False), (4, False), (1, True)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[[rows]]\n",
        "rows = 3",
        "[[rows",
        ADD + ADD,
        INS,
        ADD + 'insert = "x"\n',
        ADD + 'steps = ["judge", "map"]\n',
        ADD + 'steps = ["dance"]\n',
        ADD + "steps = []\n",
        ADD + "stepz = []\n",
        ADD + 'folder = "../x"\n',
        ADD + 'of = ["natural"]\n',
        ADD + "seed = -1\n",
        ADD + 'seeds = [1, 2]\nfolder = "x"\n',
        f'{INS}insert = "sub_d6_l2_h3_w96_t5K_s1"\n[[rows]]\nmodel = "sub_d6_l2_h3_w96_t5K_s1"\n',
    ],
)
def test_a_wrong_row_is_one_clear_line(text: str) -> None:
    with pytest.raises(CarryLensError) as error:
        parse_rows(text.encode(), "rows.toml")
    assert "rows.toml" in str(error.value) or "add_d6" in str(error.value)


def test_time_left_counts_what_is_open_and_not_what_is_over() -> None:
    rows = parse_rows(('steps = ["train", "test"]\n'.join([ADD, ADD.replace("_s1", "_s2"), ""])).encode(), "rows")
    state = FamilyState(rows, n_workers=2)
    first, second = (row.folder for row in rows)
    assert state.seconds_left(0.0) is None
    state.end(EndedStep(first, "train", StepEnd.DONE, 100.0))
    state.end(EndedStep(first, "test", StepEnd.MISSED, 10.0))
    assert state.seconds_left(0.0) == pytest.approx((100 + 10) / 2)
    state.hear(0.0, second, "train", "a:1", "training", 0.5)
    assert state.seconds_left(60.0) == pytest.approx((40 + 10) / 2)
    assert any("a:1" in line for line in progress_lines(state, 60.0))
    state.forget_workers(["b:2"])
    assert not state.under_way
    state.end(EndedStep(second, "train", StepEnd.FAILED, error="no room"))
    assert state.seconds_left(60.0) == 0.0
    assert [each.row for each in state.failed] == [second]
    assert len(summary_lines(state)) >= 4


def test_the_variants_are_trained_as_their_rows_say() -> None:
    rows = {row.folder: row for row in read_rows("variants")}
    plain = rows["add_d5_l2_h3_w96_t2K_s1.natural"]
    plan = training_plan(plain.model, plain.recipe, None, plain.placement, layout=plain.layout, population="natural")
    usual = training_plan(plain.model, plain.recipe, None, plain.placement)
    assert plan.recorded is not None
    assert usual.recorded is not None
    assert plan.recorded["stream"] == plain.population == "natural"
    assert plan.population == training_population(plain.name, chosen=PopulationKind.NATURAL)
    assert usual.recorded["stream"] == "enriched"
    assert {row.layout for row in rows.values()} == {"paper", "equals", "unsigned"}
    assert rows["ins1_mix_d6_l3_h4_w96_t6K_s1.late"].placement == "late"


def test_an_unknown_population_is_refused() -> None:
    with pytest.raises(CarryLensError):
        parse_rows(b'[[rows]]\nmodel = "add_d3_l2_h3_w48_t1K_s1"\npopulation = "hard"\n', "rows.toml")
