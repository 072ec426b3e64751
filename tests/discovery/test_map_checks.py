"""A map that cannot be of one model is refused, with one line that says why; one that can is read as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrylens.arithmetic.task import find_task
from carrylens.arithmetic.zoo.shipped import SHIPPED, load, shipped_names
from carrylens.discovery.node_map import MAP, NodeMap
from carrylens.discovery.saved_map import read_map
from carrylens.errors import CarryLensError
from carrylens.folders import hash_of_weights
from carrylens.model.weights import hash_of
from discovery.same_maps import assert_same, read_again

LOOK = {"place": "D7", "share": 0.5}

NAME = "add_d5_l2_h3_w96_t2K_s1"
TEXT = (SHIPPED / NAME / MAP).read_text()

Change = Callable[[dict[str, Any]], object]


def changed(change: Change) -> str:
    record: dict[str, Any] = json.loads(TEXT)
    change(record)
    return json.dumps(record)


CHANGES: dict[str, tuple[Change, str]] = {
    "digits as text": (lambda m: m.update(digits="5"), "digits"),
    "digits as a truth": (lambda m: m.update(digits=True), "digits"),
    "more digits": (lambda m: m.update(digits=6), r"\b7 outputs.*\b8\b"),
    "fewer digits": (lambda m: m.update(digits=4), "P15L0H0.*0 to 14"),
    "more digits, no tokens": (
        lambda m: m.update(digits=6, nodes=[], places=[{**each, "tokens": []} for each in m["places"]]),
        "'D4'.*add 6 digits",
    ),
    "no layers": (lambda m: m.update(n_layers=0), "n_layers"),
    "fewer layers": (lambda m: m.update(n_layers=1), "L1.*layers: 1"),
    "fewer heads": (lambda m: m.update(n_heads=2), "H2.*heads: 2"),
    "another operation": (lambda m: m.update(operation="sub"), "left-to-right sub'"),
    "a role without nodes": (lambda m: m["roles"][0].update(nodes=[]), "role 0.*nodes"),
    "a node twice": (lambda m: m["roles"][0].update(nodes=["P9L0H0", "P9L0H0"]), "role 0.*twice"),
    "a role far away": (lambda m: m["roles"][3].update(nodes=["P18L0H0"]), "role 3.*P18L0H0"),
    "a token too many": (lambda m: m["roles"][1].update(token=99), "role 1.*99.*0 to 6"),
    "a token before the first": (lambda m: m["roles"][1].update(token=-1), r"roles\[1\]\.token"),
    "a token as text": (lambda m: m["roles"][1].update(token="1"), r"roles\[1\]\.token"),
    "a digit too many": (lambda m: m["roles"][2].update(variable="ST[5]"), r"role 2.*ST\[5\]"),
    "same as what is not there": (lambda m: m["roles"][2].update(same_as=["MB[1]"]), "role 2.*MB"),
    "no chance": (lambda m: m["roles"][0].update(p=float("nan")), "JSON"),
    "too high a chance": (lambda m: m["roles"][0].update(p=2), r"roles\[0\]\.p"),
    "half a hit": (lambda m: m["roles"][0]["hit"].update(hits=0.5), r"roles\[0\]\.hit\.hits"),
    "more hits than pairs": (lambda m: m["roles"][0]["hit"].update(hits=10**6), "1000000 of"),
    "nodes out of order": (lambda m: m["roles"][0].update(nodes=["P9L0H1", "P9L0H0"]), "role 0"),
    "a key that is misspelt": (lambda m: m["roles"][0].update(wya="shift"), r"roles\[0\]\.wya"),
    "a group of nothing": (lambda m: m["groups"][0].update(sets=[]), "group 0.*sets"),
    "a group of an empty set": (lambda m: m["groups"][0].update(sets=[[]]), "group 0.*nodes"),
    "a look at nowhere": (
        lambda m: m["behaviours"][0].update(attention=[{"operation": "add", "n": 1, "looks": [LOOK]}]),
        "'D7'",
    ),
    "no roles": (lambda m: m.pop("roles"), "`roles`"),
    "stimuli as a list": (lambda m: m.update(stimuli=[]), "stimuli"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_map_that_does_not_hold_together_is_refused(name: str) -> None:
    change, why = CHANGES[name]
    with pytest.raises(CarryLensError, match=f"^the file .*{why}") as raised:
        NodeMap.from_json(changed(change), find_task, source="the file")
    assert "\n" not in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in shipped_names() if (SHIPPED / name / MAP).exists()])
def test_shipped_maps_hold_together(name: str) -> None:
    found = read_map(SHIPPED / name / MAP, find_task)
    assert_same(read_again(found), found)
    first_version = json.loads((SHIPPED / name / MAP).read_bytes())
    header = {"model", "operation", "digits", "task", "causal"}
    parts = {key: value for key, value in first_version.items() if key not in header}
    assert {key: value for key, value in found.found_parts().items() if value or key in parts} == parts


def test_the_hash_of_a_file_of_weights_is_that_of_the_model() -> None:
    assert hash_of_weights(SHIPPED / NAME / "model.safetensors") == hash_of(load(NAME))


def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CarryLensError, match=re.escape(str(tmp_path))):
        read_map(tmp_path, find_task)
    (tmp_path / MAP).write_text(TEXT)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(CarryLensError, match=r"model\.safetensors"):
        read_map(tmp_path / MAP, find_task)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(CarryLensError, match=r"manifest\.json"):
        read_map(tmp_path / MAP, find_task)
