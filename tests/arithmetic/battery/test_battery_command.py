"""The battery as a user runs it: on a planted folder, stopped and gone on with, as text, as JSON and as figures."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arithmetic.battery.plants import SMALL, arithmetic_map, outcome_of, planted_subject, untrained_subject
from carrylens import __version__
from carrylens.arithmetic.battery import registry
from carrylens.arithmetic.battery.battery_file import BATTERY, battery_bytes, battery_record
from carrylens.arithmetic.battery.battery_folder import save_outcomes, saved_outcomes
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Experiment, Summary
from carrylens.arithmetic.battery.fresh_outcomes import run_experiments
from carrylens.arithmetic.battery.outcome import Card, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.readouts import feature_units
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo import sources
from carrylens.claims.verdicts import Verdict
from carrylens.cli import app
from carrylens.errors import CarryLensError
from carrylens.evidence.facts import FACTS, Fact, read_facts, write_facts
from carrylens.evidence.rates import Rate
from carrylens.folders import ZIPPED, check_sealed, write_sealed
from carrylens.report.figures.battery import outcome_svg
from carrylens.report.sentences.sentence_registry import sentence_of
from carrylens.report.terminal.battery import battery_summary_lines, outcome_lines
from heavy_outcomes import nothing_kept

ABOUT = {"model": "untrained", "version": "0.1.0", "sha256": "0"}


def card(name: str) -> Card:
    return Card(name, f"Title of {name}", "Is it so?", ("Look.",), "it is not", "that it is", "somewhere")


def outcome(name: str, settings: BatterySettings = SMALL) -> Outcome:
    rates = [Rate(9, 10), Rate(1, 10)]
    series = [Series.of_rates(kind.value, kind, [0, 1], rates) for kind in SeriesKind]
    fact = Fact(f"battery {name}", {"site": "here"}, rates[0], rates[1], {"seed": 1})
    figure = Figure("x", "y", tuple(series), ("a", "b"))
    return Outcome(card(name), settings.plain(), Verdict.SUPPORTED, "It is so.", (fact,), figure=figure)


def counting(name: str, calls: list[str]) -> Experiment:
    def run(context: ExperimentContext) -> Summary:
        calls.append(name)
        return Summary(outcome(name, context.settings))

    return Experiment(card(name), run)


def test_an_outcome_comes_back_from_json_as_it_was() -> None:
    assert Outcome.from_json(outcome("one").to_json()) == outcome("one")
    with pytest.raises(CarryLensError, match="outcome"):
        Outcome.from_json("{}")


def test_what_is_finished_is_not_run_again_unless_settings_differ() -> None:
    calls: list[str] = []
    subject, experiments = untrained_subject(Operation.ADD), [counting("one", calls), counting("two", calls)]
    first = list(run_experiments(ExperimentContext(subject, SMALL), experiments, [], sentence_of))
    assert list(run_experiments(ExperimentContext(subject, SMALL), experiments, first[:1], sentence_of)) == first
    assert calls == ["one", "two", "two"]
    assert (
        list(run_experiments(ExperimentContext(subject, BatterySettings(seed=7)), experiments, first, sentence_of))
        != first
    )
    assert calls[3:] == ["one", "two"]


def test_only_what_reads_the_map_is_run_again_for_another_map() -> None:
    calls: list[str] = []
    reading = replace(counting("two", calls), reads_map=True)
    subject, experiments = untrained_subject(Operation.ADD), [counting("one", calls), reading]
    first = list(run_experiments(ExperimentContext(subject, SMALL), experiments, [], sentence_of))
    mapped = replace(subject, map=arithmetic_map("untrained", Operation.ADD, (3, 2, 3)))
    list(run_experiments(ExperimentContext(mapped, SMALL), experiments, first, sentence_of))
    assert calls == ["one", "two", "two"]


@pytest.mark.parametrize(
    "experiment", [each for each in registry.EXPERIMENTS if not each.reads_map], ids=lambda each: each.name
)
def test_who_does_not_read_the_map_does_without(experiment: Experiment) -> None:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as anew:
        if experiment.name == "lenses":  # one rung of its ladder: no rung reads what others do not
            patch.setattr(feature_units, "LADDER", (0.3,))
            patch.setattr(feature_units, "FIT_SEEDS", {True: 1})
            anew.enter_context(nothing_kept())
        found = outcome_of(experiment.name, planted_subject(Operation.MIX, 2))
    assert found.verdict is not Verdict.UNTESTED
    assert found.says, "every experiment has its sentence"


def test_what_was_told_becomes_the_sentence_of_the_outcome() -> None:
    unsaid = Experiment(card("one"), lambda _: Summary(replace(outcome("one"), says=""), told=("P9L0H1", 3)))
    context = ExperimentContext(untrained_subject(Operation.ADD), SMALL)
    (found,) = run_experiments(context, [unsaid], [], lambda told: f"told {told}")
    assert found.says == "told ('P9L0H1', 3)"


def test_outcomes_are_sealed_beside_what_was_there(tmp_path: Path) -> None:
    others = [Fact("swap", {"nodes": "P1L0H0"}, Rate(1, 2), Rate(0, 2))]
    plant(describe(Operation.ADD, 1)).save(tmp_path)
    write_facts(tmp_path / FACTS, others)
    write_sealed(tmp_path, {}, also=[*check_sealed(tmp_path), FACTS])
    save_outcomes(tmp_path, ABOUT, [outcome("one")])
    save_outcomes(tmp_path, ABOUT, [outcome("one"), outcome("two")])
    assert {BATTERY, f"{FACTS}{ZIPPED}", "model.safetensors"} <= set(check_sealed(tmp_path))
    assert [fact.kind for fact in read_facts(tmp_path / FACTS)] == ["swap", "battery one", "battery two"]
    assert [each.card.name for each in saved_outcomes(tmp_path, ABOUT)] == ["one", "two"]
    assert saved_outcomes(tmp_path, {**ABOUT, "sha256": "1"}) == []


def test_the_command_keeps_what_is_finished_when_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def stopped(context: ExperimentContext) -> Summary:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "EXPERIMENTS", (counting("one", calls), Experiment(card("two"), stopped)))
    folder = tmp_path / "planted_add_d1"
    plant(describe(Operation.ADD, 1)).save(folder)
    command = ["battery", str(folder), "--quick", "--json"]
    assert CliRunner().invoke(app, command).exit_code != 0
    monkeypatch.setattr(registry, "EXPERIMENTS", (counting("one", calls), counting("two", calls)))
    result = CliRunner().invoke(app, [*command, "--figures", str(tmp_path / "figures")])
    assert result.exit_code == 0, result.output
    assert calls == ["one", "two"]
    printed = [json.loads(line) for line in result.stdout.splitlines()]
    assert [each["card"]["name"] for each in printed] == ["one", "two"]
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"one.svg", "two.svg"}


def test_an_experiment_that_is_not_there_is_refused() -> None:
    with pytest.raises(CarryLensError, match="'nonsense'"):
        experiments_called("nonsense")


def test_every_experiment_has_a_name_of_its_own_and_says_what_would_refute_it() -> None:
    names = [each.card.name for each in registry.EXPERIMENTS]
    assert len(set(names)) == len(names)
    assert all(each.card.refuted_if and each.card.method and each.card.paper for each in registry.EXPERIMENTS)
    docs = Path(__file__).parents[3] / "docs"
    page = (docs / "battery.md").read_text()
    assert [name for name in names if f"[`{name}`](battery/{name}.md)" not in page] == []
    assert [name for name in names if f"--only {name}\n" not in (docs / "battery" / f"{name}.md").read_text()] == []


def test_texts_and_figures_tell_the_verdict() -> None:
    one = outcome("one")
    amounts, first, *_ = battery_summary_lines([one])
    assert first == "one: SUPPORTED"
    assert re.findall(r"\d+", amounts)[:2] == ["24", "96"]
    assert [line for line in battery_summary_lines([one, outcome("two")]) if "form:" in line] == [amounts]
    assert any(one.card.refuted_if in line for line in outcome_lines(one))
    drawn = outcome_svg(one)
    assert drawn == outcome_svg(one)
    assert "<title>" in drawn


def test_what_came_with_a_model_is_only_printed_unless_asked_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(registry, "EXPERIMENTS", (counting("one", calls), counting("two", calls)))
    monkeypatch.setattr(sources, "SHIPPED", tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    planted = plant(describe(Operation.ADD, 1))
    name = planted.truth.name
    folder = tmp_path / "shipped" / name
    planted.save(folder)

    def run(*arguments: str) -> list[dict[str, Any]]:
        result = CliRunner().invoke(app, ["battery", name, "--quick", "--json", *arguments])
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]

    made = run()
    write_sealed(folder, {BATTERY: (Path("maps") / name / BATTERY).read_bytes()}, also=check_sealed(folder))
    shutil.rmtree("maps")
    assert run() == made
    assert calls == ["one", "two"]
    assert not (Path("maps") / name / BATTERY).exists()
    assert run("--out", "copy") == made  # who names a folder gets the outcomes there, and nothing is measured
    assert [each["card"]["name"] for each in battery_record(Path("copy", BATTERY).read_bytes())["outcomes"]] == [
        "one",
        "two",
    ]
    assert calls == ["one", "two"]
    other = run("--only", "two", "--seed", "7")
    assert (calls, other[0]["settings"]["seed"]) == (["one", "two", "two"], 7)
    kept = battery_record((Path("maps") / name / BATTERY).read_bytes())["outcomes"]
    assert [each["settings"]["seed"] for each in kept] == [0, 7]
    assert run() == made  # what came with it is still there
    assert len(calls) == 3
    run("--restart")
    assert calls[3:] == ["one", "two"]


def test_a_battery_that_came_with_other_weights_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(registry, "EXPERIMENTS", (counting("one", calls),))
    monkeypatch.setattr(sources, "SHIPPED", tmp_path / "shipped")
    monkeypatch.chdir(tmp_path)
    planted = plant(describe(Operation.ADD, 1))
    folder = tmp_path / "shipped" / planted.truth.name
    planted.save(folder)
    save_outcomes(tmp_path, {**ABOUT, "model": planted.truth.name, "version": __version__}, [outcome("one")])
    write_sealed(folder, {BATTERY: (tmp_path / BATTERY).read_bytes()}, also=check_sealed(folder))
    result = CliRunner().invoke(app, ["battery", planted.truth.name, "--quick"])
    assert result.exit_code == 0, result.output
    assert calls == ["one"]


def test_the_saved_form_loses_nothing_and_is_smaller() -> None:
    facts = [
        Fact(
            "battery one", {"site": site, "digit": digit, "nodes": ["P1L0H0"], "share": 0.5}, Rate(digit, 40), null, {}
        )
        for digit in range(40)
        for site, null in (("here", Rate(0, 40)), ("there", Rate(1, 39)))
    ]
    facts.insert(5, Fact("battery one", {"odd": None}, Rate(0, 0), Rate(0, 0), {"seed": 3}))
    whole = replace(outcome("one"), facts=tuple(facts))
    text = battery_bytes(ABOUT, [whole, outcome("two")])
    record = battery_record(text)
    assert (record["about"], record["outcomes"][0]) == (ABOUT, whole.record())
    assert [Outcome.from_record(each) for each in record["outcomes"]] == [whole, outcome("two")]
    plain = json.dumps({"about": ABOUT, "outcomes": [whole.record(), outcome("two").record()]})
    assert battery_record(plain) == record
    assert len(text) < len(plain) / 2
