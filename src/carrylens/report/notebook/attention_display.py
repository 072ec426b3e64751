"""Attention in a notebook: one heat map for each head, from what is read to where it is read from.

Takes  attention patterns with axes [layer, head, query, key], and the text of the tokens.
Gives  HTML with one picture a head.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from carrylens.report.notebook.html_parts import Html, framed, heading, paragraph

_CELL, _MARGIN, _TITLE = 9, 20, 16


def attention_html(title: str, patterns: NDArray[np.floating], labels: Sequence[str]) -> str:
    """Every head's pattern: dark is much. Rows read, columns are read from; the title of a cell says how much."""
    n_layers, n_heads = patterns.shape[:2]
    rows = [
        "".join(_heat_map(f"L{layer}H{head}", patterns[layer, head], labels) for head in range(n_heads))
        for layer in range(n_layers)
    ]
    note = "Rows read from columns; the darker, the more. Point at a cell for the figure."
    return framed(heading(title), *(f"<div>{row}</div>" for row in rows), paragraph(note, quiet=True))


def _heat_map(name: str, pattern: NDArray[np.floating], labels: Sequence[str]) -> Html:
    n = len(labels)
    size, height = _MARGIN + n * _CELL + 4, _TITLE + _MARGIN + n * _CELL + 4
    parts = [f'<text x="{_MARGIN}" y="11" font-weight="600">{escape(name)}</text>']
    for at, label in enumerate(labels):
        middle = _MARGIN + (at + 0.5) * _CELL
        parts.append(f'<text x="{middle}" y="{_TITLE + _MARGIN - 5}" text-anchor="middle">{escape(label)}</text>')
        parts.append(f'<text x="{_MARGIN - 5}" y="{_TITLE + middle + 3}" text-anchor="end">{escape(label)}</text>')
    for query in range(n):
        for key in range(query + 1):
            share = float(pattern[query, key])
            if share < 0.01:
                continue
            said = escape(f"{labels[query]} (P{query}) reads {share:.2f} from {labels[key]} (P{key})")
            parts.append(
                f'<rect x="{_MARGIN + key * _CELL}" y="{_TITLE + _MARGIN + query * _CELL}" width="{_CELL}" '
                f'height="{_CELL}" fill="#08519c" fill-opacity="{share:.2f}"><title>{said}</title></rect>'
            )
    side = n * _CELL
    edge = f'<rect x="{_MARGIN}" y="{_TITLE + _MARGIN}" width="{side}" height="{side}" fill="none" stroke="#bbb"/>'
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{height}" viewBox="0 0 {size} {height}" '
        f'role="img" aria-label="attention of {escape(name)}" font-family="sans-serif" font-size="8" '
        f'style="margin:4px">{edge}{"".join(parts)}</svg>'
    )
