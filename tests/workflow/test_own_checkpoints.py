"""A checkpoint of one's own, in every format, from the file to a map, a verdict, an explorer and a page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from carrylens.arithmetic import Operation
from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.cli import app
from carrylens.model import Transformer, to_transformer_lens_state
from model.foreign_states import State, as_bridge, random_gpt2

DIGITS, POSITIONS, TOKENS = 1, 7, 15


def planted() -> Transformer:
    return plant(describe(Operation.ADD, DIGITS)).model


def gpt2() -> State:
    found = random_gpt2(n_layers=1, width=8, n_ctx=POSITIONS, n_tokens=TOKENS)
    return {name: tensor.float() for name, tensor in found.items()}


FORMATS: dict[str, tuple[Callable[[], State], tuple[str, ...]]] = {
    "TransformerLens 2": (lambda: to_transformer_lens_state(planted()), ()),
    "TransformerLens 4": (lambda: as_bridge(planted()), ("--heads", str(planted().config.n_heads))),
    "plain state dict": (lambda: dict(planted().state_dict()), ()),
    "GPT-2": (gpt2, ("--heads", "2")),
}


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*words], catch_exceptions=True)
    assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
    return result.exit_code, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_checkpoint_goes_all_the_way_without_being_renamed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    make, options = FORMATS[name]
    adds = name != "GPT-2"  # whose weights are random
    torch.save(make(), "my.pt")
    assert run("import", "my.pt", "--digits", str(DIGITS), *options)[0] == 0
    mine = "models/my"
    assert run("ask", mine, "4+5")[0] == (0 if adds else 1)
    assert run("test", mine, "--questions", "200", "--per-class", "10", "--threads", "1")[0] == (0 if adds else 1)
    assert run("map", mine, "--quick", "--no-groups", "--no-pairs", "--threads", "1")[0] == 0
    settled, text = run("settle", mine, "--quick", "--budget", "0", "--json")
    verdict, left_open = json.loads(text)["verdict"], json.loads(text)["open"]
    assert (verdict == "runs") == (settled == 0)
    assert adds or verdict == "does not run"
    judged, text = run("judge", mine, "--json")
    assert (judged, json.loads(text)["verdict"]) == (settled, verdict)
    assert {each["settled_by"].split()[2] for each in (*left_open, *json.loads(text)["open"])} <= {mine}
    assert run("explore", mine)[0] == run("report", mine)[0] == 0
    there = {path.name for path in Path(mine).iterdir()}
    assert there >= {"test.json", "map.json", "alignment.json", "claims.json", "explore.html", "report.html"}
    assert run("compare", mine, mine)[0] == 0
