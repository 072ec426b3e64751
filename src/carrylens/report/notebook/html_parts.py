"""HTML parts: the few pieces that all notebook displays are made of.

Takes  texts, rows of cells, shares.
Gives  escaped HTML in one frame with one small style sheet, light or dark as the notebook is.
Never  sets a style for anything outside its frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

from carrylens.errors import CarryLensError

_STYLE = """
.cl{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto;color:inherit}
.cl h4{margin:.2em 0 .3em;font-size:15px}
.cl p{margin:.3em 0;max-width:75ch}
.cl table{border-collapse:collapse;margin:.4em 0;font-size:12px;color:inherit}
.cl th,.cl td{border:0;border-bottom:1px solid #8884;padding:2px 8px;text-align:left;vertical-align:top;
 background:none;color:inherit}
.cl td.n,.cl th.n{text-align:right;font-variant-numeric:tabular-nums}
.cl table.grid td,.cl table.grid th{border:1px solid #8883;padding:1px 3px;text-align:center;font-size:11px;
 min-width:2.3em}
.cl table.grid th.row{text-align:left;white-space:nowrap}
.cl .chip{display:inline-block;border-radius:3px;padding:0 3px;margin:0 1px;white-space:nowrap}
.cl .quiet{opacity:.65}
.cl .verdict{font-weight:600}
.cl details{margin:.3em 0}.cl summary{cursor:pointer}
.cl svg{max-width:100%;height:auto;background:#fff;border-radius:4px}
"""


GOOD, BAD, OPEN, QUIET = ("#cdeadf", "#00573f"), ("#f6d3c2", "#8a3500"), ("#fdf3c4", "#6b5600"), ("#e4e4e4", "#3d3d3d")
"""Fill and ink of chips."""


class Html(str):
    """Text that is HTML already, and is not escaped again."""


HtmlCell = object

MOST_ROWS = 12
"""Of a table of any length."""


def framed(*parts: str) -> str:
    """The display: its parts in one frame, with the style they need."""
    return f'<div class="cl"><style>{_STYLE}</style>{"".join(parts)}</div>'


def shown(value: HtmlCell) -> str:
    """A value as HTML: escaped, unless it is HTML already."""
    return value if isinstance(value, Html) else "" if value is None else escape(str(value))


def heading(text: str) -> Html:
    """The heading of a display."""
    return Html(f"<h4>{escape(text)}</h4>")


def paragraph(*parts: HtmlCell, quiet: bool = False) -> Html:
    """Some text."""
    css = ' class="quiet"' if quiet else ""
    return Html(f"<p{css}>{''.join(map(shown, parts))}</p>")


def chip(text: str, fill: str, ink: str, title: str = "") -> Html:
    """A word on a coloured ground."""
    style = escape(f"background:{fill};color:{ink}", quote=True)
    return Html(f'<span class="chip" style="{style}" title="{escape(title, quote=True)}">{escape(text)}</span>')


def table(head: Sequence[str], rows: Iterable[Sequence[HtmlCell]], numbers: Sequence[int] = ()) -> Html:
    """A table; the columns with these numbers are of figures, and stand right."""
    right = dict.fromkeys(numbers, ' class="n"')
    top = "".join(f"<th{right.get(at, '')}>{escape(each)}</th>" for at, each in enumerate(head))
    body = "".join(
        "<tr>" + "".join(f"<td{right.get(at, '')}>{shown(cell)}</td>" for at, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return Html(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")


def rows_html(title: str, rows: Sequence[Mapping[str, Any]], most: int = MOST_ROWS) -> str:
    """The first rows of any table; columns of figures stand right."""
    head, shown_rows = list(rows[0]) if rows else [], rows[:most]
    right = [at for at, name in enumerate(head) if any(_is_figure(row.get(name)) for row in shown_rows)]
    body = [[_plain(row.get(name, "")) for name in head] for row in shown_rows]
    more = [paragraph(f"{len(rows) - most:,} more", quiet=True)] if len(rows) > most else []
    return framed(heading(title), table([name.replace("_", " ") for name in head], body, right), *more)


def _is_figure(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value


def folded(summary: str, *parts: str) -> Html:
    """Parts that are seen when the summary is clicked."""
    return Html(f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>")


def drawing(svg: str) -> Html:
    """An SVG document of ours inside HTML, without what only a file of its own needs."""
    return Html(svg[svg.index("<svg") :])


def frame_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows as a pandas DataFrame, where pandas is installed."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise CarryLensError(
            "pandas is not installed here. Write pip install pandas, or use rows(), which gives plain dictionaries."
        ) from error
    return pandas.DataFrame(list(rows))
