"""The leaderboard in a picture: roles, nodes and verdicts of every method on every suite.

Takes  a `Leaderboard`.
Gives  one figure as an SVG document.
Never  draws a figure without its interval where there is one.

Panels share their rows, a row for each method; a star marks methods that are told the algorithm. Colours and markers
tell suites apart, for people of every colour vision. The last panel has the share of verdicts that call a model running
what it does not run. A dotted line is chance. What a method does not give is said in words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from carrylens.benchmark.averages import Averaged
from carrylens.benchmark.leaderboard import Leaderboard, LeaderboardRow
from carrylens.report.figures.svg import FIXED, as_svg

_STYLES = {
    "kind": ("#0072B2", "o"),
    "hostile": ("#D55E00", "s"),
    "aligned": ("#009E73", "D"),
    "empty": ("#777777", "v"),
}
_OTHER_STYLE = ("#CC79A7", "x")  # a suite of the user's own
_PANELS: Sequence[tuple[str, str, Callable[[LeaderboardRow], Averaged | None], bool]] = (
    ("role precision", "no roles", lambda row: row.precision if row.recall is not None else None, True),
    ("role recall", "no roles", lambda row: row.recall, True),
    ("node AUROC", "no scores", lambda row: row.node_auroc, True),
    ("called running\nwhat it does not run", "no verdicts", lambda row: row.false_runs, False),
)


def leaderboard_svg(board: Leaderboard) -> str:
    """The picture of a leaderboard."""
    with rc_context(FIXED):
        return as_svg(leaderboard_figure(board), "Leaderboard of circuit-discovery methods")


def leaderboard_figure(board: Leaderboard) -> Figure:
    """The figure before it is written."""
    methods = list(dict.fromkeys(row.method for row in board.rows))
    suites = list(dict.fromkeys(row.suite for row in board.rows))
    figure = Figure(figsize=(10.5, max(2.6, 0.36 * len(methods) + 1.5)), layout="constrained")
    panels = list(figure.subplots(1, len(_PANELS), sharey=True, squeeze=False)[0])
    for panel, (title, missing, value, higher_is_better) in zip(panels, _PANELS, strict=True):
        for order, suite in enumerate(suites):
            offset = 0.17 * (order - (len(suites) - 1) / 2)
            drawn = [(methods.index(row.method), value(row)) for row in board.rows if row.suite == suite]
            _draw_suite(panel, suite, [(at + offset, figure) for at, figure in drawn if figure is not None])
        given = {row.method for row in board.rows if value(row) is not None}
        for at in (at for at, method in enumerate(methods) if method not in given):
            panel.text(0.5, at, missing, color="#888888", fontsize=7, ha="center", va="center")
        _dress(panel, title, len(methods), higher_is_better)
    told = {row.method: row.told for row in board.rows}
    panels[0].set_yticks(range(len(methods)), [f"{each} *" if told[each] else each for each in methods])
    handles = [
        panels[0].plot([], [], marker=_style(s)[1], color=_style(s)[0], linestyle="none", label=s)[0] for s in suites
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(suites), frameon=False, fontsize=8.5)
    return figure


def _style(suite: str) -> tuple[str, str]:
    return _STYLES.get(suite, _OTHER_STYLE)


def _draw_suite(panel: Axes, suite: str, drawn: Sequence[tuple[float, Averaged]]) -> None:
    colour, marker = _style(suite)
    for at, figure in drawn:
        low, high = (figure.low, figure.high) if figure.n > 1 else (figure.value, figure.value)
        panel.errorbar(
            [figure.value], [at], xerr=[[figure.value - low], [high - figure.value]],
            color=colour, marker=marker, markersize=4.5, linestyle="none", elinewidth=0.9,
        )  # fmt: skip


def _dress(panel: Axes, title: str, n_rows: int, higher_is_better: bool) -> None:
    for row in range(0, n_rows, 2):
        panel.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", zorder=0)
    panel.set_xlabel(f"{title}\n{'higher' if higher_is_better else 'lower'} is better")
    if "AUROC" in title:
        panel.axvline(0.5, color="#888888", linewidth=0.8, linestyle=":")
    panel.set_xlim(-0.05, 1.05)
    panel.set_ylim(n_rows - 0.5, -0.5)
    panel.xaxis.set_major_locator(MultipleLocator(0.25))
    panel.tick_params(axis="x", labelsize=7.5)
    panel.grid(visible=True, axis="x", linewidth=0.3)
