"""Steps: work of several steps that is done once, and done again only where what it was made from has changed.

Takes  a folder, the name of a step, and what the step is made from.
Gives  whether its files are there, whole, and made from just that; a record of it in `steps.json`.
Never  trusts a file whose hash is another than when it was made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrylens.files import write_whole

STEPS = "steps.json"


def is_done(folder: Path, step: str, made_from: Mapping[str, Any]) -> bool:
    """Whether the step was done from just this, and its files are as it left them."""
    noted = _noted(folder).get(step)
    if not isinstance(noted, dict) or noted.get("from") != dict(made_from):
        return False
    made = noted.get("made", {})
    return bool(made) and all(hash_of_file(folder / name) == value for name, value in made.items())


def finish(folder: Path, step: str, made_from: Mapping[str, Any], contents: Mapping[str, bytes]) -> None:
    """Write the files of a step, then note what they were made from."""
    for name, content in contents.items():
        write_whole(folder / name, content)
    made = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    noted = {**_noted(folder), step: {"from": dict(made_from), "made": made}}
    write_whole(folder / STEPS, (json.dumps(noted, indent=1) + "\n").encode())


def hash_of_file(path: Path) -> str | None:
    """The SHA-256 of a file; None if it is not there."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def _noted(folder: Path) -> dict[str, Any]:
    # A record that cannot be read is no record: everything is done again.
    try:
        noted = json.loads((folder / STEPS).read_bytes())
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}
