"""Files are whole or not there."""

import errno
import os
import re
from pathlib import Path

import pytest

from carrylens.errors import CarryLensError
from carrylens.files import write_whole


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("carrylens.files.os.fsync", full)
    with pytest.raises(CarryLensError, match=os.strerror(errno.ENOSPC)):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_the_mode_is_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_device_is_not_replaced() -> None:
    with pytest.raises(CarryLensError, match="/dev/null"):
        write_whole(Path("/dev/null"), b"new")


def test_a_folder_in_the_way_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=re.escape(str(tmp_path))):
        write_whole(tmp_path, b"new")
