"""A kill at any call that changes the disk leaves the old state or the new, and the same command goes on from there."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from carrylens import folders
from torture.kill_walk import kill_at_every_call
from torture.kills import Victim
from torture.victims import QUICK, VICTIMS


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_kill_leaves_the_old_state_or_the_new(name: str, tmp_path: Path) -> None:
    is_long = VICTIMS[name].torch and name != "report"
    calls = range(1, 400, 4) if is_long else None  # `make torture` has all
    tally = kill_at_every_call(VICTIMS[name], tmp_path, calls)
    assert tally.wrong == []
    assert tally.kills >= 5


def test_a_seal_of_files_one_by_one_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it once was: each file takes its place, then the list of hashes does."""

    def seal(folder: Path, contents: dict[str, bytes], others: dict[str, str]) -> None:
        hashes = {**others, **{name: hashlib.sha256(each).hexdigest() for name, each in contents.items()}}
        for name, content in {**contents, "manifest.json": json.dumps({"sha256": hashes}).encode()}.items():
            (folder / f".{name}.draft").write_bytes(content)
            (folder / f".{name}.draft").replace(folder / name)

    def run(folder: Path) -> None:
        monkeypatch.setattr(folders, "seal_files", seal)
        folders.add_sealed(folder, {"a": b"new", "b": b"new"})

    victim = Victim("one by one", lambda folder: folders.write_sealed(folder, {"a": b"old", "b": b"old"}), run)
    assert any("hash differs" in each for each in kill_at_every_call(victim, tmp_path).wrong)
