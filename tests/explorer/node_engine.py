"""The page's engine under node, for tests: one data file, many cases, their results."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from carrylens.explorer.page import ENGINE, script

RUNNER = Path(__file__).parent / "run_cases.mjs"


def run_cases(data: dict[str, Any], cases: Sequence[dict[str, Any]]) -> list[Any]:
    """What the engine makes of each case; the test is skipped where there is no node."""
    if shutil.which("node") is None:
        pytest.skip("No node, so the page's engine was not run. Write apt-get install nodejs.")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("engine.js", "data.json", "cases.json")]
        for path, text in zip(paths, (script(ENGINE, "engine"), json.dumps(data), json.dumps(cases)), strict=True):
            path.write_text(text)
        done = subprocess.run(["node", RUNNER, *paths], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))
