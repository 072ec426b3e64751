"""The family as a user asks for it: planted models with what was measured on them, and on others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arithmetic.battery.plants import outcome_of, planted_subject
from carrylens.arithmetic.battery.battery_folder import save_outcomes
from carrylens.arithmetic.battery.make_carry.findings import VALUES
from carrylens.arithmetic.battery.outcome import Outcome
from carrylens.arithmetic.hypotheses import left_to_right
from carrylens.arithmetic.hypotheses import one_layer as one_layer_hypothesis
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.dials import Carry, Dials, describe, one_layer
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.shipped import load
from carrylens.claims.judgement import CLAIMS, judge
from carrylens.cli import app
from carrylens.discovery.node_map import MAP
from carrylens.folders import add_sealed, check_sealed, write_sealed
from carrylens.model.weights import hash_of
from carrylens.workflow.reading import read_members
from claims.maps import SEARCHED, left_to_right_map

PLAIN, BINARY = describe(Operation.ADD, 3), describe(Operation.ADD, 3, Dials(carry=Carry.BINARY))
MADE = VALUES.asked


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """Where a planted circuit makes its carries: of three values, and of two binary ones."""
    dials = Dials(carry=Carry.BINARY)
    return {
        "plain": outcome_of("make-carry", planted_subject(Operation.ADD, 3)),
        "binary": outcome_of("make-carry", planted_subject(Operation.ADD, 3, dials)),
    }


def saved(folder: Path, circuit: CircuitDescription, *found: Outcome, sha256: str | None = None) -> str:
    plant(circuit).save(folder)
    if found:
        about = {"model": folder.name, "sha256": sha256 or hash_of(load(str(folder)))}
        save_outcomes(folder, about, list(found))
    return str(folder)


def asked(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["family", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    record: dict[str, Any] = json.loads(result.stdout)
    return record


def the_row(record: dict[str, Any], section: str, finding: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        row for row in record["rows"] if (row["section"], row["finding"]) == (section, finding)
    )
    return found


def test_planted_carries_of_both_makes_are_told_apart(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    one = saved(tmp_path / "one", PLAIN, outcomes["plain"])
    two = saved(tmp_path / "two", BINARY, outcomes["binary"])
    varies = the_row(asked(one, two), "make-carry", "verdict")
    assert varies["stands"] == "varies"
    same = the_row(asked(one, saved(tmp_path / "three", PLAIN, outcomes["plain"])), "make-carry", MADE)
    assert same["stands"] == "holds in all"
    assert [cell["word"] for cell in same["cells"].values()] == ["three values"] * 2


def test_a_battery_of_other_weights_is_not_used(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    one = saved(tmp_path / "one", PLAIN, outcomes["plain"])
    other = saved(tmp_path / "two", BINARY, outcomes["plain"], sha256=hash_of(load(one)))
    (member,) = read_members([other])
    assert not member.outcomes
    result = CliRunner().invoke(app, ["family", one, other])
    said = "".join(result.stdout.split())  # a path may be broken in two
    assert f"{other}/battery.json" in said
    assert f"carrylensbattery{other}" in said


def test_a_verdict_on_another_hypothesis_is_not_taken_for_the_models(tmp_path: Path) -> None:
    folder = Path(saved(tmp_path / "one", PLAIN))
    stimuli = {**SEARCHED, "sha256": hash_of(load(str(folder)))}
    found = replace(left_to_right_map(Operation.ADD, 3), stimuli=stimuli)
    write_sealed(folder, {MAP: found.to_json().encode()}, also=check_sealed(folder))
    usual, rival = left_to_right(Operation.ADD, 3), one_layer_hypothesis(3)
    add_sealed(folder, {CLAIMS: judge(found, rival).to_json().encode()})
    claims = read_members([str(folder)])[0].claims
    assert claims is not None
    assert (claims["hypothesis"], claims["skeleton"]) == (usual.name, "present")
    mine = judge(found, usual).record()
    mine["claims"][0]["why"] = "as judged beside the map"
    add_sealed(folder, {CLAIMS: json.dumps(mine).encode()})
    assert read_members([str(folder)])[0].claims == mine, "what was judged is read"


def test_a_battery_that_was_changed_is_refused(tmp_path: Path, outcomes: dict[str, Outcome]) -> None:
    one = Path(saved(tmp_path / "one", PLAIN, outcomes["plain"]))
    (one / "battery.json").write_text((one / "battery.json").read_text().replace("REFUTED", "SUPPORTED") + " ")
    result = CliRunner().invoke(app, ["family", str(one)])
    assert "battery.json" in str(result.exception)


def test_what_came_with_a_model_is_used_where_maps_has_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, Outcome]
) -> None:
    from carrylens.arithmetic.zoo import sources

    monkeypatch.chdir(tmp_path)
    name = str(plant(PLAIN).truth.name)
    monkeypatch.setattr(sources, "SHIPPED", tmp_path / "shipped")
    folder = Path(saved(tmp_path / "shipped" / name, PLAIN))
    assert not read_members([name])[0].outcomes
    sha256 = hash_of(load(name))
    save_outcomes(tmp_path / "made", {"model": name, "sha256": sha256}, [outcomes["plain"]])
    copied = {"battery.json": (tmp_path / "made" / "battery.json").read_bytes()}
    write_sealed(folder, copied, also=check_sealed(folder))
    (member,) = read_members([name])
    assert member.outcomes["make-carry"] == outcomes["plain"]
    save_outcomes(Path("maps") / name, {"model": name, "sha256": sha256}, [outcomes["binary"]])
    assert read_members([name])[0].outcomes["make-carry"] == outcomes["binary"]
    assert read_members([name], shipped=True)[0].outcomes["make-carry"] == outcomes["plain"]
    save_outcomes(Path("maps") / name, {"model": name, "sha256": "0" * 64}, [outcomes["binary"]])
    (member,) = read_members([name])
    assert member.outcomes["make-carry"] == outcomes["plain"]
    assert "other weights" in member.notes[0]


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    for arguments, said in (
        (["nonsense"], "'nonsense' is neither"),
        (["--json", "--markdown"], "--markdown and --json"),
    ):
        result = CliRunner().invoke(app, ["family", *arguments])
        assert said in str(result.exception)
        assert "\n" not in str(result.exception)


def test_one_layer_and_two_are_drawn_side_by_side(tmp_path: Path) -> None:
    one, two = saved(tmp_path / "one", PLAIN), saved(tmp_path / "two", one_layer(3, Dials()))
    result = CliRunner().invoke(app, ["family", one, two, "--markdown", "--svg", str(tmp_path / "f.svg")])
    assert result.exit_code == 0, result.output
    assert result.stdout.count("carrylens battery ") == 2
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")
