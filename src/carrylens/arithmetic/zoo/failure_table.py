"""Figures: what is known of every model, beside what the paper reports for the same shape.

Takes  the shipped folders, `published.csv` (the paper's tables) and `tried.csv` (what was trained and not shipped).
Gives  plain records: failures with exact intervals, for each operation and population.
Never  takes an interval from the paper: 22 of the 46 it prints are wrong, so all are worked out from its counts.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from carrylens.arithmetic.model_names import PUBLISHED_WIDTH, ModelName
from carrylens.arithmetic.populations import PopulationKind
from carrylens.arithmetic.zoo.exam_record import meets_bar
from carrylens.arithmetic.zoo.model_facts import history, saved_test, training_run
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.training.exam_results import PartResult

POPULATIONS = tuple(kind.value for kind in PopulationKind)
_TRIED = ("natural", "enriched")
PUBLISHED_ASKED = 1_000_000
_HERE = Path(__file__).parent

FailureRecord = dict[str, Any]


def shipped_figures() -> Iterator[FailureRecord]:
    """What is known of each shipped model."""
    for name in shipped_names():
        yield folder_figures(ModelName.parse(name), find_model(name))


def accurate_names() -> tuple[list[str], dict[str, bool | None]]:
    """The shipped models that meet the bar of their test; and the others, each with what its test says of the bar."""
    bars = {name: (saved_test(find_model(name)) or {}).get("meets_bar") for name in shipped_names()}
    return [name for name, bar in bars.items() if bar], {name: bar for name, bar in bars.items() if not bar}


def folder_figures(name: ModelName, folder: Path) -> FailureRecord:
    """What is known of the model in a folder; None where the folder does not say."""
    test, lines = saved_test(folder), history(folder)
    last = lines[-1] if lines else {}
    return {
        "model": str(name),
        "meets_bar": test["meets_bar"] if test else None,
        "steps": last.get("step"),
        "batch": training_run(folder).get("batch"),
        "seconds": last.get("seconds"),
        "loss": last.get("loss"),
        "operations": {
            operation: _operation_figures(name, operation, test["parts"] if test else [])
            for operation in (("add", "sub") if name.operation.value == "mix" else (name.operation.value,))
        },
    }


def tried_figures() -> Iterator[FailureRecord]:
    """Models that were trained and are not shipped, and what was tried."""
    for row in _rows("tried.csv"):
        counts = [PartResult(name, row["operation"], int(row["asked"]), int(row[name])) for name in _TRIED]
        populations = {result.name: _count(result.record()) for result in counts}
        yield {"model": row["model"], "operation": row["operation"], "streams": populations, "what": row["what"]}


def published_figures() -> Iterator[FailureRecord]:
    """The paper's models, each operation apart: failures among a million questions."""
    for row in _rows("published.csv"):
        for operation in ("add", "sub"):
            if row[operation]:
                count = {"asked": PUBLISHED_ASKED, "failed": int(row[operation])}
                yield {"model": row["model"], "operation": operation, "loss": float(row["loss"]), **_count(count)}


def _operation_figures(name: ModelName, operation: str, parts: Sequence[Mapping[str, Any]]) -> FailureRecord:
    mine = {part["name"]: part for part in parts if part["operation"] == operation}
    targets = [part for part in mine.values() if part["name"] not in POPULATIONS]
    weakest = max(targets, key=lambda part: part["failed"] / part["asked"], default=None)
    results = [PartResult(part["name"], operation, part["asked"], part["failed"]) for part in mine.values()]
    return {
        "meets_bar": meets_bar(results),
        "streams": {name: _count(mine[name]) if name in mine else None for name in POPULATIONS},
        "n_targets": len(targets),
        "weakest": None if weakest is None else {"name": weakest["name"], **_count(weakest)},
        "published": [
            found
            for found in published_figures()
            if found["operation"] == operation and _shape(ModelName.parse(found["model"])) == _shape(name)
        ],
    }


def _count(part: Mapping[str, Any]) -> FailureRecord:
    asked, failed = part["asked"], part["failed"]
    return {"asked": asked, "failed": failed, "interval": list(PartResult("", "", asked, failed).interval())}


def _shape(name: ModelName) -> ModelName:
    # What two models must share to be compared: all of the name but width, steps and seed.
    return replace(name, width=PUBLISHED_WIDTH, n_steps=1, seed=0, grokfast=False)


def _rows(file: str) -> list[dict[str, str]]:
    with (_HERE / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
