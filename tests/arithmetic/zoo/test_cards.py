"""The commands on a model's card make what the card shows."""

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from carrylens import cli
from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.zoo.cards import model_card
from carrylens.arithmetic.zoo.exams import Exam
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.workflow import testing


class Asked(Exception):  # noqa: N818
    """Ends the command once it is known what it would ask."""


def parts_asked_by(command: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, int]]:
    """What the command line itself makes of the command, up to the first question."""
    found: list[Exam] = []

    def start(source: str, per_population: int, per_class: int, device: str, threads: int, of: list[str]) -> Exam:
        found.append(Exam.start(source, per_population, per_class, device, of))
        raise Asked

    monkeypatch.setattr(testing, "start_exam", start)
    program, *arguments = shlex.split(command)
    assert program == "carrylens"
    with pytest.raises(Asked):
        get_command(cli.app).main(arguments, standalone_mode=False)
    return [(part.name, part.label, part.count) for part in found[0].parts]


@pytest.mark.parametrize("name", shipped_names())
def test_the_command_on_a_card_asks_what_its_table_shows(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = find_model(name)
    test = json.loads((folder / "test.json").read_text())
    command = re.search(r"Made by `(.*?)`", model_card(ModelName.parse(name), folder, test))
    assert command is not None
    assert command[1].endswith(" --save")
    shown = [(part["name"], part["operation"], part["asked"]) for part in test["parts"]]
    assert parts_asked_by(command[1], monkeypatch) == shown


def test_another_command_asks_something_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    command = "carrylens test mix_d6_l3_h4_w96_t4K_s1 --questions 3 --per-class 0 --of enriched:sub=9 --of paper=0"
    command += " --of structured:add=0"
    assert parts_asked_by(command, monkeypatch) == [
        ("natural", "add", 3),
        ("enriched", "add", 3),
        ("natural", "sub", 3),
        ("enriched", "sub", 9),
        ("structured", "sub", 3),
    ]


@pytest.mark.parametrize(
    ("more", "command", "weights"),
    [
        ({}, "carrylens train NAME\n", False),
        ({"device": "cpu", "threads": 1}, "carrylens train NAME\n", False),
        ({"device": "cpu", "threads": 2}, "carrylens train NAME --threads 2\n", False),
        ({"device": "cuda"}, "carrylens train NAME --device cuda\n", False),
        (
            {"inserted_from": "add_x", "placement": "late", "inserted_sha256": "0123456789abcdef" * 4},
            "carrylens train NAME --insert add_x --placement late\n",
            True,
        ),
    ],
)
def test_a_card_says_on_what_a_model_was_trained_where_that_is_known(
    tmp_path: Path, more: dict[str, object], command: str, weights: bool
) -> None:
    shipped = find_model("add_d6_l2_h3_w96_t2K_s2")
    run, *lines = (shipped / "training.jsonl").read_text().splitlines()
    old = json.loads(run)["run"]
    (tmp_path / "training.jsonl").write_text("\n".join([json.dumps({"run": {**old, **more}}), *lines]))
    name = ModelName.parse("add_d6_l2_h3_w96_t2K_s2")
    card = model_card(name, tmp_path, json.loads((shipped / "test.json").read_text()))
    assert command.replace("NAME", str(name)) in card
    assert ("0123456789abcdef" in card) is weights
    assert "0123456789abcdef0" not in card
