"""The process that `carrylens` is."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

PROBE = """
import os, sys
from carrylens.__main__ import main
assert "numpy" not in sys.modules, "too late to say how many threads it has"
sys.argv = ["carrylens", "--version"]
try:
    main()
finally:
    print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)
"""


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_small_matrices_get_one_thread_unless_the_user_says_otherwise(given: dict[str, str], threads: str) -> None:
    own = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", PROBE], env=own | given, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == [f"{threads} True"], done.stderr


def test_the_script_is_that_process() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    module, _, name = project["project"]["scripts"]["carrylens"].partition(":")
    assert getattr(import_module(module), name) is import_module("carrylens.__main__").main
