"""Likeness in tables: hit rates and noise tolerance, one row a sort of model.

Takes  what was measured of each model.
Gives  lines for a terminal, and Markdown.
Never  says which sorts are alike: the reader sees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from carrylens.benchmark.likeness import Likeness
from carrylens.report.terminal.tables import align, markdown_table

_HEAD = [
    "models", "how many", "nodes", "hit rate 0.99 or more", "hit rate 0.9 or more", "median hit rate",
    "lowest tolerance", "median tolerance", "highest tolerance",
]  # fmt: skip


def likeness_lines(found: Sequence[Likeness], *, markdown: bool = False) -> list[str]:
    """One line for each sort of model."""
    sorts = dict.fromkeys(each.sort for each in found)
    rows = [_row(sort, [each for each in found if each.sort == sort]) for sort in sorts]
    return list(markdown_table(_HEAD, rows)) if markdown else align(_HEAD, rows)


def _row(sort: str, some: Sequence[Likeness]) -> list[str]:
    hits = [hit for each in some for hit in each.hits] or [0.0]
    tolerances = sorted(each.tolerance for each in some)
    sharp = [f"{sum(hit >= least for hit in hits) / len(hits):.2f}" for least in (0.99, 0.9)]
    stood = [f"{each:.1g}" for each in (tolerances[0], median(tolerances), tolerances[-1])]
    return [sort, str(len(some)), f"{sum(len(each.hits) for each in some):,}", *sharp, f"{median(hits):.2f}", *stood]
