"""Saved results: what was computed so far, in a folder, so that a run that was stopped goes on.

Takes  a folder.
Gives  one JSON file for each result, written whole; what is there already is not computed again.
Never  takes a file for its own that was made with other arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from carrylens.errors import CarryLensError
from carrylens.files import inner_folder, read_whole, write_whole
from carrylens.json_records import Schema, to_plain, to_text

Plain = dict[str, Any]


@dataclass(frozen=True)
class SavedResults:
    """A folder of results; without one, nothing is saved."""

    folder: Path | None = None

    def once(self, name: str, about: Mapping[str, Any], compute: Callable[[], Plain]) -> Plain:
        """What was saved under the name for these very arguments, or else what `compute` gives, which is then saved."""
        if self.folder is None:
            return compute()
        path, wanted = inner_folder(self.folder, f"{name}.json"), to_plain(dict(about))
        saved = _read(path)
        if saved is not None and saved.about == wanted:
            return saved.result
        result: Plain = to_plain(compute())
        text = to_text(SavedResult(wanted, result, _hash(result)), indent=1) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            reason = error.strerror or str(error)
            raise CarryLensError(f"{path} cannot be written ({reason}). Give another folder with --out.") from error
        return result


class SavedResult(Struct, frozen=True):
    """A file of a result: the arguments it was computed from, and its own hash, by which damage is seen."""

    about: Plain
    result: Plain
    sha256: str


_SCHEMA = Schema(SavedResult, "saved result", "It is computed again.")


def _read(path: Path) -> SavedResult | None:
    # A damaged file counts as none: the result is computed again.
    try:
        saved = _SCHEMA.decode(read_whole(path), str(path))
    except CarryLensError:
        return None
    return saved if saved.sha256 == _hash(saved.result) else None


def _hash(result: Plain) -> str:
    return hashlib.sha256(to_text(result).encode()).hexdigest()
