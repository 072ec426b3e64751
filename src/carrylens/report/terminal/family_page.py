"""The family as a document: one picture, ten plain findings with their figures; every cell in a CSV file.

Takes  the table of a family.
Gives  Markdown, and the lines of a CSV file.
Never  computes: every word and figure is a cell of the table.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO

from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.family.cells import MIXED, CellState
from carrylens.arithmetic.family.circuits import RUNS_QUESTION
from carrylens.arithmetic.family.table import CIRCUIT_SECTION, VERDICT, FamilyRow, FamilyTable, Standing
from carrylens.report.terminal.family import to_do

_PAGE = """# The family: ten findings about every accurate model

Made by `make docs` with `carrylens family --shipped --markdown --svg docs/family.svg --csv docs/family.csv`, from the
tests, maps, alignments and [experiments](battery.md) that ship with the models. Nothing is measured anew, and nothing
made from other weights is used. To compare your own models, name them: `carrylens family MODEL MODEL`.
"""
_PICTURE = """
![Models by findings, each cell coloured and lettered by what was found](family.svg)

Every cell of this picture, with its figures and nulls, is a line of [family.csv](family.csv).
"""
_NOT_TOLD = {
    CellState.OPEN: "undecided",
    CellState.UNTESTED: "not testable on the questions drawn",
    CellState.NOT_RUN: "not measured",
}
_OTHERS = {
    True: "that meet the bar and have neither map nor experiments yet",
    False: "that miss it",
    None: "evaluated on too few questions to be told",
}
_NOBODY = "No model could be asked."
_MIXED = "not the same in all its columns"
_COLUMNS = ("section", "finding", "stands", "the paper", "model", "state", "word", "figure", "value")


@dataclass(frozen=True)
class PlainFinding:
    """One finding in plain words: the row it is read from, the question, and a phrase for each word of the row."""

    section: str
    row: str
    question: str
    phrases: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[tuple[str, str], ...] = ()
    paper: str = ""


FINDINGS = (
    PlainFinding(
        CIRCUIT_SECTION,
        RUNS_QUESTION,
        "Does the model run the left-to-right algorithm?",
        paper="all 27 accurate models have its circuit, tested one variable at a time",
    ),
    PlainFinding("make-carry", "values of a column's carry", "How many values does a column's carry have?"),
    PlainFinding(
        "make-carry",
        "where carries below the top column are made",
        "Where is a column's carry made?",
        {"at its own place, all its values": "at the column's own position"},
    ),
    PlainFinding(
        "paths",
        "heads that deliver",
        "How many heads of the last layers bring the carry to the answer?",
        {"one head alone": "one head", "heads that share it": "several heads, each a share"},
    ),
    PlainFinding(
        "necessity",
        VERDICT,
        "Is some single node necessary?",
        {"refuted": "yes", "supported": "no"},
        (("gap of all heads and the worst, delivering", "what all delivering heads add to the worst one"),),
    ),
    PlainFinding(
        "sufficiency",
        "answers kept, the rest resampled",
        "Do the nodes of the map suffice when all others take activations of other questions?",
        {"most": "most answers are kept", "fewer than half": "fewer than half are kept"},
        paper="0.623 of answers kept (add d5); 0.527, 0.047 and 0.047 (mix d6: sums, positive, negative differences)",
    ),
    PlainFinding(
        "combiner",
        VERDICT,
        "Does the MLP that combines digit and carry act as a step?",
        {"refuted": "no: its output rises gradually", "supported": "yes"},
        (("share at which the argmax turns", "share of the carry at which the answer turns"),),
    ),
    PlainFinding(
        "probes",
        "the top carry, tokens after D'0",
        "How many tokens after the last question digit can the top carry be read?",
        numbers=(("separation of the carry's axis", "separation of the carry's two classes on its axis"),),
    ),
    PlainFinding(
        "axes",
        "both borrows",
        "In mixed models, do the borrows of positive and negative differences share a direction?",
        {"apart": "no", "one direction": "yes"},
    ),
    PlainFinding(
        "polysemy",
        "useful nodes that serve several branches",
        "In mixed models, how many useful nodes serve several of sums, positive and negative differences?",
        {"most": "most of them"},
    ),
)
"""The ten findings, in the order of the route through a model."""


def family_page(table: FamilyTable, left_out: Mapping[str, bool | None]) -> str:
    """The document: what was compared, the findings, the picture, and what is missing."""
    rows = {(row.section, row.name): row for row in table.rows}
    parts = [_PAGE, *_evidence(table, left_out), ""]
    for at, finding in enumerate(FINDINGS, start=1):
        said = _sentences(finding, rows) if (finding.section, finding.row) in rows else _nobody(finding, table)
        parts.append(f"{at}. **{finding.question}** {said}")
    parts.append(_PICTURE)
    for title, lines in to_do(table, left_out):
        parts += [f"## {title}\n", *(f"- {line}" for line in lines), ""]
    return "\n".join(parts).rstrip()


def family_csv(table: FamilyTable) -> str:
    """Every cell of the table, a line each."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in table.rows:
        about = row.section, row.name, row.standing.value, row.paper
        for member, cell in zip(table.members, row.cells, strict=True):
            value = "" if cell.value is None else cell.value
            writer.writerow((*about, member.name, cell.state.value, cell.word, cell.figure, value))
    return out.getvalue()


