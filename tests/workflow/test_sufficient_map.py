"""A shipped model that is explained into another folder is not mapped again: it came with a map."""

from __future__ import annotations

from pathlib import Path

from carrylens.arithmetic.zoo.sources import find_source
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.mapping import sufficient_map


def test_a_map_that_came_with_the_model_suffices_wherever_the_page_goes(tmp_path: Path) -> None:
    source = find_source("add_d6_l2_h3_w96_t2K_s1")
    for out in (None, tmp_path / "out"):
        there = sufficient_map(Analysis(source, out, quick=True))
        assert there is not None
        assert there[0] == source.folder


def test_a_map_with_another_seed_does_not_suffice(tmp_path: Path) -> None:
    assert sufficient_map(Analysis(find_source("add_d6_l2_h3_w96_t2K_s1"), tmp_path, quick=True, seed=7)) is None
