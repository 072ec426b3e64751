"""Family text: what holds in every model and what varies, for a terminal.

Takes  the table of a family.
Gives  lines of text.
Never  computes: every word and figure is a cell of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from carrylens.arithmetic.family.cells import CellState, FamilyCell
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import VERDICT, FamilyRow, FamilyTable, Standing
from carrylens.report.terminal.tables import align

MARKS = {
    CellState.OPEN: "?",
    CellState.UNTESTED: "-",
    CellState.NOT_RUN: ".",
    CellState.APART: " ",
    CellState.MEASURED: "#",
}
"""What stands for a cell that has no word."""
MEANINGS = {
    "S, R": "supported, refuted",
    "a, b, ..": "the words of a row, the commonest first",
    "#": "a number",
    "?": "open",
    "-": "untested",
    ".": "not run",
    "empty": "does not apply",
}
_WIDTH = 118
_BAR = {True: "meets the bar", False: "misses the bar", None: "evaluated on too few questions for the bar"}
_LEFT_OUT = {**_BAR, True: "meets the bar, but was not mapped yet"}


def short_names(members: Sequence[Member]) -> list[str]:
    """The models' names with as little as tells them apart."""
    for dropped in ("hwt", "hw", "w", ""):
        short = ["_".join(part for part in str(m.name).split("_") if part[0] not in dropped) for m in members]
        if len(set(short)) == len(short):
            return short
    return [member.source for member in members]


def mark(row: FamilyRow, cell: FamilyCell) -> str:
    """One sign for a cell: S or R for a verdict, a letter for a word, else why there is none."""
    if cell.state is not CellState.TOLD:
        return MARKS[cell.state]
    return cell.word[0].upper() if row.name == VERDICT else chr(ord("a") + row.words.index(cell.word))


def family_lines(table: FamilyTable, left_out: Mapping[str, bool | None]) -> Iterator[str]:
    """For a terminal: the models, a table of signs, what holds, what varies, and what to run."""
    numbers = [str(at) for at, _ in enumerate(table.members, start=1)]
    models = [
        [number, str(member.name), member.evidence, member.mapped, _BAR[member.meets_bar]]
        for number, member in zip(numbers, table.members, strict=True)
    ]
    yield from align(["", "model", "battery", "map", "test"], models)
    yield ""
    body = []
    for row in table.rows:
        cells = [mark(row, cell) for cell in row.cells]
        body.append([_label(row), *cells, row.says])
    yield from align(["finding", *numbers, "stands"], body)
    yield ", ".join(f"{sign}: {meaning}" for sign, meaning in MEANINGS.items())
    for title, lines in _lists(table, left_out):
        yield ""
        yield f"{title}:"
        for line in lines:
            yield from wrap(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _lists(table: FamilyTable, left_out: Mapping[str, bool | None]) -> Iterator[tuple[str, list[str]]]:
    names = dict(zip((id(member) for member in table.members), short_names(table.members), strict=True))
    every = "every accurate model" if all(m.meets_bar for m in table.members) else "every one of these models"
    holds = [f"{_label(row)}: {row.words[0]} ({row.says})" for row in table.standing(Standing.HOLDS)]
    yield f"What holds in {every}", holds or ["nothing that all of them were evaluated on"]
    varies = [f"{_label(row)}: {_by_word(table, row, names)}" for row in table.standing(Standing.VARIES)]
    yield "What varies", varies or ["nothing that could be told"]
    told: dict[bool, list[str]] = {True: [], False: []}
    for row in table.standing(Standing.SO_FAR):
        told[row.count(CellState.TOLD) > 1].append(f"{_label(row)}: {row.words[0]} ({row.says})")
    yield from [("The same wherever it could be told", told[True])] if told[True] else []
    yield from [("Told in one model alone", told[False])] if told[False] else []
    measured = [f"{_label(row)}: {row.says}" for row in table.standing(Standing.MEASURED)]
    yield from [("Measured", measured)] if measured else []
    unknown = [f"{_label(row)}: {row.says}" for row in table.standing(Standing.OPEN) if row.rest]
    yield from [("Could not be told", unknown)] if unknown else []
    yield from to_do(table, left_out)


def to_do(table: FamilyTable, left_out: Mapping[str, bool | None]) -> Iterator[tuple[str, list[str]]]:
    """What is missing or not used, under a title each, with the command that makes it."""
    run = [f"{m.name}: {_missing(m)}carrylens battery {m.source}" for m in table.members if m.missing]
    yield from [("Experiments not run", run)] if run else []
    unmapped = [f"{member.name}: carrylens map {member.source}" for member in table.members if member.map is None]
    yield from [("Not mapped", unmapped)] if unmapped else []
    apart = [f"{member.name}: carrylens settle {member.source}" for member in table.members if member.joint is None]
    yield from [("No alignment tested jointly", apart)] if apart else []
    notes = [f"{member.name}: {note}" for member in table.members for note in member.notes]
    yield from [("To know of the evidence", notes)] if notes else []
    out = [f"{name}: {_LEFT_OUT[bar]}" for name, bar in left_out.items()]
    yield from [("Left out", out)] if out else []


def _missing(member: Member) -> str:
    return f"without {', '.join(member.missing)}: " if member.outcomes else ""


def _by_word(table: FamilyTable, row: FamilyRow, names: Mapping[int, str]) -> str:
    parts = []
    for word in row.words:
        models = [names[id(member)] for member in table.models(row, word)]
        parts.append(f"{word} ({', '.join(models)})")
    return "; ".join([*parts, *row.rest])


def _label(row: FamilyRow) -> str:
    return row.section if row.name == VERDICT else f"{row.section}, {row.name}"
