"""The benchmark in a picture: how right each method is on every dial, and how often a stated confidence is true.

Takes  the records of a benchmark.
Gives  one figure as an SVG document.
Never  draws a share without its interval.

Colours and markers are those of `figures/battery.py`: people of every colour vision tell them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from carrylens.evidence.rates import Rate
from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.plain_records import Record

_STYLES = {
    "ours": ("#0072B2", "o", 5.5),
    "published": ("#D55E00", "s", 3.5),
    "attention": ("#E69F00", "^", 3.5),
    "probe": ("#009E73", "D", 3.5),
    "attribution": ("#CC79A7", "v", 3.5),
}
_OTHER_STYLE = ("#555555", "x", 3.5)  # a method of the user's own
_WHOLE = {"recall": "n_true", "precision": "n_found"}


def calibration_svg(records: Sequence[Record]) -> str:
    """Recall and precision by role on every dial, and the share of true roles beside the stated confidence."""
    with rc_context(FIXED):
        return as_svg(calibration_figure(records), "Recall and precision by dial, and stated confidence")


def calibration_figure(records: Sequence[Record]) -> Figure:
    """The figure before it is written; what there are no records of has no panel."""
    scores = [record for record in records if record["part"] == "scores" and "dial" in record]
    stated = [each for each in records if each["part"] == "reliability" and each["n"] and each["low"] is not None]
    dials = list(dict.fromkeys(str(record["dial"]) for record in scores))
    shares = list(_WHOLE) if scores else []
    widths = [2.6] * len(shares) + [2.9] * bool(stated)
    figure = Figure(figsize=(sum(widths) + 1.2, max(3.2, 0.34 * len(dials) + 1.3)), layout="constrained")
    panels = list(figure.subplots(1, max(1, len(widths)), width_ratios=widths or [1], squeeze=False)[0])
    for panel, share in zip(panels, shares, strict=False):
        _draw_shares(panel, share, dials, scores)
    if shares:
        panels[0].set_yticks(range(len(dials)), dials)
        named = panels[0].get_legend_handles_labels()
        figure.legend(*named, loc="outside upper center", ncols=len(_STYLES), frameon=False, fontsize=8)
    if stated:
        _draw_stated(panels[-1], stated)
    return figure


def _draw_shares(panel: Axes, share: str, dials: Sequence[str], scores: Sequence[Record]) -> None:
    drawn_methods = dict.fromkeys(record["method"] for record in scores)
    methods = sorted(drawn_methods, key=lambda each: list(_STYLES).index(each) if each in _STYLES else len(_STYLES))
    for order, method in enumerate(methods):
        colour, marker, size = _STYLES.get(method, _OTHER_STYLE)
        rates = [_rate(scores, dial, method, _WHOLE[share]) for dial in dials]
        drawn = [row for row, rate in enumerate(rates) if rate.n]
        for row in drawn:
            rate, (low, high) = rates[row], rates[row].interval
            panel.errorbar(
                [rate.value],
                [row + 0.15 * (order - (len(methods) - 1) / 2)],
                xerr=[[rate.value - low], [high - rate.value]],
                color=colour,
                marker=marker,
                markersize=size,
                linestyle="none",
                elinewidth=0.7,
                label=method if row == drawn[0] else None,
                zorder=3 if method == "ours" else 2,
            )
    for row in range(0, len(dials), 2):
        panel.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", zorder=0)
    panel.set_xlabel(f"{share} by role")
    panel.set_xlim(-0.04, 1.04)
    panel.set_ylim(len(dials) - 0.5, -0.5)
    panel.set_yticks([])
    panel.xaxis.set_major_locator(MultipleLocator(0.25))
    panel.axvline(0.95, color="#888888", linewidth=0.7, linestyle=":")
    panel.grid(visible=True, axis="x", linewidth=0.3)


def _rate(scores: Sequence[Record], dial: str, method: str, whole: str) -> Rate:
    some = [each["result"]["roles"] for each in scores if (each["dial"], each["method"]) == (dial, method)]
    return Rate(sum(each["n_both"] for each in some), sum(each[whole] for each in some))


def _draw_stated(panel: Axes, rows: Sequence[Record]) -> None:
    colour, marker, size = _STYLES["ours"]
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
