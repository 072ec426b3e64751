"""A model that does no arithmetic, and a user's own variables, are drawn like any other."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from carrylens.arithmetic.algorithm_model import Algorithm, state_algorithm
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.arithmetic.variables import ANSWER_KIND, KINDS
from carrylens.discovery.behaviours import Clusters
from carrylens.errors import CarryLensError
from carrylens.report.figures.clouds import Cloud, clouds_figure
from carrylens.report.figures.collect import figures_of
from carrylens.report.figures.node_tables import impact_map, purpose_map
from carrylens.report.figures.print_tables import tables_of
from carrylens.report.kind_styles import kind_class, kind_rules, kinds_of, kinds_of_all, variable_kind
from carrylens.report.page.accuracy import accuracy_tables
from carrylens.report.page.circuit import circuit_drawing, circuit_of
from carrylens.report.page.headline import headline_of, shape_line
from carrylens.report.page.node_grid import map_grid
from carrylens.report.page.remake import commands
from carrylens.report.page.render import page_of
from carrylens.report.page.saved import read_saved
from carrylens.report.page.worked_example import worked_questions
from carrylens.report.terminal.map import map_text, shown_roles
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import INPUT, OUTPUT, Family, VariableKind
from report.parity import (
    CAUSAL,
    RUNNING,
    SMALL,
    SPEC,
    TASK,
    P,
    X,
    Y,
    claims_record,
    find_parity,
    parity_map,
    parity_saved,
    xor,
)


def test_kinds_come_in_causal_order_and_arithmetic_has_its_own() -> None:
    assert kinds_of(parity_map()) == (INPUT, RUNNING, OUTPUT)
    task = arithmetic_task(Operation.MIX, 2)
    found = replace(parity_map(), task=task, causal=task.causal)
    assert kinds_of(found) == KINDS
    assert kinds_of_all([parity_map(), found])[:3] == (INPUT, RUNNING, OUTPUT)


def own_algorithm() -> Algorithm:
    usual = arithmetic_task(Operation.ADD, 2).causal
    assert isinstance(usual, Algorithm)
    own = Family("OWN", (0, 1), "of my own", VariableKind("mine", "mine", ("#123456",) * 2, ("#654321",) * 2))
    odd = Mechanism(own[0], (usual.inputs[0],), lambda digit: digit % 2)
    return state_algorithm("mine", Operation.ADD, 2, (odd, *usual.mechanisms), families=(own,))


def test_a_kind_of_a_users_own_stands_before_the_answer() -> None:
    task, causal = arithmetic_task(Operation.ADD, 2), own_algorithm()
    found = replace(parity_map(), task=task, causal=causal, roles=(), groups=(), behaviours=())
    kinds = kinds_of(found)
    assert [kind.name for kind in kinds[-2:]] == ["mine", ANSWER_KIND.name]
    assert variable_kind(found, causal.family_called["OWN"][0]).name == "mine"
    assert f".{kind_class(kinds[-2])} {{ --fill: #123456; --ink: #123456; }}" in kind_rules(kinds)


def test_rules_of_a_style_sheet_have_safe_names_and_colours() -> None:
    rules = kind_rules([RUNNING])
    assert re.findall(r"\.([\w-]+) \{ --fill: (#\w+); --ink: (#\w+); \}", rules) == [
        ("kind-running-parity", "#a0b1c2", "#112233"),
        ("kind-running-parity", "#332211", "#c2b1a0"),
    ]
    for lie in ("red", "#12345", "#1234567", "#12345g", "#123456; } body { display: none", "#123456\n"):
        for kind in (replace(RUNNING, light=("#123456", lie)), replace(RUNNING, dark=("#123456", lie))):
            with pytest.raises(CarryLensError, match="#rrggbb"):
                kind_rules([kind])


def test_two_kinds_of_one_name_must_look_alike() -> None:
    assert kind_rules([RUNNING, replace(RUNNING, meaning="another")]) == kind_rules([RUNNING])
    with pytest.raises(CarryLensError, match="running parity"):
        kind_rules([RUNNING, replace(RUNNING, name="running parity", dark=("#000000", "#ffffff"))])


def test_the_page_shows_what_every_task_has_and_no_arithmetic() -> None:
    saved = parity_saved()
    page = page_of(saved)
    assert TASK.name in shape_line(saved)
    assert shape_line(saved) in page
    assert CAUSAL.name in headline_of(saved).sentence
    assert {"verdict", "circuit", "map", "worked", "claims"} <= set(re.findall(r'<section id="(\w+)"', page))
    shown = re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.DOTALL).lower()
    assert [word for word in ("digit", "carry 0", "borrow", "addition", "subtract", "column") if word in shown] == []
    assert "parity &lt;so far&gt;" in page
    assert "<so far>" not in page
    classes = set(re.findall(r"kind-[\w-]+", page))
    assert classes == {kind_class(kind) for kind in kinds_of(saved.map)}


def test_a_test_of_any_population_is_shown() -> None:
    saved = parity_saved()
    head = headline_of(saved)
    assert any(tile.number == "3" and "1,000 all" in tile.what for tile in head.tiles)
    assert any("3 of 1,000 all questions" in line for line in head.sure)
    (table,) = accuracy_tables(saved.test)
    assert [(row.name, row.asked, row.failed) for row in table.rows] == [("all", 1000, 3)]
    assert table.title


def test_a_worked_question_without_a_trace_has_its_interchanges() -> None:
    (worked,) = worked_questions(parity_saved())
    assert worked.blocks == ()
    assert [row.variable.text for row in worked.interchanges] == ["P1"]
    assert worked.n_agree == 1


def test_no_command_is_named_for_a_task_that_none_knows() -> None:
    assert list(commands(parity_saved())) == []


def test_the_grid_and_the_circuit_name_the_tasks_places() -> None:
    saved = parity_saved()
    grid = map_grid(saved)
    assert grid.places == ("X2", "?")
    assert grid.left_out == ("X0", "X1")
    evidence = {each.node: each for each in grid.evidence}[str(SMALL)]
    assert [effect.hit.hits for effect in evidence.tokens] == [9]
    circuit = circuit_of(saved)
    assert {box.kind for box in circuit.boxes} == {RUNNING, OUTPUT}
    drawn = circuit_drawing(circuit, saved.map)
    assert re.findall(r'class="line ([\w-]+) (\w+)"', drawn) == [("kind-running-parity", "carry")]


def test_the_terminal_shows_the_map_in_its_own_colours() -> None:
    found = parity_map()
    text = map_text(found)
    assert {str(span.style) for span in text.spans} >= {RUNNING.terminal, OUTPUT.terminal}
    assert [variable for _, variable in shown_roles(found)] == [P[2], P[1], Y.variable]
    assert P.title in text.plain
    assert Y.meaning in text.plain


def test_figures_and_tables_leave_out_what_only_arithmetic_has() -> None:
    saved = parity_saved()
    drawn = figures_of(saved, ["55+48"], [])
    assert {name.partition(".")[0] for name in drawn.files} == {
        *("failure_map", "answer_impact_map", "purpose_map", "attention_map")
    }
    assert set(drawn.missing) == {"training_loss", "principal_components"}
    assert "?" in [text.get_text() for text in impact_map(saved.map).axes[0].texts]
    assert {"P1", "Y"} <= {text.get_text() for text in purpose_map(saved.map).axes[0].texts}
    models, places, coverage, _ = tables_of([saved])
    assert models.rows[0][1] == TASK.name
    assert {row[0] for row in places.rows} == {"P1", "P2", "Y"}
    assert coverage.rows == (("parity-model", "all", "2", "100%"),)


def test_a_cloud_has_the_labels_of_its_family() -> None:
    clusters = Clusters(P[1], 0.9, 0.05, 0.005, 4, 2)
    cloud = Cloud(SMALL, clusters, np.arange(8.0).reshape(4, 2), np.array([0, 0, 1, 1]))
    legend = clouds_figure(parity_map(), [cloud]).axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["even", "odd"]


def test_a_saved_map_of_another_task_is_read_with_its_finder(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(parity_map().to_json())
    (tmp_path / "claims.json").write_text(json.dumps(claims_record()))
    saved = read_saved("mine", tmp_path, None, find_task=find_parity)
    assert saved.map.task is TASK
    assert saved.map.to_json() == parity_map().to_json()
    assert page_of(saved)
    with pytest.raises(CarryLensError, match=str(SPEC["kind"])):
        read_saved("mine", tmp_path, None)


def test_a_map_of_a_users_own_variables_makes_a_page_of_their_claims(tmp_path: Path) -> None:
    pairs = Family("Q", (0, 1), "parity of a pair", RUNNING)
    steps = (Mechanism(pairs[0], (X[0], X[1]), xor), Mechanism(Y.variable, (pairs[0], X[2]), xor))
    own = replace(CAUSAL, name="Pairs first", families=(X, pairs, Y), mechanisms=steps)
    found = replace(parity_map(own), roles=[replace(parity_map().roles[0], variable=pairs[0])], groups=())
    (tmp_path / "map.json").write_text(found.to_json())
    (tmp_path / "claims.json").write_text(json.dumps(claims_record()))
    with pytest.raises(CarryLensError, match="--hypothesis"):
        read_saved("mine", tmp_path, None, find_task=find_parity)
    with pytest.raises(CarryLensError, match=r"claims\.pairs-first_.*carrylens judge"):
        read_saved("mine", tmp_path, None, find_task=find_parity, causal=own)
    none = {"supported": 0, "refuted": 0, "inconclusive": 0, "untested": 0}
    claims = {**claims_record(own.name), "claims": [], "required": none, "skeleton": "unclear"}
    (tmp_path / "claims.pairs-first.json").write_text(json.dumps(claims))
    saved = read_saved("mine", tmp_path, None, find_task=find_parity, causal=own)
    assert not saved.is_usual
    assert headline_of(saved).sentence in page_of(saved)
    assert own.name in headline_of(saved).sentence
    (tmp_path / "claims.pairs-first.json").write_text(json.dumps({**claims, "hypothesis": "another"}))
    with pytest.raises(CarryLensError, match="'another'"):
        read_saved("mine", tmp_path, None, find_task=find_parity, causal=own)