def _nobody(finding: PlainFinding, table: FamilyTable) -> str:
    # The table has no row where no model has an outcome.
    experiment = next(each for each in EXPERIMENTS if each.name == finding.section)
    concerned = sum(member.name.operation in experiment.operations for member in table.members)
    return f"{_NOT_TOLD[CellState.NOT_RUN]}: {concerned} of {concerned}." if concerned else _NOBODY


def _evidence(table: FamilyTable, left_out: Mapping[str, bool | None]) -> Iterator[str]:
    # How many models, and how much evidence their experiments rest on.
    amounts = Counter(member.evidence for member in table.members).most_common()
    accurate = sum(member.meets_bar is True for member in table.members)
    yield f"{len(table.members)} models, {accurate} of which meet the bar of fewer than 10 failures per million."
    yield f"Experiments: {'; '.join(f'{amount} in {n} models' for amount, n in amounts)}."
    bars = Counter(left_out.values())
    others = [f"{bars[bar]} {what}" for bar, what in _OTHERS.items() if bars[bar]]
    if others:
        yield f"Tested and not compared here: {', '.join(others)}; they are listed at the end."


def _sentences(finding: PlainFinding, rows: Mapping[tuple[str, str], FamilyRow]) -> str:
    row = rows[finding.section, finding.row]
    said = [_by_word(finding, row)]
    for name, what in finding.numbers:
        measured = rows.get((finding.section, name))
        if measured is not None and measured.standing is Standing.MEASURED:
            said.append(f"{what[0].upper()}{what[1:]}: {measured.says}.")
    if paper := finding.paper or row.paper:
        agrees = f" (agrees in {row.agree} of {row.compared})" if row.compared else ""
        said.append(f"*The paper: {paper}{agrees}.*")
    return " ".join(said)


def _by_word(finding: PlainFinding, row: FamilyRow) -> str:
    concerned = len(row.cells) - row.count(CellState.APART)
    told = Counter(_phrase(finding, cell.word) for cell in row.cells if cell.state is CellState.TOLD)
    parts = [f"{phrase}: {n} of {concerned}" for phrase, n in told.most_common()]
    parts += [f"{said}: {n} of {concerned}" for state, said in _NOT_TOLD.items() if (n := row.count(state))]
    return f"{'; '.join(parts)}." if parts else _NOBODY


def _phrase(finding: PlainFinding, word: str) -> str:
    return _MIXED if word.startswith(MIXED) else finding.phrases.get(word, word)
