"""Heavy outcomes: what takes seconds is computed once, by whichever worker comes first, and read by all.

Takes  a function, and words that say all of what its outcome depends on besides code.
Gives  the outcome, from `.pytest_cache/outcomes` if it was computed before.
Never  gives an outcome of other code: the package, what the tests share, the file of the function and the versions of
       Python, torch and NumPy are part of the key. Never keeps or reads one while a test has something patched.
"""

from __future__ import annotations

import fcntl
import hashlib
import inspect
import pickle
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from carrylens.arithmetic.battery.subject import Subject
from carrylens.files import write_whole
from carrylens.model.weights import hash_of

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "carrylens"
KEPT = TESTS.parent / ".pytest_cache" / "outcomes"
NOT_READ = ("report", "cli")
"""Rooms of the package that no outcome depends on."""
A_DAY = 24 * 60 * 60
T = TypeVar("T")


class Keeping:
    """Whether outcomes are kept: not while a test has something patched, for its outcome is of other code."""

    is_on = True


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Compute everything anew meanwhile."""
    before, Keeping.is_on = Keeping.is_on, False
    try:
        yield
    finally:
        Keeping.is_on = before


def once(make: Callable[[], T], *about: object) -> T:
    """What `make` gives, computed by one process; all others wait for it. `about` must tell any two outcomes apart."""
    return make() if not Keeping.is_on else outcomes_of_this_code().once(make, *about)


@dataclass(frozen=True)
class KeptOutcomes:
    """Outcomes of one state of the code, in a folder."""

    folder: Path

    def once(self, make: Callable[[], T], *about: object) -> T:
        """What `make` gave the first time it was asked for about this."""
        place = self.folder / _digest([repr(about).encode(), Path(inspect.getfile(make)).read_bytes()])
        with locked(place.with_suffix(".lock")):
            if not place.exists():
                write_whole(place, pickle.dumps(make()))
        kept: T = pickle.loads(place.read_bytes())
        return kept


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock that all processes share; it is given up, too, when a process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def content_of(subject: Subject) -> tuple[object, ...]:
    """All that an experiment can read of a subject."""
    inserted = subject.inserted
    before = None
    if inserted is not None:
        scratch = None if inserted.scratch is None else content_of(inserted.scratch)
        before = (inserted.name, inserted.model.config, hash_of(inserted.model), inserted.late, scratch)
    found = None if subject.map is None else subject.map.to_json()
    weights = (subject.model.config, hash_of(subject.model))
    return (inspect.getsource(type(subject)), subject.name, *weights, subject.operation, found, before)


@cache
def outcomes_of_this_code() -> KeptOutcomes:
    """Those of the code as it stands; those of other states go after a day."""
    folder = KEPT / code_digest(PACKAGE, TESTS)
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    for other in KEPT.iterdir():
        if other.stat().st_mtime < time.time() - A_DAY:
            shutil.rmtree(other, ignore_errors=True)
    return KeptOutcomes(folder)


def code_digest(package: Path, tests: Path) -> str:
    """A hash of all source that outcomes depend on, and of versions."""
    return _digest(_code(package, tests))


def _code(package: Path, tests: Path) -> Iterator[bytes]:
    yield from (part.encode() for part in (sys.version, torch.__version__, np.__version__))
    read = (path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in NOT_READ)
    shared = (path for path in tests.rglob("*.py") if not path.name.startswith("test_"))
    for path in [*sorted(read), *sorted(shared)]:
        yield str(path).encode()
        yield path.read_bytes()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:32]
