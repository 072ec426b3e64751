"""The algorithm figures for print: one question followed through its algorithm.

Takes  a `Trace`.
Gives  a figure with the table of the trace.
Never  works anything out.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from carrylens.arithmetic.traces import Trace
from carrylens.arithmetic.variables import ANSWER_KIND, COLUMN_KIND, DIGIT_KIND, INPUT_KIND, RESOLVED_KIND
from carrylens.report.terminal.trace_rows import CellLook, TraceBlock, trace_blocks, trace_summary

_LOOKS = {
    CellLook.DIGIT: INPUT_KIND.light,
    CellLook.ZERO: DIGIT_KIND.light,
    CellLook.ONE: RESOLVED_KIND.light,
    CellLook.UNCERTAIN: COLUMN_KIND.light,
    CellLook.ANSWER: ANSWER_KIND.light,
}


def algorithm_figure(trace: Trace) -> Figure:
    """The trace as a table of coloured cells; a carry has a frame where it is settled."""
    blocks = trace_blocks(trace)
    n_rows = sum(len(block.rows) + 2 for block in blocks)
    n_columns = max(len(block.columns) for block in blocks)
    widest = max(len(block.heading) for block in blocks)
    width, height = max(0.27 * n_columns + 1.1, 0.052 * widest + 0.2), 0.2 * n_rows + 0.55
    figure = Figure(figsize=(width, height))
    panel = figure.add_axes((0.02, 0.02, 0.96, 1 - 0.5 / height))  # fixed: long headings must not squeeze the cells
    y = 0.0
    for block in blocks:
        y = _draw_block(panel, block, y)
    panel.set_xlim(-3, n_columns + 0.2)
    panel.set_ylim(y + 0.2, -0.8)
    panel.axis("off")
    panel.set_title(f"{trace.question}{trace.answer}\n{trace_summary(trace)}", fontsize=8, loc="left")
    return figure


def _draw_block(panel: Axes, block: TraceBlock, y: float) -> float:
    panel.text(-3, y, block.heading, fontsize=6.5, style="italic", va="center")
    for at, name in enumerate(block.columns):
        panel.text(at + 0.5, y + 0.85, name, fontsize=6, color="#555555", ha="center", va="center")
    y += 1.35
    for row in block.rows:
        panel.text(-0.2, y + 0.45, row.name, fontsize=6.5, ha="right", va="center")
        for at, cell in enumerate(row.cells):
            if cell.look is CellLook.EMPTY:
                continue
            fill, ink = _LOOKS[cell.look]
            edge, weight = (ink, 1.2) if cell.fresh else ("none", 0.0)
            box = Rectangle((at + 0.06, y + 0.05), 0.88, 0.84, facecolor=fill, edgecolor=edge, linewidth=weight)
            panel.add_patch(box)
            panel.text(at + 0.5, y + 0.47, cell.text, fontsize=7, color=ink, ha="center", va="center")
        y += 1.0
    return y + 0.65
