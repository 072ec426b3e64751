"""Store: outcomes on disk, so that long work can stop and go on.

Takes  a file, keys and records.
Gives  the records of keys it has seen.
Never  gives back half a record: what was not committed when the power went is computed again. Nor a damaged one: each
       carries the hash of itself and its key.

A key is made from the content of everything a row's outcome depends on, so a store may serve any number of runs.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from carrylens.errors import CarryLensError
from carrylens.files import read_whole, write_whole

ENDINGS = ("", "-wal", "-shm", "-journal")
"""How the names of the files end that SQLite makes of one store."""
_HASH = 8  # bytes
_AT_ONCE = 900  # keys a query, below SQLite's limit on variables
_SETTINGS = {
    "journal_mode": "WAL",
    "synchronous": "NORMAL",  # a power cut may cost the last commits, never a record
    "cache_size": -(64 << 10),  # KiB
    "wal_autocheckpoint": 20_000,  # pages: keys lie all over the file, so what is put off is written once for many
}
_MAKE = "CREATE TABLE IF NOT EXISTS outcomes (key BLOB PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID"


class Store:
    """Outcomes by key in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._named_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            for ending in ENDINGS:
                _make_own(path.with_name(f"{path.name}{ending}"))
            self._file = sqlite3.connect(path, check_same_thread=False)
            try:
                for name, value in _SETTINGS.items():
                    self._file.execute(f"PRAGMA {name} = {value}")
                self._file.execute(_MAKE)
            except sqlite3.Error:
                self._file.close()
                raise
            self._identity = _identity(path)

    def is_at(self, path: Path) -> bool:
        """Whether this is the store in that file, which is still there."""
        return path == self._path and _identity(path) == self._identity

    def known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The records of those keys that are here."""
        found: dict[bytes, bytes] = {}
        with self._named_errors():
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                rows = self._file.execute(f"SELECT key, record FROM outcomes WHERE key IN ({marks})", some)
                found.update((key, record[:-_HASH]) for key, record in rows if _is_whole(key, record))
        return found

    def is_empty(self) -> bool:
        """Whether nothing was ever put in."""
        with self._named_errors():
            return self._file.execute("SELECT 1 FROM outcomes LIMIT 1").fetchone() is None

    def add(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Put records in."""
        with self._named_errors(), self._file:
            marked = ((key, record + _hash(key, record)) for key, record in rows)
            self._file.executemany("INSERT OR REPLACE INTO outcomes VALUES (?, ?)", marked)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise CarryLensError(
                f"{self._path} cannot serve as a store of outcomes ({error}). What was committed is unharmed. "
                "Make room, or give another file."
            ) from error


def _hash(key: bytes, record: bytes) -> bytes:
    return hashlib.blake2b(record, digest_size=_HASH, key=key[:64]).digest()


def _is_whole(key: object, record: object) -> bool:
    # In a damaged file SQLite may take either for text or a number.
    return isinstance(key, bytes) and isinstance(record, bytes) and _hash(key, record[:-_HASH]) == record[-_HASH:]


def _make_own(part: Path) -> None:
    # SQLite would write to what a link leads to, and to a file that has a second name elsewhere.
    if part.is_symlink():
        part.unlink()
    elif part.is_file() and part.stat().st_nlink > 1:
        write_whole(part, read_whole(part))


def _identity(path: Path) -> tuple[int, int] | None:
    # Of the file itself, whatever its name.
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
