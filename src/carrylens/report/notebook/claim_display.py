"""A judgement in a notebook: the statement about the model, then its claims by verdict.

Takes  the record of a judgement, as `claims.json` has it.
Gives  a line, HTML, rows for a table.
Never  judges, and never counts otherwise than the terminal does: its first lines are the terminal's.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from carrylens.report.notebook.html_parts import chip, folded, framed, heading, paragraph, table
from carrylens.report.plain_records import Record
from carrylens.report.terminal.claims import claim_lines, grouped

_COLOURS = {
    "SUPPORTED": ("#cdeadf", "#00573f"),
    "REFUTED": ("#f6d3c2", "#8a3500"),
    "INCONCLUSIVE": ("#fdf3c4", "#6b5600"),
    "UNTESTED": ("#e4e4e4", "#3d3d3d"),
}


def claims_line(record: Record) -> str:
    """The statement in a line."""
    return next(iter(claim_lines(record)))


def claims_html(record: Record) -> str:
    """The statement, how many claims of each group have which verdict, and every claim, folded."""
    statement = list(takewhile(bool, claim_lines(record)))
    required = [claim for claim in record["claims"] if claim["required"]]
    counts = [
        [what, *(sum(claim["verdict"] == verdict for claim in some) or "" for verdict in _COLOURS)]
        for what, some in grouped(required).items()
    ]
    parts: list[str] = [heading(statement[0]), *(paragraph(line) for line in statement[1:])]
    parts.append(table(["claim", *(verdict.lower() for verdict in _COLOURS)], counts, numbers=(1, 2, 3, 4)))
    for verdict in ("REFUTED", "INCONCLUSIVE", "UNTESTED", "SUPPORTED"):
        some = [claim for claim in required if claim["verdict"] == verdict]
        if some:
            rows = [[verdict_chip(verdict), claim["sentence"], claim["why"]] for claim in some]
            parts.append(folded(f"{len(some)} {verdict.lower()}", table(["", "claim", "why"], rows)))
    return framed(*parts)


def claims_rows(record: Record) -> list[dict[str, Any]]:
    """A row for each claim."""
    wanted = ("claim", "kind", "required", "verdict", "sentence", "why", "refuted_if")
    return [{name: claim[name] for name in wanted if name in claim} for claim in record["claims"]]


def verdict_chip(verdict: str) -> str:
    """A verdict in its colour."""
    return chip(verdict.lower(), *_COLOURS.get(verdict.upper(), _COLOURS["UNTESTED"]))
