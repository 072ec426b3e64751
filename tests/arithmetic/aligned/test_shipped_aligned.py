"""The list of aligned models: what each was accepted with, and none that failed is left out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from carrylens.arithmetic.aligned.shipped import NOT_ACCEPTED, aligned_figures
from carrylens.arithmetic.zoo.sources import ALIGNED
from carrylens.errors import CarryLensError
from carrylens.report.terminal.aligned_models import aligned_lines, aligned_page


def test_every_folder_and_every_failure_is_listed() -> None:
    figures = aligned_figures()
    accepted = [each for each in figures if each.accepted]
    assert [each.name for each in accepted] == sorted(path.name for path in ALIGNED.iterdir() if path.is_dir())
    assert len({each.name for each in figures}) == len(figures)
    assert all(each.n_sites >= each.n_copies >= 1 for each in accepted)
    assert all(each.tried for each in figures if not each.accepted)
    for text in ("\n".join(aligned_lines(figures)), aligned_page(figures)):
        assert all(each.name in text for each in accepted)


def test_a_model_that_was_changed_is_refused_and_a_folder_without_failures_is_read(tmp_path: Path) -> None:
    first = min(path for path in ALIGNED.iterdir() if path.is_dir())
    shutil.copytree(first, tmp_path / "aligned" / first.name)
    assert [each.name for each in aligned_figures(tmp_path / "aligned")] == [first.name]
    assert aligned_figures(tmp_path / "none") == []
    (tmp_path / "aligned" / NOT_ACCEPTED).write_text('[{"name": "x"}]')
    with pytest.raises(CarryLensError, match=NOT_ACCEPTED):
        aligned_figures(tmp_path / "aligned")
    (tmp_path / "aligned" / first.name / "acceptance.json").write_text("{}")
    with pytest.raises(CarryLensError, match=r"acceptance\.json"):
        aligned_figures(tmp_path / "aligned")
