"""Circuits that the search was not built on: another route on some questions is found behind other tricks."""

from pathlib import Path
from typing import Any

import pytest

import carrylens as cl
from carrylens.claims.verdicts import RunVerdict

pytestmark = pytest.mark.slow

CIRCUITS: dict[str, dict[str, Any]] = {
    "a gate with backup heads": {"gate": 0.3, "backup": True},
    "a gate with split and cancelling heads": {"gate": 0.2, "split": True, "cancel": True},
}


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_gate_is_found_behind_other_tricks(name: str, tmp_path: Path) -> None:
    model = cl.plant("add", 3, **CIRCUITS[name]).model
    found = cl.settle(model, quick=True, out=tmp_path, progress=False).judgement
    assert found.verdict is RunVerdict.IN_PART
    assert any("D[2] <=" in each.sentence for each in found.deviations), "it says where"
