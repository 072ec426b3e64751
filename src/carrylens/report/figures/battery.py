"""Battery figure: what an experiment measured, drawn the same way for all of them.

Takes  an outcome.
Gives  one figure as an SVG document, readable at the width of a column.
Never  draws an effect without its null, nor a point without its interval.

Colours are of the palettes by Okabe and Ito and by Tol, which people of every colour vision tell apart; kinds differ in
marker and line too.
"""

from __future__ import annotations

from textwrap import fill

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import MaxNLocator

from carrylens.arithmetic.battery.outcome import Figure, Outcome, Series, SeriesKind
from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.saved_words import in_present_words

_COLOURS = {
    SeriesKind.EFFECT: ("#0072B2", "#009E73", "#56B4E9", "#CC79A7", "#000000"),
    SeriesKind.RIVAL: ("#D55E00", "#E69F00", "#882255"),
    SeriesKind.NULL: ("#777777", "#A0A0A0", "#C0C0C0"),
}
_MARKERS = {SeriesKind.EFFECT: "osD^v", SeriesKind.RIVAL: "P*X", SeriesKind.NULL: "xxx"}
_LINES = {SeriesKind.EFFECT: "-", SeriesKind.RIVAL: "-.", SeriesKind.NULL: ":"}
_MANY = 10  # names on the x axis past which they stand upright


def outcome_svg(outcome: Outcome) -> str:
    """The figure of an outcome."""
    with rc_context(FIXED):
        return as_svg(outcome_canvas(outcome), f"{outcome.card.title}: {outcome.verdict.value}")


def outcome_canvas(outcome: Outcome) -> Canvas:
    """The figure before it is written."""
    assert outcome.figure is not None
    figure = outcome.figure
    canvas = Canvas(figsize=(max(4.4, 0.22 * len(figure.names) + 0.8), 3.6), layout="constrained")
    panel = canvas.subplots()
    counts = dict.fromkeys(SeriesKind, 0)
    for at, series in enumerate(figure.series):
        shift = 0.16 * (at - (len(figure.series) - 1) / 2) if figure.names else 0.0
        _draw(panel, series, counts[series.kind], shift, joined=not figure.names)
        counts[series.kind] += 1
    _label(panel, figure)
    canvas.suptitle(fill(f"{outcome.card.title}: {outcome.verdict.value}", 60), fontsize=9)
    canvas.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=7)
    return canvas


def _draw(panel: Axes, series: Series, number: int, shift: float, *, joined: bool) -> None:
    colours, markers = _COLOURS[series.kind], _MARKERS[series.kind]
    below = [max(0.0, y - low) for y, low in zip(series.y, series.low, strict=True)]
    over = [max(0.0, high - y) for y, high in zip(series.y, series.high, strict=True)]
    panel.errorbar(
        [x + shift for x in series.x],
        series.y,
        yerr=[below, over],
        color=colours[number % len(colours)],
        marker=markers[number % len(markers)],
        linestyle=_LINES[series.kind] if joined else "none",
        linewidth=1,
        markersize=4,
        elinewidth=0.8,
        capsize=1.5,
        label=series.label,
    )


def _label(panel: Axes, figure: Figure) -> None:
    panel.set_xlabel(in_present_words(figure.x_label))
    panel.set_ylabel(figure.y_label)
    panel.set_yscale(figure.scale)
    if figure.names:
        many = len(figure.names) > _MANY
        panel.set_xticks(range(len(figure.names)), figure.names, rotation=90 if many else 0, fontsize=7)
    elif all(x == round(x) for series in figure.series for x in series.x):
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    values = [value for series in figure.series for value in (*series.low, *series.high)]
    if values and figure.scale == "linear" and min(values) >= 0 and max(values) <= 1:
        panel.set_ylim(-0.03, 1.03)
    panel.grid(visible=True, linewidth=0.3)
