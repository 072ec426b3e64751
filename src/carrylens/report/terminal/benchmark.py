"""The controls of our own map in tables: what it finds where nothing is, how sure a role may be called.

Takes  the records of the benchmark's controls.
Gives  text for a terminal, and the page `docs/benchmark_controls.md`.
Never  computes more than sums and shares of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrylens.report.plain_records import Record
from carrylens.report.terminal.benchmark_words import CONTROLS, NOTES, STATED
from carrylens.report.terminal.tables import align, markdown_table

ScoreTable = tuple[str, list[str], list[list[str]]]


def control_tables(records: Sequence[Record]) -> list[ScoreTable]:
    """Every table that the records have rows for: title, head and body."""
    tables = [
        ("Where nothing is", _EMPTY_HEAD, _empty_rows(records)),
        ("Where something else is", _HELD_HEAD, _held_rows(records)),
        ("Stated and observed", _STATED_HEAD, _reliability_rows(records)),
    ]
    return [table for table in tables if table[2]]


def control_text(records: Sequence[Record]) -> str:
    """The tables for a terminal."""
    return "\n".join(line for title, head, body in control_tables(records) for line in (title, *align(head, body), ""))


def control_page(records: Sequence[Record], command: str, training: Sequence[str], picture: Path | None = None) -> str:
    """The page of the documentation; `picture` lies beside it."""
    fitted = next((record["circuits"] for record in records if record["part"] == "confidence"), training)
    lines = [CONTROLS.format(command=command, training=", ".join(fitted))]
    if picture is not None:
        lines += [f"![Stated confidence]({picture.name})", "", STATED]
    for title, head, body in control_tables(records):
        lines += [f"## {title}", "", *([NOTES[title], ""] if title in NOTES else []), *markdown_table(head, body), ""]
    return "\n".join(lines).rstrip() + "\n"


_TEST_HEAD = ["tested", "hit a quarter", "weighed", "confirmed", "interval"]
_EMPTY_HEAD = ["models", *_TEST_HEAD, "of sets", "models with any", "interval", "level", "bound for any"]
_HELD_HEAD = ["what the nodes hold", *_TEST_HEAD, "circuits with any", "interval", "of all roles confirmed", "level"]
_STATED_HEAD = ["stated", "mean stated", "true", "of twins", "circuits", "share by circuit", "interval"]


def _empty_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "nothing there, summary":
            roles, models = each["roles"], each["models"]
            row = [each["kind"], *_test_cells(each, roles), f"{each['of_sets']:,}"]
            row += [f"{models['hits']} of {models['n']}", _interval(models["interval"])]
            rows.append([*row, f"{each['level']:g}", f"{each['bound']:g}"])
    return rows


def _held_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "not held, summary":
            roles, circuits = each["roles"], each["circuits"]
            row = [each["kind"], *_test_cells(each, roles)]
            row += [f"{circuits['hits']} of {circuits['n']}", _interval(circuits["interval"])]
            rows.append([*row, f"{roles['hits']} of {each['all_confirmed']:,}", f"{each['level']:g}"])
    return rows


def _test_cells(record: Record, roles: Record) -> list[str]:
    cells = [f"{record[name]:,}" for name in ("tested", "hit", "weighed")]
    return [*cells, f"{roles['hits']:,}", _interval(roles["interval"]) if roles["n"] else "-"]


def _reliability_rows(records: Sequence[Record]) -> list[list[str]]:
    rows = []
    for each in records:
        if each["part"] == "reliability":
            name = "as a map confirms" if each["low"] is None else f"{each['low']:g} to {each['high']:g}"
            seen = ["-", "no case", "0", "0", "-", "-"]
            if each["n"]:
                seen = [f"{each['stated']:.3f}", f"{each['hits']:,} of {each['n']:,}", f"{each['of_twins']:,}"]
                seen += [str(each["circuits"])]
                seen += [f"{each['share']:.3f}", _interval(each["interval"])]
            rows.append([name, *seen])
    return rows


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:.3g} to {bounds[1]:.3g}"
