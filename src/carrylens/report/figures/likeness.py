"""Likeness in a picture: hit rates and noise tolerance of planted, aligned and trained models, one row a sort.

Takes  what was measured of each model.
Gives  one figure as an SVG document.
Never  draws counts where sorts have different numbers: every histogram is of shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from carrylens.benchmark.likeness import LEAST_HIT, NOISES, Likeness
from carrylens.report.figures.svg import FIXED, as_svg

_COLOURS = {"planted": "#0072B2", "aligned": "#009E73", "trained": "#D55E00"}
_OTHER_COLOUR = "#777777"
_BINS = np.linspace(LEAST_HIT, 1.0, 17)


def likeness_svg(found: Sequence[Likeness]) -> str:
    """The histograms side by side."""
    with rc_context(FIXED):
        return as_svg(likeness_figure(found), "Planted, aligned and trained models")


def likeness_figure(found: Sequence[Likeness]) -> Figure:
    """The figure before it is written."""
    sorts = list(dict.fromkeys(each.sort for each in found))
    figure = Figure(figsize=(7.6, 1.5 * len(sorts) + 0.6), layout="constrained")
    panels = figure.subplots(len(sorts), 2, sharex="col", squeeze=False)
    for row, sort in zip(panels, sorts, strict=True):
        some, colour = [each for each in found if each.sort == sort], _COLOURS.get(sort, _OTHER_COLOUR)
        hits = [hit for each in some for hit in each.hits]
        _draw_hits(row[0], hits, colour)
        _draw_tolerances(row[1], [each.tolerance for each in some], colour)
        row[0].set_ylabel(f"{sort}\nshare of nodes")
        row[0].set_title(f"{len(hits):,} nodes of {len(some)} models", fontsize=7.5, loc="left")
        row[1].set_ylabel("share of models")
    panels[-1][0].set_xlabel("hit rate of a node under interchange")
    panels[-1][1].set_xlabel("noise on every weight that 99% of answers stand")
    return figure


def _draw_hits(panel: Axes, hits: Sequence[float], colour: str) -> None:
    panel.hist(hits, bins=_BINS, weights=np.full(len(hits), 1 / max(1, len(hits))), color=colour)
    panel.set_ylim(0, 1)
    panel.set_xlim(LEAST_HIT, 1.0)
    panel.grid(visible=True, linewidth=0.3)


def _draw_tolerances(panel: Axes, tolerances: Sequence[float], colour: str) -> None:
    steps = [0.0, *NOISES]
    shares = [sum(each == step for each in tolerances) / max(1, len(tolerances)) for step in steps]
    panel.bar(range(len(steps)), shares, color=colour, width=0.9)
    panel.set_ylim(0, 1)
    panel.set_xticks(range(len(steps)), ["none", *(_power(noise) for noise in NOISES)])
    panel.tick_params(axis="x", labelsize=7)
    panel.grid(visible=True, axis="y", linewidth=0.3)


def _power(noise: float) -> str:
    exponent = round(2 * np.log10(noise)) / 2
    return f"1e{int(exponent)}" if exponent == int(exponent) else ""
