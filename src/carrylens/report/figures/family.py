"""Family figure: models by findings, each cell coloured and lettered by what was found.

Takes  the table of a family.
Gives  an SVG document.
Never  tells two findings apart by colour alone: every cell has its letter or sign.

Colours are those of Okabe and Ito, which people of every colour vision tell apart.
"""

from __future__ import annotations

from itertools import groupby
from textwrap import shorten

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Rectangle

from carrylens.arithmetic.family.cells import CellState, FamilyCell, span
from carrylens.arithmetic.family.table import VERDICT, FamilyRow, FamilyTable, Standing
from carrylens.report.figures.svg import FIXED, as_svg
from carrylens.report.terminal.family import mark, short_names

_WORDS = ("#56B4E9", "#E69F00", "#CC79A7", "#009E73", "#F0E442")
_VERDICTS = {"supported": "#009E73", "refuted": "#D55E00"}
_STATES = {
    CellState.MEASURED: "#e8eef7",
    CellState.OPEN: "#d0d0d0",
    CellState.UNTESTED: "#f2f2f2",
    CellState.NOT_RUN: "#ffffff",
    CellState.APART: "none",
}
_STANDINGS = {Standing.HOLDS: "#000000", Standing.VARIES: "#a04000"}
_CHARACTERS = 72
_ROW, _COLUMN, _LEFT, _RIGHT, _TOP = 0.19, 0.3, 3.9, 3.8, 1.6


def family_svg(table: FamilyTable) -> str:
    """The whole table as a picture: sections downwards, models across, how each finding stands at the right."""
    with rc_context(FIXED):
        sections = [(name, list(rows)) for name, rows in groupby(table.rows, key=lambda row: row.section)]
        n_lines = len(table.rows) + len(sections)
        width = _LEFT + _COLUMN * len(table.members) + _RIGHT
        height = _TOP + _ROW * (n_lines + 3)
        canvas = Canvas(figsize=(width, height))
        panel = canvas.add_axes((0, 0, 1, 1))
        panel.set(xlim=(0, width), ylim=(height, 0))
        panel.axis("off")
        _heads(panel, table)
        line = 0
        for name, rows in sections:
            panel.text(0.1, _y(line), table.titles[name], fontsize=7.5, fontweight="bold", va="center")
            for row in rows:
                line += 1
                _draw(panel, row, line)
            line += 1
        _legend(panel, _y(n_lines) + 0.1)
        return as_svg(canvas, "What holds in every model of the family, and what varies")


def _heads(panel: Axes, table: FamilyTable) -> None:
    for at, name in enumerate(short_names(table.members)):
        panel.text(_x(at) + _COLUMN / 2, _TOP - 0.08, name, rotation=60, fontsize=7, ha="left", va="bottom")


def _draw(panel: Axes, row: FamilyRow, line: int) -> None:
    name = "verdict" if row.name == VERDICT else row.name
    panel.text(_LEFT - 0.08, _y(line), name, fontsize=7, ha="right", va="center")
    for at, cell in enumerate(row.cells):
        sign = mark(row, cell) if cell.value is None else span([cell.value])
        _box(panel, _x(at), _y(line), _colour(row, cell), sign)
    bold = row.standing is Standing.HOLDS
    right = _x(len(row.cells)) + 0.08
    colour, weight = _STANDINGS.get(row.standing, "#606060"), "bold" if bold else "normal"
    panel.text(right, _y(line), _stands(row), fontsize=6.5, va="center", color=colour, fontweight=weight)


def _stands(row: FamilyRow) -> str:
    if row.name == VERDICT or row.standing in (Standing.MEASURED, Standing.OPEN):
        return row.says
    if row.standing is Standing.VARIES:
        said = [f"{chr(ord('a') + at)} {word}" for at, word in enumerate(row.words)]
        return shorten(f"varies: {', '.join([*said, *row.rest])}", _CHARACTERS, placeholder=" ..")
    return shorten(f"{row.words[0]}; {row.says}", _CHARACTERS, placeholder=" ..")


def _box(panel: Axes, x: float, y: float, colour: str, sign: str) -> None:
    edge = "none" if colour == "none" else "#909090"
    size = (_COLUMN - 0.02, _ROW - 0.02)
    panel.add_patch(Rectangle((x, y - _ROW / 2 + 0.01), *size, facecolor=colour, edgecolor=edge, linewidth=0.4))
    panel.text(x + size[0] / 2, y, sign.strip(), fontsize=7, ha="center", va="center")


def _colour(row: FamilyRow, cell: FamilyCell) -> str:
    if cell.state is not CellState.TOLD:
        return _STATES[cell.state]
    if row.name == VERDICT:
        return _VERDICTS[cell.word]
    return _WORDS[row.words.index(cell.word) % len(_WORDS)]


def _legend(panel: Axes, y: float) -> None:
    shown = (
        (_VERDICTS["supported"], "S", "supported"),
        (_VERDICTS["refuted"], "R", "refuted"),
        *((_WORDS[at], "abc"[at], text) for at, text in enumerate(("commonest word", "second", "third"))),
        (_STATES[CellState.MEASURED], "0.5", "a number"),
        (_STATES[CellState.OPEN], "?", "open"),
        (_STATES[CellState.UNTESTED], "-", "untested"),
        (_STATES[CellState.NOT_RUN], ".", "not run"),
    )
    x = 0.1
    for colour, sign, text in shown:
        _box(panel, x, y, colour, sign)
        panel.text(x + _COLUMN + 0.03, y, text, fontsize=6.5, va="center")
        x += _COLUMN + 0.16 + 0.056 * len(text)
    panel.text(0.1, y + _ROW * 1.2, "empty: does not apply to the model", fontsize=6.5, va="center")


def _x(at: int) -> float:
    return _LEFT + _COLUMN * at


def _y(line: int) -> float:
    return _TOP + _ROW * (line + 0.5)
