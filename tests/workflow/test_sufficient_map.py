"""A model that is explained into another folder is not mapped again, and that folder needs no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from carrylens.arithmetic.planted.dials import describe
from carrylens.arithmetic.planted.planting import plant
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.zoo.model_facts import saved_test
from carrylens.arithmetic.zoo.sources import find_source
from carrylens.discovery.node_search import MapSettings
from carrylens.errors import CarryLensError
from carrylens.folders import CONFIG, WEIGHTS, add_sealed
from carrylens.model import to_transformer_lens_state
from carrylens.workflow.analysis import Analysis
from carrylens.workflow.explaining import take_along
from carrylens.workflow.known_truths import truth_of
from carrylens.workflow.mapping import sufficient_map
from report.explained import small


def test_a_map_that_came_with_the_model_suffices_wherever_the_page_goes(tmp_path: Path) -> None:
    source = find_source("add_d6_l2_h3_w96_t2K_s1")
    for out in (None, tmp_path / "out"):
        there = sufficient_map(Analysis(source, out, quick=True))
        assert there is not None
        assert there[0] == source.folder


def test_a_map_with_another_seed_does_not_suffice(tmp_path: Path) -> None:
    assert sufficient_map(Analysis(find_source("add_d6_l2_h3_w96_t2K_s1"), tmp_path, quick=True, seed=7)) is None


def test_a_map_of_a_model_that_was_called_otherwise_does_not_suffice() -> None:
    """As one is whose folder was renamed: `judge` refuses its map and says to map it, so it has to be mapped."""
    renamed = replace(find_source("add_d6_l2_h3_w96_t2K_s1"), name="renamed")
    assert sufficient_map(Analysis(renamed, quick=True)) is None


def test_a_folder_that_was_named_holds_the_model_and_needs_no_other(
    explained: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MapSettings, "chosen", classmethod(small))
    source, out = find_source(str(explained[0])), tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_text("mine")
    mapped = sufficient_map(Analysis(source, out, quick=True))
    assert mapped is not None
    take_along(Analysis(source, out, quick=True), mapped[0])
    assert (out / "README.md").read_text() == "mine", "what was there before is left"
    moved = find_source(str(out.rename(tmp_path / "moved")))
    assert (moved.sha256, moved.task.name) == (source.sha256, source.task.name)
    assert moved.load().answer("5+7") == source.load().answer("5+7")
    assert sufficient_map(Analysis(moved, quick=True)) is not None
    assert truth_of(moved) is not None
    assert (tmp_path / "moved" / "truth.json").read_bytes() == (explained[0] / "truth.json").read_bytes()
    assert saved_test(tmp_path / "moved") == saved_test(explained[0])


def test_weights_of_another_format_become_a_model_folder(tmp_path: Path) -> None:
    model = plant(describe(Operation.ADD, 2)).model
    published = tmp_path / "add_d2_l2_h3_w24_t1K_s1"
    published.mkdir()
    torch.save(to_transformer_lens_state(model), published / "model.pth")
    source = find_source(str(published))
    take_along(Analysis(source, tmp_path / "out"), tmp_path / "out")
    moved = find_source(str(tmp_path / "out"))
    assert (moved.sha256, moved.task.name) == (source.sha256, source.task.name)


def test_another_models_folder_is_refused_and_one_with_these_weights_is_not(
    explained: tuple[Path, str], tmp_path: Path
) -> None:
    source = find_source(str(explained[0]))
    plant(describe(Operation.SUB, 2)).save(tmp_path / "other")
    with pytest.raises(CarryLensError, match="other"):
        source.analysis_folder(tmp_path / "other")
    add_sealed(tmp_path / "same", {name: (explained[0] / name).read_bytes() for name in (CONFIG, WEIGHTS)})
    assert source.analysis_folder(tmp_path / "same") == tmp_path / "same"
