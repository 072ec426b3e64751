"""Trace as a picture: the same table as an SVG, for a paper or a slide.

Takes  a `Trace`.
Gives  one self-contained SVG document; colours that colour-blind readers can tell apart, each value also in words.
Never  writes a file.
"""

from __future__ import annotations

from xml.sax.saxutils import escape

from carrylens.arithmetic.traces import Trace
from carrylens.report.terminal.trace_rows import CellLook, TraceBlock, TraceCell, trace_blocks, trace_summary

_CELL, _ROW, _LEFT, _MARGIN = 36, 28, 96, 24
_FILLS = {
    CellLook.DIGIT: ("#f4f4f4", "#222222"),
    CellLook.ZERO: ("#cfe3f3", "#0b4f85"),
    CellLook.ONE: ("#f6d3c2", "#9c3d00"),
    CellLook.UNCERTAIN: ("#fdf3c4", "#7a6200"),
    CellLook.ANSWER: ("#cdeadf", "#00573f"),
}
_FRESH = {CellLook.ZERO: ("#0072b2", "#ffffff"), CellLook.ONE: ("#d55e00", "#ffffff")}
_LEGEND = (
    (TraceCell("U", CellLook.UNCERTAIN), "uncertain"),
    (TraceCell("1", CellLook.ONE), "carry or borrow"),
    (TraceCell("0", CellLook.ZERO), "none"),
    (TraceCell("1", CellLook.ONE, fresh=True), ""),
    (TraceCell("0", CellLook.ZERO, fresh=True), "settled here"),
)


def trace_svg(trace: Trace) -> str:
    """The trace as an SVG document."""
    blocks = trace_blocks(trace)
    width = 2 * _MARGIN + _LEFT + _CELL * max(12, max(len(block.columns) for block in blocks))
    parts, y = _title(trace), _MARGIN + 58
    for block in blocks:
        drawn, y = _block(block, y)
        parts += drawn
    parts += _legend(y + 8)
    height = y + 8 + _ROW + _MARGIN
    summary = escape(f"{trace.question}{trace.answer}: {trace_summary(trace)}")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(summary, {chr(34): "&quot;"})}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14">'
    )
    background = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{summary}</title>", background, *parts, "</svg>", ""])


def _title(trace: Trace) -> list[str]:
    return [
        _text(_MARGIN, _MARGIN + 18, f"{trace.question}{trace.answer}", size=20, weight="bold"),
        _text(_MARGIN, _MARGIN + 40, trace_summary(trace), fill="#555555"),
    ]


def _block(block: TraceBlock, y: int) -> tuple[list[str], int]:
    parts = [_text(_MARGIN, y + 18, block.heading, style="italic")]
    y += 28
    for column, name in enumerate(block.columns):
        parts.append(_text(_middle(column), y + 16, name, anchor="middle", fill="#555555", size=12))
    y += 22
    for row in block.rows:
        parts.append(_text(_MARGIN + _LEFT - 10, y + 19, row.name, anchor="end", fill="#555555"))
        for column, cell in enumerate(row.cells):
            if cell.look is not CellLook.EMPTY:
                parts += _cell(_middle(column) - _CELL // 2, y, cell)
        y += _ROW
    return parts, y + 18


def _legend(y: int) -> list[str]:
    parts, x = [], _MARGIN
    for cell, meaning in _LEGEND:
        parts += _cell(x, y, cell)
        parts.append(_text(x + _CELL + 6, y + 19, meaning, fill="#555555", size=12))
        x += _CELL + (22 + 7 * len(meaning) if meaning else 0)
    return parts


def _cell(x: int, y: int, cell: TraceCell) -> list[str]:
    fill, ink = _FRESH[cell.look] if cell.fresh else _FILLS[cell.look]
    return [
        f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_ROW - 2}" rx="4" fill="{fill}"/>',
        _text(x + _CELL // 2, y + 19, cell.text, anchor="middle", fill=ink, weight="bold" if cell.fresh else "normal"),
    ]


def _middle(column: int) -> int:
    return _MARGIN + _LEFT + column * _CELL + _CELL // 2


def _text(
    x: int,
    y: int,
    content: str,
    *,
    anchor: str = "start",
    fill: str = "#222222",
    size: int = 14,
    weight: str = "normal",
    style: str = "normal",
) -> str:
    looks = {"text-anchor": anchor, "fill": fill, "font-size": size, "font-weight": weight, "font-style": style}
    usual = {"text-anchor": "start", "font-size": 14, "font-weight": "normal", "font-style": "normal"}
    attributes = "".join(f' {name}="{value}"' for name, value in looks.items() if usual.get(name) != value)
    return f'<text x="{x}" y="{y}"{attributes}>{escape(content)}</text>'
