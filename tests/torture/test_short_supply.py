"""A full disk, one that fails once, and too little memory: one clear line, and the same command then ends right."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrylens.folders import add_sealed
from torture.kills import Victim
from torture.short_supply import fill_disk, starve
from torture.victims import VICTIMS


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("name", ["steps", "benchmark's results"])
def test_a_disk_without_room_is_one_line_and_loses_nothing(name: str, once: bool, tmp_path: Path) -> None:
    tally = fill_disk(VICTIMS[name], tmp_path, range(1, 70, 5), once=once)
    assert tally.wrong == []
    assert tally.refused >= 1


@pytest.mark.slow
def test_a_plant_on_a_disk_without_room_loses_nothing(tmp_path: Path) -> None:
    tally = fill_disk(VICTIMS["plant over another"], tmp_path, range(1, 24, 4))
    assert tally.wrong == []
    assert tally.refused >= 1


def _hold_much(folder: Path) -> None:
    held = bytes(2 << 30)  # more than a long process has free in its heap
    add_sealed(folder, {"a": held[:10]})


def test_too_little_memory_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    tally = starve(Victim("holding much", lambda _: None, _hold_much), tmp_path, 6)
    assert tally.wrong == []
    assert tally.refused >= 1


def _trip(folder: Path) -> None:
    try:
        add_sealed(folder, {"a": b"new"})
    except ValueError as error:
        raise KeyError("planted") from error


def _forget(folder: Path) -> None:
    if not (folder / "b").exists():  # as if a file that is there were whole
        (folder / "b").touch()
        add_sealed(folder, {"a": b"new"})


def test_a_traceback_and_a_loss_would_be_seen(tmp_path: Path) -> None:
    wrong = fill_disk(Victim("tripping", lambda _: None, _trip), tmp_path / "one", [3]).wrong
    assert any("planted" in each for each in wrong)
    wrong = fill_disk(Victim("forgetting", lambda _: None, _forget), tmp_path / "two", [5]).wrong
    assert any("other files" in each for each in wrong)
