"""SVG: how every drawn figure is written.

Takes  a figure.
Gives  an SVG document.
Never  writes a date or a random name, so the same figure is the same file.
"""

from __future__ import annotations

import io
from typing import Any

from matplotlib.figure import Figure

FIXED: Any = {"svg.hashsalt": "carrylens", "svg.fonttype": "path", "font.size": 9}
"""Settings to draw with, inside `rc_context`."""


def as_svg(figure: Figure, title: str) -> str:
    """The figure as an SVG document, the same to the byte each time."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Title": title})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
