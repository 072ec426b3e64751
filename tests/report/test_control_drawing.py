"""The picture of the controls shows what their records say."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from carrylens.report.figures.benchmark import control_figure, control_svg

STATED = {"part": "reliability", "low": 0.9, "high": 0.97, "n": 7, "stated": 0.94, "share": 0.9, "interval": [0.5, 1.0]}
EMPTY = {"part": "reliability", "low": 0.1, "high": 0.3, "n": 0, "stated": None, "share": None, "interval": [0.0, 1.0]}
MAPPED = {**STATED, "low": None, "high": None}


def points(panel: Axes) -> list[tuple[float, float]]:
    drawn = (each.lines[0] for each in panel.containers if isinstance(each, ErrorbarContainer))
    return [(float(x), float(y)) for line in drawn for x, y in np.asarray(line.get_xydata())]


def test_bins_with_cases_are_drawn() -> None:
    (panel,) = control_figure([STATED, EMPTY, MAPPED]).axes
    assert points(panel) == [(0.94, 0.9)]


def test_the_same_records_make_the_same_file() -> None:
    assert control_svg([STATED]) == control_svg([STATED]) != control_svg([EMPTY])
