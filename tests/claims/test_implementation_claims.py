"""The paper's claims about the implementation are counted apart, from experiments on the same weights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrylens.arithmetic.battery.battery_file import BATTERY
from carrylens.arithmetic.battery.implementation_claims import implementation_count
from carrylens.arithmetic.zoo.sources import SHIPPED
from carrylens.claims.run_verdict import verdict_of
from carrylens.discovery.alignment.joint_rates import ALIGNMENT, MeasuredAlignment
from carrylens.folders import add_sealed
from carrylens.workflow.judging import joint_judgement, judge_map

MODEL = "add_d6_l2_h3_w96_t2K_s1"


def outcome(name: str, verdict: str) -> dict[str, Any]:
    return {"card": {"name": name, "paper": f"what the paper says of {name}"}, "verdict": verdict}


def test_what_could_not_be_tested_and_what_no_paper_claims_do_not_count() -> None:
    outcomes = [
        outcome("paths", "SUPPORTED"),
        outcome("combiner", "REFUTED"),
        outcome("probes", "INCONCLUSIVE"),
        outcome("axes", "UNTESTED"),
        outcome("whole-algorithm", "SUPPORTED"),
    ]
    count = implementation_count(outcomes)
    assert count is not None
    assert (count.holds, count.fails, count.testable) == (1, 1, 3)
    assert [each.experiment for each in count.claims] == ["paths", "combiner", "probes", "axes"]
    assert implementation_count([]) is None


def copied(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    shutil.copytree(SHIPPED / MODEL, folder)
    said = json.loads((folder / BATTERY).read_bytes())
    change(said)
    add_sealed(folder, {BATTERY: json.dumps(said).encode()})
    return folder


def refute_all(said: dict[str, Any]) -> None:
    for each in said["outcomes"]:
        each["verdict"] = "REFUTED"


def test_the_verdict_is_the_same_whatever_the_experiments_found(tmp_path: Path) -> None:
    folder = copied(tmp_path / MODEL, refute_all)
    judged = joint_judgement(folder, judge_map(folder, None), usual=True)
    assert judged.implementation is not None
    assert judged.implementation.holds == 0 < judged.implementation.fails
    measured = MeasuredAlignment.from_json((SHIPPED / MODEL / ALIGNMENT).read_bytes())
    assert judged.verdict is verdict_of(measured)


@pytest.mark.parametrize("usual", [True, False])
def test_experiments_on_other_weights_or_beside_ones_own_hypothesis_are_not_counted(
    usual: bool, tmp_path: Path
) -> None:
    other = (lambda said: said["about"].update(sha256="0" * 64)) if usual else refute_all
    folder = copied(tmp_path / MODEL, other)
    assert joint_judgement(folder, judge_map(folder, None), usual=usual).implementation is None
