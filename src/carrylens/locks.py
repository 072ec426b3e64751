"""Locks: one process at a time works in a folder, and the others know which.

Takes  a folder.
Gives  a lock that the system drops with its process, however that ends; an error that names who has it.
Never  stays behind: no kill and no power cut leaves a folder that nobody can enter.

The lock is on a file in the folder, which says who made it. Where a file system has no locks, there are none.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from carrylens.errors import CarryLensError, quote
from carrylens.files import make_folder
from carrylens.json_records import Schema, to_text

if sys.platform != "win32":
    import fcntl

WORK = ".work.lock"
"""Held by what works in a folder for long: to train, map, run experiments, explain."""
_MODE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS)
_PAUSE = 0.02  # seconds between two tries
_LONGEST_NOTE = 4096


class Holder(Struct, frozen=True):
    """Who has a lock."""

    pid: int
    host: str
    command: str

    @classmethod
    def here(cls) -> Holder:
        """This process."""
        words = " ".join(("carrylens" if at == 0 else word) for at, word in enumerate(sys.argv))
        return cls(os.getpid(), socket.gethostname(), words[:200])

    def __str__(self) -> str:
        where = "" if self.host == socket.gethostname() else f" on {quote(self.host)}"
        return f"process {self.pid}{where} ({quote(self.command)})"


_SCHEMA = Schema(Holder, "note of who has a lock", "")


@contextmanager
def working(folder: Path) -> Iterator[None]:
    """Have the folder for work that takes long; an error that says who has it, if another process does.

    Work within work of the same process is let in.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    make_folder(folder)
    try:
        with locked(folder / WORK, 0, again=True):
            yield
    finally:
        with suppress(OSError):  # what nothing was put into
            for each in made:
                each.rmdir()


@contextmanager
def locked(path: Path, longest: float, *, again: bool = False) -> Iterator[None]:
    """Have the lock, after waiting for it up to `longest` seconds; with `again`, also where this process has it."""
    until, descriptor = time.monotonic() + longest, None
    while descriptor is None:
        descriptor = _taken(path)
        if descriptor is not None:
            break
        holder = _holder(path)
        if again and holder is not None and (holder.pid, holder.host) == (os.getpid(), socket.gethostname()):
            break
        if time.monotonic() >= until:
            raise CarryLensError(
                f"{path.parent} is in use by {holder or 'another process'}. Wait until it is done, or stop it."
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                path.unlink()  # before it is let go: nobody else can have it yet
            os.close(descriptor)


def _taken(path: Path) -> int | None:
    # The open file that is locked; None if somebody else has it.
    descriptor = _opened(path)
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_still_there(path, descriptor):  # its holder removed it between the two steps
            os.close(descriptor)
            return _taken(path)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, to_text(Holder.here()).encode(), 0)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise _refused(path, error) from error
    return descriptor


def _opened(path: Path) -> int:
    try:
        try:
            descriptor = os.open(path, _MODE, 0o666)
        except OSError as error:
            if error.errno != errno.ELOOP:  # a link, put there by somebody else
                raise
            path.unlink()
            descriptor = os.open(path, _MODE, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("it is no ordinary file")
    except OSError as error:
        raise _refused(path, error) from error
    return descriptor


def _refused(path: Path, error: OSError) -> CarryLensError:
    reason = error.strerror or str(error)
    return CarryLensError(
        f"{path.parent} cannot be written ({path.name}: {reason}). Make room, or give another folder."
    )


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        there, mine = path.stat(), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _holder(path: Path) -> Holder | None:
    try:
        with path.open("rb") as file:
            return _SCHEMA.decode(file.read(_LONGEST_NOTE), str(path))
    except (OSError, CarryLensError):  # gone by now, or not yet noted
        return None
