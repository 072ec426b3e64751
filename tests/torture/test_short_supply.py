"""A full disk, one that fails once, and too little memory: one clear line, and the same command then ends right."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import time
from pathlib import Path

import pytest

from carrylens.folders import add_sealed
from torture.kills import Command, Victim
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


def _when_short(name: str, then: Command) -> Victim:
    def run(folder: Path) -> None:
        if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            faulthandler.disable()  # an abort is meant
            then(folder)
        add_sealed(folder, {"a": b"new"})

    return Victim(name, lambda _: None, run)


def _leave_and_abort(folder: Path) -> None:
    add_sealed(folder, {"b": b"left"})
    os.abort()


def _hang(_: Path) -> None:
    signal.alarm(1)
    time.sleep(60)


def test_a_library_that_ends_a_process_may_lose_nothing_and_a_hang_is_wrong(tmp_path: Path) -> None:
    ended = starve(_when_short("aborting", lambda _: os.abort()), tmp_path / "one", 2)
    assert (ended.ended, ended.wrong) == (2, [])
    assert starve(_when_short("leaving", _leave_and_abort), tmp_path / "two", 1).wrong
    assert starve(_when_short("hanging", _hang), tmp_path / "three", 1).wrong


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
