"""Files: reading and writing one file, which is either the new one or the old one, never half of either.

Takes  a path and bytes.
Gives  the file on disk, or an error that says why not, with what was there before unchanged; the bytes of a file; a
       lock by which one process at a time works in a folder, and an error that names who has it.
Never  leaves a draft behind, never writes through a link that leads out of the folder, and never reads what is no file,
       or is larger than LARGEST.

How a file is written:
1. Its bytes go to a new file beside its place, a draft, and are flushed to the disk.
2. The draft is renamed to the file's name, which is one step for whoever looks.
3. The folder is flushed to the disk: after a power cut the name has the new bytes, too.

A lock is the system's, on a file that says who made it: it ends with its process, however that ends. Where a file
system has no locks, there are none.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from carrylens.errors import CarryLensError, quote
from carrylens.json_records import Schema, to_text

if sys.platform != "win32":
    import fcntl

LARGEST = 1 << 32
"""Bytes: no file that carrylens writes comes near."""
DRAFT = ".part"
_LONGEST_SHOWN = 500
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW |= getattr(os, "O_BINARY", 0)
WORK = ".work.lock"
"""Held by what works in a folder for long: to train, map, run experiments, explain."""
_LOCK_MODE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS)
_PAUSE = 0.02  # seconds between two tries
_LONGEST_NOTE = 4096


def read_whole(path: Path, advice: str = "Restore it.") -> bytes:
    """The bytes of a file, or one clear line that ends in `advice`."""
    try:
        about = path.stat()  # first: to open a pipe is to wait for its other end
        if stat.S_ISDIR(about.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(about.st_mode):
            raise OSError("it is not an ordinary file")
        if about.st_size > LARGEST:
            raise OSError(f"it has {about.st_size:,} bytes, more than {LARGEST:,}")
        return path.read_bytes()
    except (OSError, ValueError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it is larger than memory"
        raise CarryLensError(f"{_shown(path)} cannot be read ({reason}). {advice}") from error


def cache_home() -> Path:
    """The user's folder for what may be made again; where there is no home, one for temporary files."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # no HOME, and no entry for the user
        return Path(tempfile.gettempdir()) / f"carrylens-{os.getuid()}"


def make_folder(folder: Path, advice: str = "Give another folder.") -> None:
    """The folder, made with those above it where they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{folder} cannot be made ({reason}). {advice}") from error


def inner_folder(folder: Path, name: str) -> Path:
    """The folder called `name` in `folder`, unless it is a link that leads out of it."""
    inner = folder / name
    if not _is_within(inner, folder):
        raise _leads_out(inner)
    return inner


def place_here(path: Path) -> Path:
    """A place within the current folder that nobody named, unless a link there leads out of it.

    The current folder may have come from somebody else, with a link that says where results are to be written.
    """
    return inner_folder(Path(), str(path))


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: whoever looks sees all of it or what was there before.

    A link to a file of the same folder stays a link. One that leads out of it is an error: a folder that came from
    somebody else may say by it that a file of the user's is to be replaced.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise CarryLensError(
            f"{str(path.resolve())!r} cannot be written: it is not an ordinary file. Give another place."
        )
    if not _is_within(path, path.parent):
        raise _leads_out(path)
    path = Path(os.path.realpath(path))
    try:
        _replace(path, content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{str(path)!r} cannot be written: {reason}. Make room, or give another place.") from error


def _replace(path: Path, content: bytes) -> None:
    draft = draft_of(path, f"p{os.getpid()}")
    for other in drafts_in(path.parent):
        if other.name.startswith(f".{path.name}.p") and is_abandoned(other):
            other.unlink(missing_ok=True)
    try:
        write_flushed(draft, content)
        if path.exists():
            with suppress(PermissionError, NotImplementedError):  # a file system without modes, or somebody else's
                draft.chmod(path.stat().st_mode)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()
    flush_folder(path.parent)


def write_flushed(path: Path, content: bytes) -> None:
    """Write a new file and wait until it is on the disk; a file or link that has its name is dropped first."""
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    descriptor = os.open(path, _NEW, 0o666)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_folder(folder: Path) -> None:
    """Wait until the names in the folder are on the disk; where folders cannot be opened (Windows) there is no need."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that has no such thing
            raise
    finally:
        os.close(descriptor)


def draft_of(path: Path, mark: str) -> Path:
    """Where the bytes of a file are while they are written; the mark tells two of them apart."""
    return path.with_name(f".{path.name}.{mark}{DRAFT}")


def drafts_in(folder: Path) -> Iterator[Path]:
    """The drafts in a folder, of work under way and of work that was killed."""
    try:
        found = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return
    for name in sorted(found):
        if name.startswith(".") and name.endswith(DRAFT) and name.count(".") > 2:
            yield folder / name


def is_abandoned(draft: Path) -> bool:
    """Whether the process that wrote this draft of one file is there no more."""
    mark = draft.name.removesuffix(DRAFT).rpartition(".")[2]
    if not (mark.startswith("p") and mark[1:].isdecimal()):
        return False
    try:
        os.kill(int(mark[1:]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # somebody else's
        return False
    return False


def _shown(path: Path) -> str:
    # In an error: as it is, unless it would fill more than a line.
    text = str(path)
    return text if len(text) <= _LONGEST_SHOWN and text.isprintable() else quote(text)


def _is_within(path: Path, folder: Path) -> bool:
    home, real = os.path.realpath(folder), os.path.realpath(path)
    return os.path.commonpath([home, real]) == home


def _leads_out(path: Path) -> CarryLensError:
    return CarryLensError(
        f"{str(path)!r} is a link that leads out of its folder, to {os.path.realpath(path)!r}. "
        "Remove the link, or give the place that it leads to."
    )


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


_HOLDER_SCHEMA = Schema(Holder, "note of who has a lock", "")


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
        descriptor = _locked_file(path)
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


def _locked_file(path: Path) -> int | None:
    # The open file that is locked; None if somebody else has it.
    descriptor = open_lock(path)
    try:
        if sys.platform != "win32":
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_still_there(path, descriptor):  # its holder removed it between the two steps
            os.close(descriptor)
            return _locked_file(path)
        if is_own_lock(descriptor):
            os.truncate(descriptor, 0)
            os.write(descriptor, to_text(Holder.here()).encode())
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            with suppress(OSError):  # a disk without room for the note
                path.unlink()
            os.close(descriptor)
            raise _lock_refused(path, error) from error
    return descriptor


def open_lock(path: Path) -> int:
    """The open file of a lock, made if it is not there; never one that a link leads to."""
    try:
        try:
            descriptor = os.open(path, _LOCK_MODE, 0o666)
        except OSError as error:
            if error.errno != errno.ELOOP:  # a link, put there by somebody else
                raise
            path.unlink()
            descriptor = os.open(path, _LOCK_MODE, 0o666)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError("it is not an ordinary file")
    except OSError as error:
        raise _lock_refused(path, error) from error
    return descriptor


def is_own_lock(descriptor: int) -> bool:
    """Whether an open lock may be written to: what has a second name may be a file of the user's."""
    return os.fstat(descriptor).st_nlink < 2


def _lock_refused(path: Path, error: OSError) -> CarryLensError:
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
            return _HOLDER_SCHEMA.decode(file.read(_LONGEST_NOTE), str(path))
    except (OSError, CarryLensError):  # gone by now, or not yet noted
        return None
