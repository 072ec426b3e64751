"""Growth: how times grow with digits, width and batch, as a table and as a figure.

Takes  records of the growth benchmark, one for each size.
Gives  lines of text, and a figure as an SVG document.
Never  measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator, PercentFormatter

from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.plain_records import Record
from carrylens.report.terminal.tables import align, markdown_table

_HEAD = ["digits", "width", "batch", "ms a step", "of peak", "µs a trained question", "µs a tested question", "of peak"]
_ASPECTS = ("digits", "width", "batch")
_COLOURS = {"trained": "#1f77b4", "tested": "#d95f02"}


def growth_lines(records: Sequence[Record], markdown: bool) -> list[str]:
    """One line for each size."""
    body = [
        [
            *(str(record[aspect]) for aspect in _ASPECTS),
            f"{1e3 * record['step_seconds']:.1f}",
            f"{record['step_share_of_peak']:.0%}",
            f"{1e6 * record['step_seconds'] / record['batch']:.0f}",
            f"{1e6 * record['question_seconds']:.0f}",
            f"{record['question_share_of_peak']:.0%}",
        ]
        for record in records
    ]
    return markdown_table(_HEAD, body) if markdown else align(_HEAD, body)


def growth_svg(records: Sequence[Record], middle: Mapping[str, int]) -> str:
    """For digits, width and batch the time a question takes, and the share of peak."""
    with rc_context(FIXED):
        figure = Figure(figsize=(7.6, 4.2), layout="constrained")
        panels = figure.subplots(2, 3, sharex="col", sharey="row")
        for column, aspect in enumerate(_ASPECTS):
            others = {other: value for other, value in middle.items() if other != aspect}
            rows = [record for record in records if all(record[other] == value for other, value in others.items())]
            rows.sort(key=lambda record: record[aspect])
            _draw_times(panels[0, column], aspect, rows)
            _draw_shares(panels[1, column], aspect, rows)
            panels[0, column].set_title(", ".join(f"{other} {value}" for other, value in others.items()), fontsize=8)
        panels[0, 0].set_ylabel("µs a question")
        panels[1, 0].set_ylabel("share of fp32 peak")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        return as_svg(figure, "Time of a question by digits, width and batch")


def _draw_times(panel: Axes, aspect: str, rows: Sequence[Record]) -> None:
    places = [row[aspect] for row in rows]
    trained = [1e6 * row["step_seconds"] / row["batch"] for row in rows]
    panel.loglog(places, trained, "o-", color=_COLOURS["trained"], markersize=3, linewidth=1, label="trained on")
    if aspect != "batch":
        tested = [1e6 * row["question_seconds"] for row in rows]
        panel.loglog(places, tested, "s-", color=_COLOURS["tested"], markersize=3, linewidth=1, label="tested")
    panel.set_xticks(places, [str(place) for place in places])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda number, _place: f"{number:,.0f}"))
    panel.yaxis.set_minor_locator(NullLocator())
    panel.grid(visible=True, linewidth=0.3)


def _draw_shares(panel: Axes, aspect: str, rows: Sequence[Record]) -> None:
    places = [row[aspect] for row in rows]
    shares = [row["step_share_of_peak"] for row in rows]
    panel.semilogx(places, shares, "o-", color=_COLOURS["trained"], markersize=3, linewidth=1)
    if aspect != "batch":
        shares = [row["question_share_of_peak"] for row in rows]
        panel.semilogx(places, shares, "s-", color=_COLOURS["tested"], markersize=3, linewidth=1)
    panel.set_xticks(places, [str(place) for place in places])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.set_ylim(0, 1)
    panel.set_xlabel(aspect)
    panel.grid(visible=True, linewidth=0.3)
