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
from carrylens.arithmetic.zoo.model_facts import history, saved_bar, saved_exhaustive, saved_test, training_run
from carrylens.arithmetic.zoo.shipped import find_model, shipped_names
from carrylens.training.exam_results import PartResult

POPULATIONS = tuple(kind.value for kind in PopulationKind)
_TRIED = ("natural", "enriched")
_ANALYSES = {"map": "map.json", "alignment": "alignment.json", "experiments": "battery.json"}
PUBLISHED_ASKED = 1_000_000
_HERE = Path(__file__).parent

FailureRecord = dict[str, Any]


def shipped_figures() -> Iterator[FailureRecord]:
    """What is known of each shipped model."""
    for name in shipped_names():
        yield folder_figures(ModelName.parse(name), find_model(name))


def accurate_names() -> tuple[list[str], dict[str, bool | None]]:
    """Shipped models that meet the bar and came with a map or experiments; the others, each with what its test says.

    Among the others, those that meet the bar were not analysed yet.
    """
    bars = {name: saved_bar(find_model(name)) for name in shipped_names()}
    chosen = [name for name, bar in bars.items() if bar and _is_analysed(find_model(name))]
    return chosen, {name: bar for name, bar in bars.items() if name not in chosen}


def _is_analysed(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("map.json", "battery.json"))


def folder_figures(name: ModelName, folder: Path) -> FailureRecord:
    """What is known of the model in a folder; None where the folder does not say."""
    test, every, lines = saved_test(folder), saved_exhaustive(folder), history(folder)
    last = lines[-1] if lines else {}
    return {
        "model": str(name),
        "meets_bar": saved_bar(folder),
        "every_question": _every(every),
        "analysed": [what for what, file in _ANALYSES.items() if (folder / file).exists()],
        "steps": last.get("step"),
        "batch": training_run(folder).get("batch"),
        "seconds": last.get("seconds"),
        "loss": last.get("loss"),
        "operations": {
            operation: _operation_figures(
                name, operation, test["parts"] if test else [], every["parts"] if every else []
            )
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


def published_lines() -> dict[str, dict[str, str]]:
    """The lines of the paper's tables as printed, by model: loss, failures, heads and MLPs used, interval."""
    return {row["model"]: row for row in _rows("published.csv")}


def _operation_figures(
    name: ModelName, operation: str, parts: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]
) -> FailureRecord:
    all_of_them = _results(operation, every)
    mine = {part["name"]: part for part in parts if part["operation"] == operation}
    targets = [part for part in mine.values() if part["name"] not in POPULATIONS]
    weakest = max(targets, key=lambda part: part["failed"] / part["asked"], default=None)
    results = _results(operation, list(mine.values()))
    return {
        "meets_bar": meets_bar(results) if meets_bar(all_of_them) is None else meets_bar(all_of_them),
        "streams": {name: _count(mine[name]) if name in mine else None for name in POPULATIONS},
        "n_targets": len(targets),
        "weakest": None if weakest is None else {"name": weakest["name"], **_count(weakest)},
        "published": [
            found
            for found in published_figures()
            if found["operation"] == operation and _shape(ModelName.parse(found["model"])) == _shape(name)
        ],
    }


def _results(operation: str, parts: Sequence[Mapping[str, Any]]) -> list[PartResult]:
    mine = [part for part in parts if part["operation"] == operation]
    return [PartResult(part["name"], operation, part["asked"], part["failed"]) for part in mine]


def _every(test: Mapping[str, Any] | None) -> dict[str, list[int]] | None:
    # How many of all questions there are failed, for each operation.
    return None if test is None else {part["operation"]: [part["failed"], part["asked"]] for part in test["parts"]}


def _count(part: Mapping[str, Any]) -> FailureRecord:
    asked, failed = part["asked"], part["failed"]
    return {"asked": asked, "failed": failed, "interval": list(PartResult("", "", asked, failed).interval())}


def _shape(name: ModelName) -> ModelName:
    # What two models must share to be compared: all of the name but width, steps and seed.
    return replace(name, width=PUBLISHED_WIDTH, n_steps=1, seed=0, grokfast=False)


def _rows(file: str) -> list[dict[str, str]]:
    with (_HERE / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
