"""Family text: what holds in every model and what varies, for a terminal and for a document.

Takes  the table of a family.
Gives  lines of text.
Never  computes: every word and figure is a cell of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap

from carrylens.arithmetic.family.cells import CellState, FamilyCell
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.table import VERDICT, FamilyRow, FamilyTable, Standing
from carrylens.report.terminal.tables import align, markdown_table

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
_PAGE = """# What holds in every accurate model, and what varies

Made by `make docs` with the command `carrylens family --shipped --markdown --svg docs/family.svg` from what comes with
the models: their tests, maps and experiments (`docs/battery.md` explains each). Accurate are models that meet the bar
of their test. Without `--shipped`, what was measured here (in `maps/`) goes before what came with a model; other models
are compared by naming them. Nothing made from other weights is used.

A cell is a **word** that is compared between models, and the figures behind it, effects beside their nulls. Shares are
told by the rule of the battery: surely more than half and more than the null, or surely less. Where units such as
columns or places are counted, the word is what nine tenths of those that could be told are, and nothing is said where
most could not be told. **Holds in all** is said only where every model it applies to was evaluated and could be told; a
common REFUTED holds too. Numbers without a word are compared as a range.

![Models by findings, each cell coloured and lettered by what was found](family.svg)
"""


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


def family_page(table: FamilyTable, left_out: Mapping[str, bool | None]) -> str:
    """The document: the lists, then a table for each experiment with the paper's figures."""
    parts = [_PAGE]
    heads = ["model", "battery", "map", "test"]
    body = [[f"`{m.name}`", m.evidence, m.mapped, _BAR[m.meets_bar]] for m in table.members]
    parts += ["## Models\n", *markdown_table(heads, body)]
    for title, lines in _lists(table, left_out):
        parts += [f"\n## {title}\n", *(f"- {line}" for line in lines)]
    short = [f"`{name}`" for name in short_names(table.members)]
    for section, some in groupby(table.rows, key=lambda row: row.section):
        rows = list(some)
        parts.append(
            f"\n## {table.titles[section]}" + (f" (`{section}`)\n" if section in _experiments(table) else "\n")
        )
        body = [[row.name, *map(_cell, row.cells), row.says, _paper(row)] for row in rows]
        parts += markdown_table(["finding", *short, "stands", "the paper"], [_escaped(line) for line in body])
    return "\n".join(parts)


def _experiments(table: FamilyTable) -> set[str]:
    return {row.section for row in table.rows if row.name == VERDICT}


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
    yield from _to_do(table, left_out)


def _to_do(table: FamilyTable, left_out: Mapping[str, bool | None]) -> Iterator[tuple[str, list[str]]]:
    run = [f"{m.name}: {_missing(m)}carrylens battery {m.source}" for m in table.members if m.missing]
    yield from [("Experiments not run", run)] if run else []
    unmapped = [f"{member.name}: carrylens map {member.source}" for member in table.members if member.map is None]
    yield from [("Not mapped", unmapped)] if unmapped else []
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


def _cell(cell: FamilyCell) -> str:
    said = (
        f"**{cell.word}**"
        if cell.state is CellState.TOLD
        else ""
        if cell.state is CellState.MEASURED
        else cell.state.value
    )
    return "<br>".join(part for part in (said, cell.figure) if part)


def _paper(row: FamilyRow) -> str:
    agree = f"agrees in {row.agree} of {row.compared}" if row.compared else ""
    return "<br>".join(part for part in (row.paper, agree) if part)


def _escaped(line: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in line]
