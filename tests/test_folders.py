"""Sealed folders may keep files compressed; who reads them need not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrylens.errors import CarryLensError
from carrylens.folders import MANIFEST, add_sealed, check_sealed, is_sealed, read_sealed
from carrylens.steps import read_made

TEXT = b'{"a": 1}\n' * 1000


def test_a_compressed_file_is_read_by_its_own_name(tmp_path: Path) -> None:
    add_sealed(tmp_path, {"facts.jsonl": TEXT, "map.json": b"{}"}, zipped=("facts.jsonl",))
    assert (tmp_path / "facts.jsonl.gz").stat().st_size < len(TEXT) / 20
    assert not (tmp_path / "facts.jsonl").exists()
    assert is_sealed(tmp_path, "facts.jsonl")
    assert read_sealed(tmp_path, "facts.jsonl") == TEXT
    assert read_made(tmp_path, "facts.jsonl", "nothing") == TEXT
    assert read_made(tmp_path, "map.json", "nothing") == b"{}"
    assert read_made(tmp_path, "other", "nothing") is None
    assert set(check_sealed(tmp_path)) == {"facts.jsonl.gz", "map.json"}


def test_the_same_content_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        add_sealed(tmp_path / name, {"facts.jsonl": TEXT}, zipped=("facts.jsonl",))
    assert (tmp_path / "a/facts.jsonl.gz").read_bytes() == (tmp_path / "b/facts.jsonl.gz").read_bytes()


def test_a_folder_of_an_earlier_version_is_read_and_then_kept_compressed(tmp_path: Path) -> None:
    add_sealed(tmp_path, {"facts.jsonl": b"old"})
    assert read_sealed(tmp_path, "facts.jsonl") == b"old"
    add_sealed(tmp_path, {"facts.jsonl": TEXT}, zipped=("facts.jsonl",))
    assert read_sealed(tmp_path, "facts.jsonl") == TEXT
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["facts.jsonl.gz", MANIFEST]
    (tmp_path / "facts.jsonl").write_bytes(b"old")  # killed before the old one was dropped
    assert read_made(tmp_path, "facts.jsonl", "nothing") == TEXT
    assert read_sealed(tmp_path, "facts.jsonl") == TEXT


@pytest.mark.parametrize("harm", [lambda c: c[:-9], lambda c: c + b"x", lambda c: c[::-1], lambda c: c[:50] + c])
@pytest.mark.parametrize("sealed", [True, False])
def test_a_damaged_one_is_one_clear_line(tmp_path: Path, harm: object, sealed: bool) -> None:
    add_sealed(tmp_path, {"facts.jsonl": TEXT}, zipped=("facts.jsonl",))
    path = tmp_path / "facts.jsonl.gz"
    path.write_bytes(harm(path.read_bytes()))  # type: ignore[operator]
    if not sealed:
        (tmp_path / MANIFEST).unlink()
    with pytest.raises(CarryLensError, match=r"facts\.jsonl\.gz"):
        read_made(tmp_path, "facts.jsonl", "nothing")
