"""Model facts: what a model is meant to do, and what is known of it, from its folder.

Takes  a model's name or folder.
Gives  its parsed name, its losses and its test, where they were saved.
Never  runs the model.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from carrylens.arithmetic.model_names import ModelName
from carrylens.errors import CarryLensError
from carrylens.model.hub import HUB

HISTORY, TEST, CARD, TRUTH = "training.jsonl", "test.json", "README.md", "truth.json"
_PUBLISHED_PREFIX = "QuantaMaths_"


def model_name(source: str | Path) -> ModelName:
    """The name of the model in a folder or repository: of what was trained or planted there, or else the folder's."""
    recorded = None if str(source).startswith(HUB) else training_run(Path(source)).get("name") or _planted(Path(source))
    text = str(recorded or Path(str(source)).resolve().name).removeprefix(_PUBLISHED_PREFIX)
    try:
        return ModelName.parse(text)
    except CarryLensError as error:
        raise CarryLensError(
            f"{str(source)!r} does not say whether its model adds or subtracts. "
            "Call the folder as the model is called, such as add_d6_l2_h3_w96_t2K_s1."
        ) from error


def training_run(folder: Path) -> dict[str, Any]:
    """How the model was trained, if it was trained here; the first line of its history."""
    lines = history(folder)
    run = lines[0].get("run") if lines else None
    return run if isinstance(run, dict) else {}


def _planted(folder: Path) -> str | None:
    # The name that the truth about a planted model gives it.
    path = folder / TRUTH
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["model"]) if path.exists() else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CarryLensError(f"{path} states no truth ({error}). Restore it, or plant the model again.") from error


def history(folder: Path) -> list[dict[str, Any]]:
    """The lines of the training history: how it was trained, then losses by step."""
    path = folder / HISTORY
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    except (OSError, ValueError) as error:
        raise CarryLensError(f"{path} is no training history ({error}). Restore it, or train again.") from error


def saved_test(folder: Path) -> dict[str, Any] | None:
    """The test that was saved in the folder, if there is one."""
    path = folder / TEST
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None
    except (OSError, ValueError) as error:
        raise CarryLensError(f"{path} is no saved test ({error}). Test the model again with --save.") from error
