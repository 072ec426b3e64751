"""The explorer's benchmark times a page that answers right, and says when it does not."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from carrylens.bench import explorer
from carrylens.cli import app
from carrylens.errors import CarryLensError

MODEL = "add_d5_l1_h3_w96_t5K_s1"


@pytest.mark.slow
def test_it_times_loading_passes_and_ablations_wherever_it_can() -> None:
    if shutil.which("node") is None:
        pytest.skip("No node, so the page's engine was not timed. Write apt-get install nodejs.")
    result = CliRunner().invoke(app, ["bench", "explore", MODEL, "--rounds", "1", "--json"])
    assert result.exit_code == 0, result.output
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert records[0]["where"] == "node"
    for record in records:
        assert record["agrees"]
        assert record["n_nodes"] == 28
        assert min(record[name]["cpu"] for name in ("load", "forward", "ablations")) > 0
        assert (record["opened"] is None) == (record["where"] == "node")


def test_without_node_and_browser_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer.shutil, "which", lambda _: None)  # type: ignore[attr-defined]
    result = CliRunner().invoke(app, ["bench", "explore", MODEL])
    assert isinstance(result.exception, CarryLensError)


def test_a_page_that_answers_otherwise_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = explorer.TimeSpent(1.0, 1.0)
    wrong = explorer.ExplorerBench(MODEL, "node", 1.0, taken, taken, taken, 28, None, None, agrees=False)
    monkeypatch.setattr(explorer, "bench_explorer", lambda *_: iter([wrong]))
    result = CliRunner().invoke(app, ["bench", "explore", MODEL])
    assert result.exit_code == 1
    assert "NOT" in result.output
