"""Files: reading and writing one file, which is either the new one or the old one, never half of either.

Takes  a path and bytes.
Gives  the file on disk, or an error that says why not, with what was there before unchanged; the bytes of a file.
Never  leaves a draft behind, never writes through a link that leads out of the folder, and never reads what is no file,
       or is larger than LARGEST.

How a file is written:
1. Its bytes go to a new file beside its place, a draft, and are flushed to the disk.
2. The draft is renamed to the file's name, which is one step for whoever looks.
3. The folder is flushed to the disk: after a power cut the name has the new bytes, too.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from carrylens.errors import CarryLensError, quote

LARGEST = 1 << 32
"""Bytes: no file that carrylens writes comes near."""
DRAFT = ".part"
_LONGEST_SHOWN = 500
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW |= getattr(os, "O_BINARY", 0)


def read_whole(path: Path, advice: str = "Restore it.") -> bytes:
    """The bytes of a file, or one clear line that ends in `advice`."""
    try:
        about = path.stat()  # first: to open a pipe is to wait for its other end
        if stat.S_ISDIR(about.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(about.st_mode):
            raise OSError("it is no ordinary file")
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


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: whoever looks sees all of it or what was there before.

    A link to a file of the same folder stays a link. One that leads out of it is an error: a folder that came from
    somebody else may say by it that a file of the user's is to be replaced.
    """
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise CarryLensError(f"{str(path)!r} cannot be written: it is no ordinary file. Give another place.")
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
