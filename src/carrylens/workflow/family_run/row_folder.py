"""Row folders: the folder of one row, and who may write into it.

Takes  a folder.
Gives  a lock that one process holds at a time, and that is gone when the process is.
Never  says that work is done: the files do.

A worker that a scheduler takes for dead may be alive. The lock keeps it and the one that took its place apart: the
second waits, then finds the step done.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

from carrylens.errors import CarryLensError
from carrylens.files import is_own_lock, make_folder, open_lock

LOCK = ".lock"
_POLL_SECONDS = 0.5


@contextmanager
def held(folder: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the folder. While another process holds it, `waiting` is told who, twice a second."""
    make_folder(folder, "Make room, or give another --out.")
    descriptor = open_lock(folder / LOCK)
    try:
        while not _taken(descriptor, folder):
            waiting(os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "another process")
            sleep(_POLL_SECONDS)
        _sign(descriptor)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _taken(descriptor: int, folder: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        reason = error.strerror or str(error)
        raise CarryLensError(
            f"{folder} cannot be locked ({reason}). Give a folder on a file system that has locks with --out."
        ) from error
    return True


def _sign(descriptor: int) -> None:
    # For people; a disk that is full is no reason not to go on.
    if not is_own_lock(descriptor):
        return
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{socket.gethostname()} process {os.getpid()}\n".encode(), 0)
    except OSError:
        return
