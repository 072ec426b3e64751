"""Every model that comes with carrylens goes through every command; `make torture` runs all of them on all."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrylens.arithmetic.model_names import ModelName
from carrylens.arithmetic.zoo.sources import shipped_names
from torture.shipped_commands import QUICK, commands, run_commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_names())
def test_quick_commands_work_on_every_shipped_model(folder: Path, name: str) -> None:
    assert run_commands(name, folder, QUICK) == []


@pytest.mark.slow
def test_every_command_works_on_a_model_of_one_layer(folder: Path) -> None:
    assert run_commands("add_d5_l1_h3_w96_t5K_s1", folder) == []


@pytest.mark.slow
def test_every_command_works_on_a_model_that_ships_without_a_map(folder: Path) -> None:
    (name,) = [each for each in shipped_names() if "map" in commands(each) and ModelName.parse(each).digits == 3]
    assert run_commands(name, folder) == []


def test_a_command_that_fails_is_seen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torture.shipped_commands.commands", lambda _: {"judge": ["judge", "no-such-model"]})
    assert run_commands("add_d5_l1_h3_w96_t5K_s1", folder)
