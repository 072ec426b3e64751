"""Likeness: which nodes carry something and how sharply, how much noise is stood, and what a table says of both."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmark.relay import CARRIERS, relay_circuit, relay_input
from benchmark.tiny import tiny_input
from carrylens.benchmark.likeness import NOISES, Likeness, LikenessModel, hit_rates, kept_under, likenesses
from carrylens.benchmark.saved_results import SavedResults
from carrylens.report.figures.likeness import likeness_figure, likeness_svg
from carrylens.report.terminal.likeness import likeness_lines


def test_the_carriers_of_a_model_worked_out_by_hand_hit_each_time_and_no_other_node_does() -> None:
    assert hit_rates(relay_input()) == dict.fromkeys(CARRIERS.values(), 1.0)


def test_random_weights_carry_nothing_as_sharply() -> None:
    given = tiny_input()
    given.model.float()
    assert all(hit < 0.9 for hit in hit_rates(given).values())


def test_a_little_noise_is_stood_and_much_is_not() -> None:
    given = relay_input()
    assert kept_under(given, NOISES[0]) == 1.0
    assert kept_under(given, 3.0) < 0.9
    with torch.no_grad():
        assert torch.equal(given.model.unembed.W_U, relay_input().model.unembed.W_U), "the model itself has no noise"


def test_tolerance_is_the_strongest_noise_before_the_first_that_changes_answers() -> None:
    kept = [1.0, 1.0, 0.5, *[1.0] * (len(NOISES) - 3)]
    assert Likeness("x", "a", [], kept).tolerance == NOISES[1]
    assert Likeness("x", "a", [], [0.0] * len(NOISES)).tolerance == 0.0
    assert Likeness("x", "a", [], [1.0] * len(NOISES)).tolerance == NOISES[-1]


def test_what_was_measured_is_found_again_and_shown(tmp_path: Path) -> None:
    models = [LikenessModel("planted", "relay", relay_circuit().build)]
    first = likenesses(models, SavedResults(tmp_path))
    kept = next(tmp_path.rglob("*.json"))
    stamp = kept.stat().st_mtime_ns
    assert likenesses(models, SavedResults(tmp_path)) == first
    assert kept.stat().st_mtime_ns == stamp
    both = [*first, Likeness("trained", "other", [0.5, 1.0], [1.0] * len(NOISES))]
    rows = likeness_lines(both, markdown=True)
    assert [row.split("|")[1].strip() for row in rows[2:]] == ["planted", "trained"]
    assert [cell.strip() for cell in rows[3].split("|")[3:7]] == ["2", "0.50", "0.50", "0.75"]
    heights = [patch.get_height() for patch in likeness_figure(both).axes[0].patches]
    assert sum(heights) == pytest.approx(1.0), "all nodes of the first sort"
    assert "<svg" in likeness_svg(both)
