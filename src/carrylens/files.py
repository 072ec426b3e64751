"""Files: reading and writing one file, which is either the new one or the old one, never half of either.

Takes  a path and bytes.
Gives  the file on disk, or an error that says why not, with what was there before unchanged; the bytes of a file.
Never  leaves a draft behind, and never reads what is no file, or is larger than LARGEST.
"""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from carrylens.errors import CarryLensError

LARGEST = 1 << 32
"""Bytes: no file that carrylens writes comes near."""


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
        raise CarryLensError(f"{path} cannot be read ({reason}). {advice}") from error


def cache_home() -> Path:
    """The user's folder for what may be made again; where there is no home, one for temporary files."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    try:
        return Path.home() / ".cache"
    except RuntimeError:  # no HOME, and no entry for the user
        return Path(tempfile.gettempdir()) / f"carrylens-{os.getuid()}"


def make_folder(folder: Path) -> None:
    """Make a folder and those it lies in, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CarryLensError(f"{folder} cannot be made ({error.strerror or error}). Give another folder.") from error


def write_whole(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: whoever looks sees all of it or what was there before."""
    path = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise CarryLensError(f"{str(path)!r} cannot be written: it is no ordinary file. Give another place.")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_flushed(draft, content)
        if path.exists():
            draft.chmod(path.stat().st_mode)
        draft.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CarryLensError(f"{str(path)!r} cannot be written: {reason}. Make room, or give another place.") from error
    finally:
        with suppress(OSError):
            draft.unlink()


def write_flushed(path: Path, content: bytes) -> None:
    """Write a new file and wait until it is on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
