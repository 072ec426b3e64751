"""Maps that come with models: judged by name, and the one-layer baseline fails for the right reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.shipped import SHIPPED, load, shipped_names
from carrylens.cli import app
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.model.weights import hash_of

BASELINE = "add_d5_l1_h3_w96_t5K_s1"
MAPPED = [name for name in shipped_names() if (SHIPPED / name / MAP).exists()]


def judged(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, ["judge", name, "--json"])
    assert (folder / "maps" / name / "claims.json").exists()
    record: dict[str, object] = json.loads(result.stdout)
    return record


@pytest.mark.parametrize("name", MAPPED)
def test_a_shipped_map_is_of_the_shipped_weights(name: str) -> None:
    found = NodeMap.from_json((SHIPPED / name / MAP).read_bytes(), find_task)
    assert (found.model, found.stimuli["sha256"]) == (name, hash_of(load(name)))


def test_a_map_of_an_earlier_search_is_judged_and_its_partial_roles_support_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = judged("add_d6_l2_h3_w96_t2K_s1", tmp_path, monkeypatch)
    claims = record["claims"]
    assert isinstance(claims, list)
    carried = [claim for claim in claims if claim["kind"] == "carried" and claim["evidence"]]
    for claim in carried:
        whole = any(each["hit"]["interval"][0] >= 0.9 for each in claim["evidence"])
        assert whole or claim["verdict"] != "SUPPORTED"
    assert any(claim["verdict"] == "SUPPORTED" for claim in carried)
    assert any(claim["verdict"] == "INCONCLUSIVE" for claim in carried)


def test_one_layer_has_no_room_to_resolve_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = judged(BASELINE, tmp_path, monkeypatch)
    found = record["map"]
    assert isinstance(found, dict)
    assert found["skeleton"] == "absent"
    assert record["verdict"] == "does not run"
    claims = record["claims"]
    assert isinstance(claims, list)
    refuted = [claim for claim in claims if claim["verdict"] == "REFUTED"]
    far = {f"carried ST[{k}] for A[5]" for k in (2, 1, 0)}
    assert far & {claim["claim"] for claim in refuted}, "no carry from two columns below"
    assert [claim for claim in refuted if claim["kind"] == "room"], "and there is no room for them"
