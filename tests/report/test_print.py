"""Figures and tables for print, and the comparison of models."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.battery.patching.card import CARD
from carrylens.arithmetic.battery.patching.findings import AT_ANSWER
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task
from carrylens.cli import app
from carrylens.discovery.behaviours import Clusters
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node
from carrylens.report.figures.clouds import Cloud, clouds_figure
from carrylens.report.figures.collect import figures_of
from carrylens.report.figures.node_tables import failure_map, impact_map, purpose_map, reuse_map
from carrylens.report.figures.print_tables import Table, location_map, tables_of
from carrylens.report.figures.seeds import SeedRun, seeds_figure
from carrylens.report.page.comparison import comparison_page, comparison_sentence, differing_claims, experiment_lines
from carrylens.report.page.saved import Saved, read_saved
from carrylens.tasks.variables import Variable


@pytest.fixture(scope="module")
def saved(explained: tuple[Path, str]) -> Saved:
    return read_saved(str(explained[0]), explained[0], None)


def texts(figure: object) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def printed(explained: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], str]:
    """Where the command put figures and tables, the files it named, and what it could not draw."""
    folder = tmp_path_factory.mktemp("print") / "made"
    where = ["--out", str(folder.parent / "page.html"), "--figures", str(folder), "--tables", str(folder)]
    result = CliRunner().invoke(app, ["report", str(explained[0]), *where, "--json"])
    assert result.exit_code == 0, result.output
    return folder, json.loads(result.stdout)["files"], result.stderr


def test_every_figure_is_written_as_svg_and_pdf(saved: Saved, printed: tuple[Path, list[str], str]) -> None:
    folder, files, said = printed
    assert {path.name for path in folder.iterdir()} == set(files)
    names = {name.rpartition(".")[0] for name in files if name.endswith("svg")}
    maps = {"failure_map", "answer_impact_map", "purpose_map", "attention_map"}
    assert maps | {"algorithm_addition", "algorithm_subtraction", "principal_components"} == names
    missing = figures_of(saved, ["55+48"], []).missing
    assert set(missing) == {"node_reuse", "seed_sensitivity", "training_loss", "principal_components"}
    drawn = ["principal_components"]  # by the command, which has the model
    wanted = [(name, why) for name, why in missing.items() if name not in drawn]
    assert len(said.splitlines()) == len(wanted)
    assert all(name in line and why in line for line, (name, why) in zip(said.splitlines(), wanted, strict=True))
    for name in names:
        assert ElementTree.fromstring((folder / f"{name}.svg").read_bytes()).tag.endswith("svg")
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    assert {"models.tex", "coverage.md", "invariants.tex"} < set(files)


def test_the_same_figure_is_the_same_file(saved: Saved, printed: tuple[Path, list[str], str]) -> None:
    again = figures_of(saved, ["55+48"], [])
    assert len(again.files) == 10
    assert all((printed[0] / name).read_bytes() == content for name, content in again.files.items())


def test_a_model_of_two_operations_shows_who_shares_a_node(saved: Saved) -> None:
    task = arithmetic_task(Operation.MIX, 2)
    mixed = replace(saved, map=replace(saved.map, task=task, causal=task.causal))
    assert "node_reuse.pdf" in figures_of(mixed, [], []).files
    served = [text for text in texts(reuse_map(saved.map)) if set(text) <= set("SMN")]
    alone = [each for each in saved.map.nodes if each.is_useful and each.mean.hits]
    assert served == ["S"] * len(alone), "an adder's nodes serve additions alone"


def test_seeds_of_one_shape_stand_beside_each_other(saved: Saved) -> None:
    notes = [{"step": step, "token_losses": {"add": [1 / step]}} for step in (1, 10, 100)]
    parts = [{"name": "natural", "operation": "add", "asked": 1000, "failed": 2, "interval": [0.0002, 0.007]}]
    runs = [SeedRun(1, notes, {"parts": parts}), SeedRun(2, notes, None)]
    assert "seed_sensitivity.svg" in figures_of(saved, [], [], runs).files
    left, right = seeds_figure("add_d2_l2_h3", runs).axes
    assert len(left.lines) == 2
    assert [label.get_text() for label in right.get_yticklabels()] == ["s1, natural add: 2 of 1,000"]


def test_the_maps_show_what_was_found(saved: Saved) -> None:
    shown = texts(purpose_map(saved.map))
    assert {"ST0", "ST1", "SA1", "A1"} <= set(shown)
    assert "L1MLP" in shown
    rates = [round(100 * each.mean.value) for each in saved.map.nodes if each.node in saved.map.useful]
    percents = [int(text) for text in texts(failure_map(saved.map)) if text.isdigit()]
    assert sorted(percents) == sorted(rates)
    assert "0" in texts(impact_map(saved.map))


def test_a_cloud_names_its_null(saved: Saved) -> None:
    clusters = Clusters(Variable("ST", 1), 0.9, 0.05, 0.005, 6, 3)
    cloud = Cloud(Node(4, 0, 1), clusters, np.arange(12.0).reshape(6, 2), np.array([0, 0, 1, 1, 2, 2]))
    figure = clouds_figure(saved.map, [cloud])
    assert "0.05" in figure.axes[0].get_title()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["0", "1", "U"]  # type: ignore[union-attr]


def test_tables_say_the_same_as_the_facts(saved: Saved) -> None:
    models, places, coverage, invariants = tables_of([saved])
    assert saved.test is not None
    assert [row[3] for row in models.rows] == ["10,000"] * 4
    assert {row[0] for row in places.rows} >= {"ST0", "ST1", "SA1"}
    least = {row[0]: row for row in places.rows}["SA1"]
    assert re.fullmatch(r"[01]\.\d\d \[\d\.\d\d, \d\.\d\d\]", least[4])
    assert coverage.rows[0][1] == "addition"
    assert sum(int(row[2]) for row in invariants.rows) == sum(saved.claims["required"].values())


def test_a_table_is_latex_and_markdown() -> None:
    table = Table("x", "A & B", ("a_b", "c"), (("1%", "2"),))
    assert r"a\_b & c \\" in table.latex()
    assert r"1\% & 2 \\" in table.latex()
    assert r"\caption{A \& B}" in table.latex()
    assert table.markdown().splitlines()[2:] == ["| a_b | c |", "| ---: | ---: |", "| 1% | 2 |"]


def test_a_location_without_its_null_is_refused(saved: Saved) -> None:
    roles = [replace(role, null=Rate(0, 0)) for role in saved.map.roles]
    with pytest.raises(CarryLensError, match=r"\[\d\]"):
        location_map(replace(saved, map=replace(saved.map, roles=roles)))


def applies_to_sums(outcome: Mapping[str, Any]) -> bool:
    return any(each.name == outcome["card"]["name"] and Operation.ADD in each.operations for each in EXPERIMENTS)


def test_a_comparison_says_what_is_the_same_and_what_differs(saved: Saved) -> None:
    claims = json.loads(json.dumps(saved.claims))
    lie = next(c for c in claims["claims"] if c["required"] and c["verdict"] == "SUPPORTED" and c["kind"] == "order")
    lie["verdict"] = "REFUTED"
    other = replace(saved, claims={**claims, "skeleton": "absent"})
    assert [line.what for line in differing_claims([saved, other])] == [lie["claim"]]
    assert list(differing_claims([saved, saved])) == []
    page = comparison_page([saved, other])
    assert page.count(lie["claim"]) == 1
    assert comparison_sentence([saved, other]) in page
    assert comparison_sentence([saved, other]) != comparison_sentence([saved, saved])
    assert page.count("<svg") == 2
    assert len(set(re.findall(r'id="(circuit-[^"]*)"', page))) == 4
    turned = [{**each, "verdict": "REFUTED"} for each in saved.battery]
    verdicts = {line.what: line.cells for line in experiment_lines([saved, replace(saved, battery=turned)])}
    titles = [f"experiment: {each['card']['title']}" for each in saved.battery]
    assert [what for what in verdicts if what in titles] == titles
    said = {verdicts[f"experiment: {each['card']['title']}"][1] for each in saved.battery if applies_to_sums(each)}
    assert said == {"refuted"}
    assert verdicts[f"experiment: {CARD.title}: {AT_ANSWER.asked}"] == ("most", "most")
    behind = {what: cells for what, cells in verdicts.items() if what not in titles}
    assert ("most", "most") in behind.values()
    assert all(any(what.startswith(f"{title}: ") for title in titles) for what in behind)
    lines = list(experiment_lines([saved, replace(saved, battery=[])]))
    assert {line.what for line in lines} >= set(titles)
    assert {line.cells[1] for line in lines} == {"not run", "does not apply"}
    same = comparison_page([saved, saved])
    differs = same.partition('id="differs"')[2].partition("</section>")[0]
    assert "<table" not in differs
    assert "<table" in page.partition('id="differs"')[2].partition("</section>")[0]


def test_one_model_cannot_be_compared(saved: Saved) -> None:
    with pytest.raises(CarryLensError):
        comparison_page([saved])


def test_the_command_compares_folders(explained: tuple[Path, str], tmp_path: Path) -> None:
    shutil.copytree(explained[0], tmp_path / "two")
    out = tmp_path / "page.html"
    given = [str(explained[0]), str(tmp_path / "two"), "--out", str(out), "--tables", str(tmp_path / "t")]
    result = CliRunner().invoke(app, ["compare", *given])
    assert result.exit_code == 0, result.output
    assert out.read_text().endswith("</html>")
    assert len((tmp_path / "t" / "models.md").read_text().splitlines()) == 4 + 2 * 4
    assert result.stdout.splitlines()[-1] == f"The page is {out}"
