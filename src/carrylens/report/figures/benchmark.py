"""The controls in a picture: how often a stated confidence is true.

Takes  the records of the benchmark's controls.
Gives  one figure as an SVG document.
Never  draws a share without its interval.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.plain_records import Record


def control_svg(records: Sequence[Record]) -> str:
    """The share of true roles beside the stated confidence."""
    with rc_context(FIXED):
        return as_svg(control_figure(records), "Stated confidence")


def control_figure(records: Sequence[Record]) -> Figure:
    """The figure before it is written."""
    stated = [each for each in records if each["part"] == "reliability" and each["n"] and each["low"] is not None]
    figure = Figure(figsize=(4.1, 3.2), layout="constrained")
    _draw_stated(figure.subplots(), stated)
    return figure


def _draw_stated(panel: Axes, rows: Sequence[Record]) -> None:
    colour, marker, size = "#0072B2", "o", 5.5
    panel.plot([0, 1], [0, 1], color="#888888", linewidth=0.7, linestyle=":")
    for row in rows:
        low, high = row["interval"]
        below, over = max(0.0, row["share"] - low), max(0.0, high - row["share"])
        panel.errorbar(
            [row["stated"]], [row["share"]], yerr=[[below], [over]],
            color=colour, marker=marker, markersize=size, linestyle="none", elinewidth=0.9, capsize=1.5,
        )  # fmt: skip
        aside = 6 if row is rows[-1] else -6  # the two highest lie side by side
        panel.annotate(
            f"{row['n']:,}",
            (row["stated"], row["share"]),
            (aside, -3),
            textcoords="offset points",
            ha="left" if aside > 0 else "right",
            fontsize=6.5,
        )
    panel.set_xlabel("stated confidence")
    panel.set_ylabel("share of true roles, each circuit once")
    panel.set_xlim(-0.04, 1.18)
    panel.set_ylim(-0.04, 1.04)
    panel.xaxis.set_major_locator(MultipleLocator(0.25))
    panel.yaxis.set_major_locator(MultipleLocator(0.25))
    panel.grid(visible=True, linewidth=0.3)
