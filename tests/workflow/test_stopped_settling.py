"""A settling that was stopped goes on from its last sweep, and ends with the same bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.alignment.kept_fits import KeptFits
from carrylens.json_records import to_text
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.settling import settle_source

pytestmark = pytest.mark.slow
ALIGNMENT, FITS = "alignment.json", "settling.json"


class Stop(BaseException):
    """The user pressed Ctrl-C."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The alignment of a settling that was not stopped."""
    folder = planted(tmp_path_factory.mktemp("whole"))
    settle(folder)
    assert not (folder / FITS).exists()
    return (folder / ALIGNMENT).read_bytes()


def planted(folder: Path) -> Path:
    plant(describe(Operation.ADD, 2)).save(folder / "model")
    return folder / "model"


def settle(folder: Path, stop_at: int | None = None, **how: object) -> list[str]:
    """The sweeps that it went through, in order."""
    swept = list[str]()

    def watch(what: str, done: int, _: int) -> None:
        if "sweep" in what and done == 0 and "fails" not in what:
            swept.append(what)
        if len(swept) == stop_at:
            raise Stop

    analysis = Analysis(find_source(str(folder)), quick=True, progress=watch, **how)  # type: ignore[arg-type]
    settle_source(analysis, budget=0)
    return swept


def stopped(tmp_path: Path, at: int = 4) -> Path:
    folder = planted(tmp_path)
    with pytest.raises(Stop):
        settle(folder, at)
    assert not (folder / ALIGNMENT).exists()
    return folder


def test_what_was_stopped_goes_on_and_ends_with_the_same_bytes(tmp_path: Path, whole: bytes) -> None:
    folder, every = stopped(tmp_path), settle(planted(tmp_path / "other"))
    assert settle(folder) == every[3:], "sweeps that were done are not done again"
    assert (folder / ALIGNMENT).read_bytes() == whole
    assert not (folder / FITS).exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: kept | {"about": {"sha256": "0" * 64}},
        lambda kept: kept | {"sha256": "0" * 64},
        lambda kept: [kept],
    ],
    ids=["another's", "a hash that does not fit", "a list"],
)
def test_fits_of_another_or_damaged_ones_are_not_taken(
    tmp_path: Path, whole: bytes, damage: Callable[[object], object]
) -> None:
    folder = stopped(tmp_path)
    (folder / FITS).write_text(json.dumps(damage(json.loads((folder / FITS).read_bytes()))))
    assert settle(folder)[0].startswith("aligning, sweep 1 "), "it begins anew"
    assert (folder / ALIGNMENT).read_bytes() == whole


def test_a_kill_between_the_alignment_and_the_end_leaves_nothing_for_good(
    tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = planted(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(KeptFits, "drop", dropped)
        with pytest.raises(Stop):
            settle(folder)
    assert (folder / FITS).exists()
    assert settle(folder) == [], "the alignment is there"
    assert (folder / ALIGNMENT).read_bytes() == whole
    assert not (folder / FITS).exists()


def dropped(_: KeptFits) -> None:
    raise Stop


def test_fits_that_are_made_anew_stay_when_the_saved_alignment_is_asked_for(tmp_path: Path) -> None:
    folder = planted(tmp_path)
    every = settle(folder)
    with pytest.raises(Stop):
        settle(folder, 4, restart=True)
    assert settle(folder) == []
    assert settle(folder, restart=True) == every[3:]


def test_another_seed_takes_no_sweep_of_the_first(tmp_path: Path) -> None:
    folder = stopped(tmp_path)
    assert settle(folder, seed=1)[0].startswith("aligning, sweep 1 ")


def test_a_wrong_sweep_that_was_believed_would_be_seen(tmp_path: Path, whole: bytes) -> None:
    folder = stopped(tmp_path)
    kept = json.loads((folder / FITS).read_bytes())
    for sweeps in kept["fits"].values():
        sweeps[:] = [{"held": {node: [] for node in sweeps[0]["held"]}, "ended": True}]
    kept["sha256"] = hashlib.sha256(to_text(kept["fits"]).encode()).hexdigest()
    (folder / FITS).write_text(json.dumps(kept))
    settle(folder)
    assert (folder / ALIGNMENT).read_bytes() != whole
