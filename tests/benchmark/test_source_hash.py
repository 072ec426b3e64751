"""What a result is kept under depends on the code it came from, and on no other code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import carrylens
from carrylens.benchmark.source_hash import source_hash

PACKAGE = Path(carrylens.__file__).parent
NAMES = ("benchmark.carrylens_map", "arithmetic.task")
ASK = (
    "from carrylens.benchmark.source_hash import source_hash\n"
    f"for name in {NAMES!r}: print(source_hash('carrylens.' + name))\n"
    "for text in (b'import carrylens as cl', b'from carrylens.nodes import Node'): print(source_hash(text=text))\n"
)


def hashes(source: Path) -> list[str]:
    """Those of our map, of the task, of a file that imports everything, and of one that imports nodes alone."""
    ran = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.split()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    shutil.copytree(PACKAGE, folder / "carrylens", ignore=shutil.ignore_patterns("zoo", "assets", "__pycache__"))
    return folder


@pytest.fixture(scope="module")
def before(source: Path) -> list[str]:
    return hashes(source)


@pytest.mark.parametrize(
    ("changed", "depends"),
    [
        ("discovery/roles.py", [True, False, True, False]),
        ("evidence/confidence.json", [True, False, True, False]),
        ("arithmetic/populations.py", [False, True, True, False]),
        ("report/claim_words.py", [False, False, True, False]),
        ("nodes.py", [True, False, True, True]),
    ],
)
def test_a_change_of_what_a_module_imports_is_seen_and_no_other(
    source: Path, before: list[str], changed: str, depends: list[bool]
) -> None:
    path = source / "carrylens" / changed
    content = path.read_bytes()
    try:
        path.write_bytes(content + b"\n")
        after = hashes(source)
    finally:
        path.write_bytes(content)
    assert len(before) == len(depends)
    assert [one != other for one, other in zip(before, after, strict=True)] == depends


def test_a_file_of_ones_own_counts_by_its_text() -> None:
    assert source_hash(text=b"x = 1\n") != source_hash(text=b"x = 2\n")
    assert source_hash(text=b"x = 1\n") == source_hash(text=b"x = 1\n")
    assert source_hash(__name__) == source_hash(text=Path(__file__).read_bytes()), "a module is known by its file"
