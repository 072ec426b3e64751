"""Steps: work of several steps that is done once, and done again only where what it was made from has changed.

Takes  a folder, the name of a step, and what the step is made from.
Gives  whether its files are there, whole, and made from just that; a record of it in `steps.json`.
Never  trusts a file whose hash is another than when it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from carrylens.errors import CarryLensError
from carrylens.files import read_whole, write_whole
from carrylens.folders import MANIFEST, add_sealed, read_checked, settle
from carrylens.json_records import Schema, to_text

STEPS = "steps.json"


def is_done(folder: Path, step: str, made_from: Mapping[str, Any]) -> bool:
    """Whether the step was done from just this, and its files are as it left them."""
    noted = _noted(folder).get(step)
    if noted is None or noted.made_from != dict(made_from):
        return False
    return bool(noted.made) and all(hash_of_file(folder / name) == value for name, value in noted.made.items())


def finish(
    folder: Path, step: str, made_from: Mapping[str, Any], contents: Mapping[str, bytes], *, sealed: bool = True
) -> None:
    """Write the files of a step, then note what they were made from. What is read again is `sealed`."""
    if sealed:
        add_sealed(folder, contents)
    else:
        for name, content in contents.items():
            write_whole(folder / name, content)
    made = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    noted = {**_noted(folder), step: StepRecord(dict(made_from), made)}
    write_whole(folder / STEPS, (to_text(noted, indent=1) + "\n").encode())


def read_made(folder: Path, name: str, remedy: str) -> bytes | None:
    """A file that some command made, None if it is not there: the one way in which such files are read.

    It must be as it was made: by the folder's manifest, or by the record of the step that made it. `remedy` is the
    command that makes it again. A folder without a manifest has no seal to hold anything to.
    """
    settle(folder)
    path = folder / name
    if not path.exists():
        return None
    content, is_listed = read_checked(path, f"Write {remedy} to make it again.")
    if is_listed or not (folder / MANIFEST).exists():
        return content
    if any(step.made.get(name) == hashlib.sha256(content).hexdigest() for step in _noted(folder).values()):
        return content
    raise CarryLensError(
        f"{path} is not sealed: it was changed or put there by hand, or made by an earlier version. "
        f"Write {remedy} to make it again."
    )


def hash_of_file(path: Path) -> str | None:
    """The SHA-256 of a file; None if it is not there."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


class StepRecord(Struct, frozen=True):
    """What a step was made from, and the hash of each file it made."""

    made_from: dict[str, Any] = field(name="from")
    made: dict[str, str]

    def __post_init__(self) -> None:
        if any(Path(name).name != name for name in self.made):
            raise CarryLensError("a step made files in its own folder only")


_SCHEMA = Schema(dict[str, StepRecord], "record of steps", "Do the steps again.")


def _noted(folder: Path) -> dict[str, StepRecord]:
    # A record that cannot be read is no record: everything is done again.
    try:
        return _SCHEMA.decode(read_whole(folder / STEPS), str(folder / STEPS))
    except CarryLensError:
        return {}
