"""Results: what was computed so far, kept in a folder so that work that was stopped goes on.

Takes  a folder.
Gives  one JSON file for each piece of work, written whole; what is there already is not computed again.
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
class Results:
    """A folder of results; without one, nothing is kept."""

    folder: Path | None = None

    def once(self, name: str, about: Mapping[str, Any], compute: Callable[[], Plain]) -> Plain:
        """What is kept under the name for these very arguments, or else what `compute` gives, which is then kept."""
        if self.folder is None:
            return compute()
        path, wanted = self.folder / f"{name}.json", json.loads(json.dumps(dict(about)))
        kept = _read(path)
        if kept is not None and kept.get("about") == wanted and isinstance(kept.get("result"), dict):
            return dict(kept["result"])
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
    # A file that is damaged is as good as none: the work is done again.
    try:
        given = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return given if isinstance(given, dict) else None
