"""Files: writing one file so that it is either the new one or the old one, never half of either.

Takes  a path and bytes.
Gives  the file on disk, or an error that says why not, with what was there before unchanged.
Never  leaves a draft behind.
"""

import os
from contextlib import suppress
from pathlib import Path

from carrylens.errors import CarryLensError


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
