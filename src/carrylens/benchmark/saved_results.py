"""Saved results: what was computed so far, in a folder, so that a run that was stopped goes on.

Takes  a folder.
Gives  one JSON file for each result, written whole; what is there already is not computed again.
Never  takes a file for its own that was made with other arguments.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrylens.errors import CarryLensError
from carrylens.files import write_whole

Plain = dict[str, Any]


@dataclass(frozen=True)
class SavedResults:
    """A folder of results; without one, nothing is saved."""

    folder: Path | None = None

    def once(self, name: str, about: Mapping[str, Any], compute: Callable[[], Plain]) -> Plain:
        """What was saved under the name for these very arguments, or else what `compute` gives, which is then saved."""
        if self.folder is None:
            return compute()
        path, wanted = self.folder / f"{name}.json", json.loads(json.dumps(dict(about)))
        saved = _read(path)
        if saved is not None and saved.get("about") == wanted and isinstance(saved.get("result"), dict):
            return dict(saved["result"])
        result = compute()
        text = json.dumps({"about": wanted, "result": result}, indent=1) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            reason = error.strerror or str(error)
            raise CarryLensError(f"{path} cannot be written ({reason}). Give another folder with --out.") from error
        return dict(json.loads(text)["result"])


def _read(path: Path) -> Plain | None:
    # A damaged file counts as none: the result is computed again.
    try:
        given = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return given if isinstance(given, dict) else None
