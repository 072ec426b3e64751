"""The verdict in a notebook: the statement with what it rests on, and the rates of the alignment.

Takes  the judgement of the joint test, and the measured alignment.
Gives  HTML, and rows for a table.
Never  judges, or shows a rate without its interval and the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carrylens.claims.run_verdict import RunJudgement
from carrylens.claims.verdicts import RunVerdict
from carrylens.discovery.alignment.joint_rates import MeasuredAlignment
from carrylens.evidence.rates import Rate
from carrylens.report.notebook.html_parts import BAD, GOOD, OPEN, QUIET, Html, chip, folded, framed, paragraph, table
from carrylens.report.terminal.verdict import verdict_lines

_COLOURS = {
    RunVerdict.RUNS: GOOD,
    RunVerdict.IN_PART: OPEN,
    RunVerdict.DOES_NOT_RUN: BAD,
    RunVerdict.NOT_SETTLED: QUIET,
}


def verdict_part(judged: RunJudgement) -> Html:
    """The statement beside its verdict, then a table of what it rests on."""
    sentence, *others = verdict_lines(judged, every=True)
    rows = [[part.strip() for part in line.split(":", 1)] for line in others]
    first = paragraph(chip(judged.verdict.value, *_COLOURS[judged.verdict]), " ", sentence)
    return Html(first + (table(["", "what the verdict rests on"], rows) if rows else ""))


def alignment_html(judged: RunJudgement, found: MeasuredAlignment) -> str:
    """The verdict, then every rate, then the site of each variable."""
    rates = [[row["what"], *_figures(row)] for row in alignment_rows(found) if row["nodes"] is None]
    sites = [
        [row["what"], row["nodes"] or "no site", *_figures(row)]
        for row in alignment_rows(found)
        if row["nodes"] is not None
    ]
    return framed(
        verdict_part(judged),
        folded(
            f"{len(rates)} rates of the joint test",
            table(["what was counted", "share", "95% interval", "rows"], rates, numbers=(1, 3)),
        ),
        folded(
            f"{len(sites)} variables and their sites",
            table(["variable", "nodes", "hit", "95% interval", "rows"], sites, numbers=(2, 4)),
        ),
    )


def alignment_rows(found: MeasuredAlignment) -> list[dict[str, Any]]:
    """A row for each rate: those of the joint test, of other populations, of rivals, then of each variable's site."""
    return [
        {"what": what, "share": rate.value, "low": rate.interval[0], "high": rate.interval[1], "n": rate.n, "nodes": at}
        for what, rate, at in _rates(found)
    ]


def _rates(found: MeasuredAlignment) -> Iterator[tuple[str, Rate, str | None]]:
    rates = found.rates
    yield "several variables interchanged at once: every output as predicted", rates.interchange, None
    yield "the same, outputs that should change", rates.changed, None
    yield "the same, outputs that should stay", rates.kept, None
    yield "the same with sites given to other variables (best of several)", rates.permuted, None
    yield "everything outside the sites resampled: the answer stays", rates.scrubbed, None
    yield "interchanged and resampled at once", rates.both, None
    yield "untouched answers that are the algorithm's", rates.answers, None
    for population in found.populations:
        yield f"the same on {population.population} questions", population.agree, None
    for rival in found.rivals:
        yield f"rival {rival.hypothesis}: interchanged and resampled at once", rival.both, None
    for carrier in rates.carriers:
        yield carrier.target, carrier.hit, " + ".join(carrier.nodes)


def _figures(row: dict[str, Any]) -> list[str]:
    return [f"{row['share']:.3f}", f"{row['low']:.3f} to {row['high']:.3f}", f"{row['n']:,}"]
