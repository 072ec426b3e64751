"""The picture of a calibration shows what its records say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from carrylens.evidence.rates import Rate
from carrylens.report.figures.benchmark import calibration_figure, calibration_svg

Plain = dict[str, Any]


def score(dial: str, method: str, true: int, found: int, both: int) -> Plain:
    roles = {"n_true": true, "n_found": found, "n_both": both}
    return {"part": "scores", "dial": dial, "method": method, "result": {"roles": roles}}


SCORES = [
    score("plain", "ours", 10, 12, 9),
    score("plain", "ours", 10, 8, 8),
    score("plain", "published", 20, 0, 0),
    score("all", "ours", 4, 5, 3),
    score("all", "published", 4, 2, 1),
]
STATED = {"part": "reliability", "low": 0.9, "high": 0.97, "n": 7, "stated": 0.94, "share": 0.9, "interval": [0.5, 1.0]}
EMPTY = {"part": "reliability", "low": 0.1, "high": 0.3, "n": 0, "stated": None, "share": None, "interval": [0.0, 1.0]}
MAPPED = {**STATED, "low": None, "high": None}


def points(panel: Axes) -> list[tuple[float, float]]:
    drawn = (each.lines[0] for each in panel.containers if isinstance(each, ErrorbarContainer))
    return [(float(x), float(y)) for line in drawn for x, y in np.asarray(line.get_xydata())]


def test_circuits_of_a_dial_are_taken_together_and_nothing_found_has_no_precision() -> None:
    recall, precision = calibration_figure(SCORES).axes
    assert sorted(x for x, _ in points(recall)) == pytest.approx([0.0, 1 / 4, 3 / 4, 17 / 20])
    assert sorted(x for x, _ in points(precision)) == pytest.approx([1 / 2, 3 / 5, 17 / 20])
    assert [label.get_text() for label in recall.get_yticklabels()] == ["plain", "all"]


def test_intervals_are_exact() -> None:
    (bar,) = calibration_figure([score("plain", "ours", 20, 20, 17)]).axes[0].containers
    assert isinstance(bar, ErrorbarContainer)
    (ends,) = bar.lines[2][0].get_segments()
    assert [x for x, _ in ends] == pytest.approx(Rate(17, 20).interval)


def test_stated_confidence_has_a_panel_if_there_are_cases_of_it() -> None:
    (panel,) = calibration_figure([STATED, EMPTY, MAPPED]).axes
    assert points(panel) == [(0.94, 0.9)]
    assert len(calibration_figure([*SCORES, STATED]).axes) == 3
    assert len(calibration_figure([*SCORES, EMPTY]).axes) == 2


def test_the_same_records_make_the_same_file() -> None:
    drawn = calibration_svg([*SCORES, STATED])
    assert calibration_svg([*SCORES, STATED]) == drawn != calibration_svg(SCORES)
