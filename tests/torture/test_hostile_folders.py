"""Folders that came from somebody else, or that somebody else works in."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from carrylens.errors import CarryLensError
from carrylens.files import draft_of, inner_folder, working, write_flushed, write_whole
from carrylens.folders import add_sealed, check_sealed, read_checked, read_sealed, settle, write_sealed
from carrylens.interventions.store import Store
from carrylens.steps import finish
from carrylens.workflow.family_run.row_folder import held

PRECIOUS = b"a file of the user's"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "precious"
    path.write_bytes(PRECIOUS)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "folder"
    write_sealed(place, {"a.json": b"old", "b.json": b"old"})
    return place


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _store(folder: Path) -> None:
    store = Store(folder / "report.html")
    store.add([(b"key", b"record")])
    store.close()


WRITERS: dict[str, Callable[[Path], object]] = {
    "a file": lambda folder: write_whole(folder / "report.html", b"new"),
    "a step": lambda folder: finish(folder, "report", {}, {"report.html": b"new"}, sealed=False),
    "a seal": lambda folder: add_sealed(folder, {"report.html": b"new"}),
    "a store": _store,
}
LINKS = ("report.html", ".report.html.{pid}.part", "steps.json", "manifest.json", "report.html-wal", ".seal.lock")


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_written_through_a_link(writer: str, link: str, folder: Path, precious: Path) -> None:
    mark = "p{pid}" if writer == "a file" else "{pid}"
    name = link.replace("{pid}", mark).format(pid=os.getpid())
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(precious)
    with contextlib.suppress(CarryLensError):
        WRITERS[writer](folder)
    assert precious.read_bytes() == PRECIOUS
    assert names(precious.parent) == ["precious"]


@pytest.mark.parametrize("name", [".seal.lock", ".work.lock", ".lock", "outcomes.sqlite", "a.json", "steps.json"])
def test_nothing_is_written_to_a_file_of_the_users_that_has_a_second_name_here(
    name: str, folder: Path, precious: Path
) -> None:
    """A hard link: an archive can hold one, and no check of where a link leads sees it."""
    with contextlib.closing(sqlite3.connect(precious.with_suffix(".sqlite"))) as file:
        file.execute("CREATE TABLE mine (a)")
    theirs = precious.with_suffix(".sqlite") if name.endswith(".sqlite") else precious
    before = theirs.read_bytes()
    (folder / name).unlink(missing_ok=True)
    (folder / name).hardlink_to(theirs)
    with contextlib.suppress(CarryLensError), working(folder), held(folder, print):
        store = Store(folder / "outcomes.sqlite")
        store.add([(b"key", b"record")])
        assert store.known([b"key"])
        store.close()
        finish(folder, "step", {}, {"a.json": b"new"})
    assert theirs.read_bytes() == before
    assert (folder / "a.json").read_bytes() == b"new"


def test_a_draft_is_never_a_link(folder: Path, precious: Path) -> None:
    draft = draft_of(folder / "a.json", "any")
    draft.symlink_to(precious)
    write_flushed(draft, b"new")
    assert not draft.is_symlink()
    assert precious.read_bytes() == PRECIOUS


def test_a_folder_inside_must_be_inside(folder: Path, precious: Path) -> None:
    (folder / "mine").symlink_to(precious.parent)
    with pytest.raises(CarryLensError, match="mine"):
        inner_folder(folder, "mine")
    (folder / "real").mkdir()
    (folder / "near").symlink_to(folder / "real")
    assert inner_folder(folder, "near") == folder / "near"


def test_readers_see_the_new_files_before_they_have_their_names(folder: Path) -> None:
    write_sealed(folder, {"a.json": b"new"}, also=["b.json"])
    (folder / "a.json").replace(draft_of(folder / "a.json", _mark(folder)))
    (folder / "a.json").write_bytes(b"old")
    folder.chmod(0o500)
    try:
        assert read_sealed(folder, "a.json") == b"new"
        assert read_checked(folder / "a.json") == (b"new", True)
        assert check_sealed(folder) == ("a.json", "b.json")
    finally:
        folder.chmod(0o700)
    settle(folder)
    assert (folder / "a.json").read_bytes() == b"new"
    assert names(folder) == ["a.json", "b.json", "manifest.json"]


def _mark(folder: Path) -> str:
    # As a draft of that file is called: by its hash.
    return f"s{hashlib.sha256((folder / 'a.json').read_bytes()).hexdigest()[:16]}"


def test_what_killed_work_left_is_swept_and_nothing_else(folder: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    litter = [f".a.json.p{gone.pid}.part", ".a.json.s0123456789abcdef.part", ".manifest.json.new.part"]
    kept = [f".b.json.p{os.getpid()}.part", ".film.part", ".film.mkv.12.part", "a.part"]
    for name in (*litter, *kept):
        (folder / name).write_bytes(b"?")
    add_sealed(folder, {"c.json": b"new"})
    assert names(folder) == sorted([*kept, "a.json", "b.json", "c.json", "manifest.json"])


HOLDER = """
import sys, time
from pathlib import Path
from carrylens.files import working
with working(Path(sys.argv[1])):
    print("in", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_told_who_works_there_and_a_kill_lets_it_in(folder: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(CarryLensError, match=str(holder.pid)), working(folder):
            pass
        holder.kill()
        holder.wait()
    with working(folder), working(folder):
        add_sealed(folder, {"c.json": b"new"})
    assert names(folder) == ["a.json", "b.json", "c.json", "manifest.json"]


SEALER = """
import sys
from pathlib import Path
from carrylens.folders import add_sealed
for at in range(20):
    add_sealed(Path(sys.argv[1]), {f"{sys.argv[2]}{at}": sys.argv[2].encode()})
"""


def test_two_processes_that_seal_in_one_folder_wait_for_each_other(folder: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", SEALER, str(folder), name]) for name in ("x", "y")]
    n_read = 0
    while any(each.poll() is None for each in both):
        check_sealed(folder)
        n_read += 1
        time.sleep(0.01)
    assert [each.wait() for each in both] == [0, 0]
    assert n_read
    assert len(check_sealed(folder)) == 42


def test_a_store_whose_key_became_text_has_no_record_of_it(folder: Path) -> None:
    path = folder / "outcomes.sqlite"
    store = Store(path)
    store.add([(b"one", b"record"), (b"other", b"record")])
    store.close()
    content = path.read_bytes()
    at = content.index(b"one") - 2  # before key and record stand their types: of 3 bytes, 18 for bytes and 19 for text
    assert content[at] == 2 * 3 + 12
    path.write_bytes(content[:at] + bytes([content[at] + 1]) + content[at + 1 :])
    store = Store(path)
    assert set(store.known([b"one", b"other"])) <= {b"other"}
    store.close()


def _work(folder: Path) -> None:
    with working(folder):
        add_sealed(folder, {"c.json": b"new"})
    write_whole(folder / "page.html", b"new")
    finish(folder, "step", {}, {"d.json": b"new"})


def test_a_network_folder_without_locks_in_which_folders_cannot_be_flushed_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def files_alone(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(fcntl, "flock", without_locks)
    monkeypatch.setattr(os, "fsync", files_alone)
    _work(folder)
    assert check_sealed(folder) == ("a.json", "b.json", "c.json", "d.json")
    assert [name for name in names(folder) if name.startswith(".")] == []


def test_a_read_only_folder_is_read_and_refused_with_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.open

    def reading(path: str, flags: int, *more: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return really(path, flags, *more)

    monkeypatch.setattr(os, "open", reading)
    assert read_sealed(folder, "a.json") == b"old"
    assert read_checked(folder / "a.json") == (b"old", True)
    settle(folder)
    for write in (_work, _seal, lambda place: write_whole(place / "page.html", b"new")):
        with pytest.raises(CarryLensError, match="folder.*Read-only"):
            write(folder)
    assert names(folder) == ["a.json", "b.json", "manifest.json"]


def _seal(folder: Path) -> None:
    add_sealed(folder, {"a.json": b"new"})


def test_a_clock_that_goes_backwards_keeps_nobody_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for now in (2e9, 1e9, 0.0):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        os.utime(folder, (now, now))
        with working(folder):
            add_sealed(folder, {"c.json": str(now).encode()})
        finish(folder, "step", {}, {"d.json": b"new"})
    assert read_sealed(folder, "c.json") == b"0.0"
