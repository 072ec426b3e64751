import json
import subprocess
import sys

PROBE = """
import json, sys
import numpy
before = set(sys.modules)
import carrylens.arithmetic
import carrylens.arithmetic.frequencies, carrylens.arithmetic.proof
print(json.dumps({"before": sorted(before), "after": sorted(set(sys.modules) - before)}))
"""


def fresh_import() -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", PROBE], check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout)
    assert done.stderr == ""
    return found


def test_importing_the_room_brings_in_nothing_but_numpy_and_the_standard_library() -> None:
    found = fresh_import()["after"]
    assert isinstance(found, list)
    roots = {name.partition(".")[0] for name in found}
    assert "carrylens" in roots
    assert roots - set(sys.stdlib_module_names) - {"numpy", "carrylens"} == set()
    rooms = {
        name.split(".")[1] for name in found if name.count(".") > 1
    }  # the packages that the front door names are empty
    assert not rooms & {"model", "training", "report", "cli", "workflow", "bench"}
    own = ("carrylens.arithmetic", "carrylens.tasks", "carrylens.front")
    assert {name for name in found if name.startswith("carrylens") and not name.startswith(own)} <= {
        "carrylens",
        "carrylens.benchmark",  # the package itself, which the front door names; none of its modules
        "carrylens.report",
        "carrylens.errors",
        "carrylens.progress",
        "carrylens.text_values",
    }
