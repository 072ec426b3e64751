"""The room of tasks stands alone: numpy, and nothing of carrylens but errors and text values."""

import json
import subprocess
import sys

PROBE = """
import importlib, json, pkgutil, sys
import numpy
before = set(sys.modules)
import carrylens.tasks
for module in pkgutil.iter_modules(carrylens.tasks.__path__):
    importlib.import_module(f"carrylens.tasks.{module.name}")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_importing_the_room_brings_in_nothing_but_numpy_and_errors() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout)
    roots = {name.partition(".")[0] for name in found}
    assert roots - set(sys.stdlib_module_names) - {"numpy", "carrylens"} == set()
    known = (
        "carrylens.tasks",
        "carrylens.front",
    )  # the front door names its functions, and imports what they need later
    ours = {name for name in found if name.startswith("carrylens") and not name.startswith(known)}
    assert ours <= {
        "carrylens",
        "carrylens.benchmark",
        "carrylens.report",
        "carrylens.errors",
        "carrylens.progress",
        "carrylens.text_values",
    }
    assert "carrylens.tasks.pairs" in found
