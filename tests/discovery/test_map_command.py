"""The map command, as a user runs it: on a planted folder, stopped and gone on with, as a table and as JSON."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.planted.dials import Dials, describe
from carrylens.arithmetic.planted.planting import Planted, plant
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.task import arithmetic_task, find_task
from carrylens.cli import app
from carrylens.cli.watch import Watch
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.map_folder import RESTART, STORE, drop_store, save_mapped, saved_map
from carrylens.discovery.node_map import MAP, NodeMap, Role
from carrylens.discovery.node_search import Mapped, MapSettings, map_model
from carrylens.discovery.search import RoleSettings
from carrylens.evidence.facts import FACTS, read_facts
from carrylens.evidence.rates import Rate
from carrylens.folders import ZIPPED, check_sealed
from carrylens.interventions.engine import Engine
from carrylens.model.folder import load_model
from carrylens.nodes import Node, all_nodes
from carrylens.report.terminal.map import map_text, shown_roles
from carrylens.tasks.variables import Variable
from carrylens.workflow import mapping

TASK = arithmetic_task(Operation.ADD, 1)
SMALL = MapSettings(48, 48, 16, 16, 99, roles=RoleSettings(n_find=16, n_confirm=24, n_compete=8, level=0.01))


@pytest.fixture(scope="module")
def planted() -> Planted:
    return plant(describe(Operation.ADD, 1, Dials(sharing=True)))


@pytest.fixture(scope="module")
def folder(planted: Planted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("map") / "model"
    planted.save(folder)
    return folder


class CtrlCError(Exception):
    """Somebody pressed Ctrl-C."""


def small(cls: type[MapSettings], seed: int = 0, *, quick: bool = False) -> MapSettings:
    return SMALL


@pytest.fixture(scope="module")
def made(folder: Path, planted: Planted) -> tuple[str, list[str]]:
    """The output of the command after a run that was stopped, and the stages it went through."""
    stages: list[str] = []

    def stop(what: str, done: int, total: int) -> None:
        if what == "finding roles":
            raise CtrlCError

    with pytest.raises(CtrlCError):
        map_model(planted.model, "x", TASK, SMALL, store=folder / STORE, watch=stop)
    assert (folder / STORE).exists()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MapSettings, "chosen", classmethod(small))
        patch.setattr(Watch, "stage", lambda _self, what, done, total: stages.append(f"{what} {done}/{total}"))
        result = CliRunner().invoke(app, ["map", str(folder), "--quick"])
    assert result.exit_code == 0, result.output
    return result.stdout, stages


@pytest.fixture
def found(folder: Path, made: tuple[str, list[str]]) -> NodeMap:
    return NodeMap.from_json((folder / MAP).read_text(), find_task)


def test_work_that_was_stopped_goes_on(made: tuple[str, list[str]]) -> None:
    _, stages = made
    first = next(stage for stage in stages if stage.startswith("ablating nodes "))
    done, total = first.removeprefix("ablating nodes ").split("/")
    assert done == total, "what was ablated before is not ablated again"


def test_a_map_that_was_gone_on_with_is_that_of_one_run(found: NodeMap, planted: Planted) -> None:
    config = planted.model.config
    population, seed = Population(PopulationKind.ENRICHED, Operation.ADD, 1), SMALL.seed
    asked = (population.draw(seed, 0, SMALL.n_questions), population.draw(seed, SMALL.n_questions, SMALL.n_reference))
    nodes = all_nodes(config.n_ctx - 1, config.n_layers, config.n_heads)
    assert list(found.nodes) == measure_usefulness(Engine(planted.model), nodes, *asked)


def test_the_command_maps_a_folder(made: tuple[str, list[str]], found: NodeMap, folder: Path, planted: Planted) -> None:
    text, _ = made
    assert "\x1b" not in text
    assert "L0H1" in text
    assert "SA0" in text
    assert found.useful == set(planted.truth.roles)
    assert not [*folder.glob(f"{STORE}*"), *folder.glob(RESTART)], "the work under way is gone"
    assert load_model(folder).config == planted.model.config, "the model is still sealed"
    assert {MAP, f"{FACTS}{ZIPPED}", "behaviors.json", "features.json", "truth.json"} <= set(check_sealed(folder))
    facts = read_facts(folder / FACTS)
    assert {"ablate", "ablate place", "ablate with stand-ins", "swap"} <= {fact.kind for fact in facts}
    assert all(fact.stimuli for fact in facts)


def test_what_is_there_is_printed_and_not_measured_again(
    found: NodeMap, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MapSettings, "chosen", classmethod(small))
    monkeypatch.setattr(mapping, "map_model", None)
    record = json.loads(CliRunner().invoke(app, ["map", str(folder), "--json"]).stdout)
    assert record["folder"] == str(folder.resolve())
    assert {role["variable"] for role in record["roles"]} == {str(role.variable) for role in found.roles}
    assert record["stimuli"]["settings"]["n_questions"] == SMALL.n_questions


def test_a_restart_that_was_stopped_goes_on_without_the_option_and_not_to_the_old_map(
    found: NodeMap, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(folder, tmp_path / "model")
    monkeypatch.setattr(MapSettings, "chosen", classmethod(small))
    stages: list[str] = []
    monkeypatch.setattr(Watch, "stage", lambda _self, what, done, total: stages.append(f"{what} {done}/{total}"))
    monkeypatch.setattr(Watch, "stop_wanted", lambda _self: stages[-1].startswith("finding roles"))
    command = ["map", str(tmp_path / "model")]
    result = CliRunner().invoke(app, [*command, "--restart"])
    assert "--restart" in str(result.exception)
    stages.clear()
    monkeypatch.setattr(Watch, "stop_wanted", lambda _self: stages[-1].startswith("ablating nodes"))
    result = CliRunner().invoke(app, command)
    assert result.exception is not None
    assert "--restart" not in str(result.exception)
    done, total = stages[-1].removeprefix("ablating nodes ").split("/")
    assert done == total, "what was ablated before is not ablated again"
    drop_store(tmp_path / "model")
    monkeypatch.setattr(mapping, "map_model", None)
    assert CliRunner().invoke(app, command).exit_code == 0, "with nothing under way, what is there is printed"


def test_a_pair_of_heads_has_the_role_that_neither_has(found: NodeMap) -> None:
    """Half of a shared head holds one digit; both together hold the sum."""
    pairs = {role.nodes: role.variable for role in found.roles if len(role.nodes) == 2 and role.variable.name == "ST"}
    assert pairs == {(Node(2, 0, 0), Node(2, 0, 1)): Variable("ST", 0)}
    assert Variable("ST", 0) not in {role.variable for role in found.roles if role.nodes == (Node(2, 0, 0),)}


def test_a_map_made_otherwise_is_not_taken_for_this_one(found: NodeMap, tmp_path: Path) -> None:
    about = {"sha256": "a"}
    save_mapped(tmp_path, Mapped(replace(found, stimuli={**about, "settings": SMALL.plain()}), ()))
    assert saved_map(tmp_path, SMALL, about, find_task) is not None
    assert saved_map(tmp_path, SMALL, {"sha256": "b"}, find_task) is None
    assert saved_map(tmp_path, MapSettings(), about, find_task) is None


def map_of(digits: int, *roles: Role) -> NodeMap:
    task = arithmetic_task(Operation.ADD, digits)
    return NodeMap("x", task, task.causal, 2, 3, (), roles)


def test_the_table_of_six_digits_fits_120_columns_and_wider_ones_are_folded() -> None:
    role = Role((Node(9, 0, 1),), Variable("ST", 3), 2, Rate(99, 100), Rate(1, 100), 1e-9)
    lines = map_text(map_of(6, role)).plain.splitlines()
    heading = next(line for line in lines if "D5" in line)
    assert heading.split()[-1] == "A0"
    assert max(map(len, lines)) <= 120
    row = next(line for line in lines if line.startswith("L0H1"))
    assert row.index("ST3") == heading.index("D'3")
    wide = map_text(map_of(10)).plain.splitlines()
    assert [line.split()[-1] for line in wide if " D9" in line or " A11" in line] == ["=", "A0"]


def test_of_variables_that_nothing_tells_apart_one_is_shown_and_the_others_are_named() -> None:
    one, two = Variable("ST", 0), Variable("SV", 0)
    rates = (2, Rate(9, 9), Rate(0, 9), 1e-4)
    found = map_of(2, *(Role((Node(4, 0, 0),), each, *rates, (other,)) for each, other in ((two, one), (one, two))))
    assert [variable for _, variable in shown_roles(found)] == [one]
    assert ", or SV0" in map_text(found).plain
