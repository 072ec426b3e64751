"""How right is the verdict? `cl.settle` on every model of known truth, beside the verdict that the model deserves.

    python examples/verdicts_of_known_models.py verdicts.jsonl

Models of the `test` split, each under the left-to-right hypothesis of its operation, with quick fits. It writes a line
for each model and goes on where it was stopped; at its end, and with `--table` alone, it prints the table that
docs/alignment.md shows. An hour of CPU for the whole; `--suite aligned` takes one suite.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import carrylens as cl
from carrylens.arithmetic.planted.benchmark.verdict_cases import VerdictCase, verdict_cases
from carrylens.evidence.rates import Rate

SUITES = ("aligned", "hostile", "empty")
BUDGET = 3600
"""Seconds, so that no verdict stays open only because the machine was busy."""
WORDS = ("runs", "runs in part", "does not run", "not settled")


def say(line: str) -> None:
    """One line, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def verdict_on(case: VerdictCase) -> dict[str, object]:
    """What is said of one model, and what it deserves."""
    with tempfile.TemporaryDirectory() as folder:
        said = cl.settle(case.known.model, quick=True, budget=BUDGET, out=folder, progress=False).judgement
    joint = said.joint_interchange
    return {
        "model": case.model.name,
        "suite": case.model.suite,
        "operation": case.hypothesis.name.split()[-1],
        "deserves": case.deserved.value,
        "verdict": said.verdict.value,
        "joint": None if joint is None else joint.value,
        "carriers": [said.carriers.supported, said.carriers.required],
        "deviations": [each.sentence for each in said.deviations],
        "open": [each.claim for each in said.open],
    }


def table(rows: list[dict[str, object]]) -> str:
    """The table as Markdown, then how many models that do not run the algorithm as a whole were called `runs`."""
    counts = Counter((row["suite"], row["operation"], row["deserves"], row["verdict"]) for row in rows)
    lines = ["| suite | operation | correct verdict | " + " | ".join(f"called `{word}`" for word in WORDS) + " |"]
    lines.append("|---|---|---|" + "---:|" * len(WORDS))
    for suite, operation, deserved in sorted({key[:3] for key in counts}, key=str):
        cells = " | ".join(str(counts[suite, operation, deserved, word]) for word in WORDS)
        lines.append(f"| {suite} | {operation} | {deserved} | {cells} |")
    do_not = [row for row in rows if row["deserves"] != "runs"]
    false = Rate(sum(row["verdict"] == "runs" for row in do_not), len(do_not))
    return "\n".join([*lines, "", f"False `runs`: {false} (95%)."])


def main() -> None:
    """The table, from the command line."""
    parser = argparse.ArgumentParser(description="Verdicts on models of known truth.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--table", action="store_true", help="Print the table of what is there; measure nothing.")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text().splitlines()] if given.file.exists() else []
    done = {(row["suite"], row["model"]) for row in rows}
    for case in () if given.table else verdict_cases(given.suite or SUITES):
        if (case.model.suite, case.model.name) in done or not case.hypothesis.name.startswith("left-to-right"):
            continue
        rows.append(verdict_on(case))
        with given.file.open("a") as file:
            file.write(json.dumps(rows[-1]) + "\n")
        say("{model}: {verdict}, deserves {deserves}".format_map(rows[-1]))
    say(table(rows))


if __name__ == "__main__":
    main()
