"""A judgement in a notebook: the statement about the model, then its claims by verdict.

Takes  the verdict of the joint test, and the claims about the map, as `claims.json` has them, where it was mapped.
Gives  a line, HTML, rows for a table.
Never  judges, and never counts otherwise than the terminal does.
"""

from __future__ import annotations

from typing import Any

from carrylens.claims.run_verdict import RunJudgement
from carrylens.report.notebook.html_parts import BAD, GOOD, OPEN, QUIET, chip, folded, framed, paragraph, table
from carrylens.report.notebook.verdict_display import verdict_part
from carrylens.report.plain_records import Record
from carrylens.report.terminal.claims import claims_count, grouped

_COLOURS = {"SUPPORTED": GOOD, "REFUTED": BAD, "INCONCLUSIVE": OPEN, "UNTESTED": QUIET}


_NO_MAP = "No map was saved, so no claim about a node was judged."


def claims_line(record: Record | None) -> str:
    """How many of the required claims have which verdict."""
    return _NO_MAP if record is None else claims_count(record)


def claims_html(judged: RunJudgement, record: Record | None) -> str:
    """The verdict, how many claims of each group have which verdict, and every claim, folded."""
    if record is None:
        return framed(verdict_part(judged), paragraph(_NO_MAP))
    required = [claim for claim in record["claims"] if claim["required"]]
    counts = [
        [what, *(sum(claim["verdict"] == verdict for claim in some) or "" for verdict in _COLOURS)]
        for what, some in grouped(required).items()
    ]
    parts: list[str] = [verdict_part(judged), paragraph(claims_count(record))]
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
