"""The table: every finding on every model, and how it stands.

Takes  members of the family.
Gives  `FamilyTable`: rows in sections, each with a cell for every model; what holds in all, what varies, what is open.
Never  says that something holds in all where a model it applies to was not asked, or could not be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from carrylens.arithmetic.battery.experiment import Experiment
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.registry import EXPERIMENTS
from carrylens.arithmetic.family.cells import APART, NOT_RUN, CellState, FamilyCell, cell_of, span, verdict_cell
from carrylens.arithmetic.family.circuits import CIRCUIT_QUESTIONS
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.trends import trend_of
from carrylens.errors import CarryLensError

VERDICT, CIRCUIT_SECTION = "verdict", "Map and claims"

Findings = Mapping[str, ExperimentFinding]
"""By the name of their question."""


class Standing(Enum):
    """How a finding stands in the family."""

    HOLDS = "holds in all"
    SO_FAR = "same where told"
    VARIES = "varies"
    MEASURED = "measured"
    OPEN = "could not be told"


@dataclass(frozen=True)
class FamilyRow:
    """One finding: a cell for each model, in the order of the members; the paper's figure, and how many agree.

    `trend` is how the number goes as additions get longer.
    """

    section: str
    name: str
    cells: tuple[FamilyCell, ...]
    paper: str = ""
    agree: int = 0
    compared: int = 0
    trend: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The different words, the commonest first."""
        told = [cell.word for cell in self.cells if cell.state is CellState.TOLD]
        return tuple(sorted(dict.fromkeys(told), key=lambda word: (-told.count(word), told.index(word))))

    @property
    def standing(self) -> Standing:
        """Whether it holds in all, varies, or could not be told everywhere."""
        concerned = [cell for cell in self.cells if cell.state is not CellState.APART]
        if any(cell.state is CellState.MEASURED for cell in concerned):
            return Standing.MEASURED
        if not self.words:
            return Standing.OPEN
        if len(self.words) > 1:
            return Standing.VARIES
        everywhere = len(concerned) > 1 and all(cell.state is CellState.TOLD for cell in concerned)
        return Standing.HOLDS if everywhere else Standing.SO_FAR

    def count(self, *states: CellState) -> int:
        """How many cells are in one of these states."""
        return sum(cell.state in states for cell in self.cells)

    @property
    def says(self) -> str:
        """How it stands, in a few words."""
        told = self.count(CellState.TOLD, CellState.MEASURED)
        if self.standing is Standing.HOLDS:
            first = [f"holds in all {told}" if told == len(self.cells) else f"holds in all {told} it applies to"]
        elif self.standing is Standing.VARIES:
            first = [f"varies: {self._commonest()} of {told} {self.words[0]}"]
        elif self.standing is Standing.SO_FAR:
            first = [f"same in the {told} told" if told > 1 else "told in 1"]
        elif self.standing is Standing.MEASURED:
            first = [span([cell.value for cell in self.cells if cell.value is not None])]
            first += [self.trend] if self.trend else []
        else:
            first = []
        return "; ".join([*first, *self.rest]) or CellState.APART.value

    @property
    def rest(self) -> list[str]:
        """In how many models it is open, and in how many untested."""
        n_open, untested = self.count(CellState.OPEN), self.count(CellState.UNTESTED, CellState.NOT_RUN)
        return [f"open in {n_open}"] * bool(n_open) + [f"untested in {untested}"] * bool(untested)

    def _commonest(self) -> int:
        return sum(cell.state is CellState.TOLD and cell.word == self.words[0] for cell in self.cells)


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """Members and rows; `titles` says in full what each section asks."""

    members: tuple[Member, ...]
    rows: tuple[FamilyRow, ...]
    titles: Mapping[str, str]

    def standing(self, standing: Standing) -> list[FamilyRow]:
        """The rows that stand so."""
        return [row for row in self.rows if row.standing is standing]

    def models(self, row: FamilyRow, word: str) -> list[Member]:
        """The models that have this word in a row."""
        cells = zip(self.members, row.cells, strict=True)
        return [member for member, cell in cells if cell.state is CellState.TOLD and cell.word == word]

    def record(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "models": [_member_record(member) for member in self.members],
            "rows": [_row_record(row, self.members) for row in self.rows],
            **{
                key: [f"{row.section}: {row.name}" for row in self.standing(standing)]
                for key, standing in (("holds", Standing.HOLDS), ("varies", Standing.VARIES))
            },
        }


def family_table(members: Sequence[Member]) -> FamilyTable:
    """The table of these models."""
    if not members:
        raise CarryLensError("There is no model to compare. Give the names of some, such as those of carrylens models.")
    rows = [
        FamilyRow(CIRCUIT_SECTION, asked.name, tuple(asked.read(member) for member in members))
        for asked in CIRCUIT_QUESTIONS
    ]
    titles = {CIRCUIT_SECTION: "What the map holds, and what claims say of it"}
    titles |= {each.card.name: each.card.title for each in EXPERIMENTS}
    return FamilyTable(tuple(members), (*rows, *experiment_rows(members)), titles)


def experiment_rows(members: Sequence[Member]) -> Iterator[FamilyRow]:
    """For each experiment its verdict on each model, then what hides behind it where any model has an outcome."""
    for experiment in EXPERIMENTS:
        verdicts = tuple(_verdict(experiment, member) for member in members)
        yield FamilyRow(experiment.name, VERDICT, verdicts, experiment.card.paper)
        answers = [_answers(experiment, member) for member in members]
        for question in experiment.questions:
            row = _row(experiment, question, members, answers)
            if row.count(CellState.NOT_RUN, CellState.APART) < len(members):
                yield row


def _verdict(experiment: Experiment, member: Member) -> FamilyCell:
    if member.name.operation not in experiment.operations:
        return APART
    outcome = member.outcomes.get(experiment.name)
    return NOT_RUN if outcome is None else verdict_cell(outcome.verdict)


def _answers(experiment: Experiment, member: Member) -> Findings:
    # By the question's name: none where the experiment was not run.
    outcome = member.outcomes.get(experiment.name)
    found = () if outcome is None else experiment.findings_of(outcome)
    return {finding.question.name: finding for finding in found}


def _row(
    experiment: Experiment, question: FindingQuestion, members: Sequence[Member], answers: Sequence[Findings]
) -> FamilyRow:
    found = [mine.get(question.name) for mine in answers]
    cells = tuple(_cell(experiment, member, each) for member, each in zip(members, found, strict=True))
    beside = [each.paper for each in found if each is not None and each.paper is not None]
    told = [each.agrees for each in beside if each.agrees is not None]
    paper = "; ".join(dict.fromkeys(each.paper for each in beside))
    row = FamilyRow(experiment.name, question.asked, cells, paper, sum(told), len(told))
    trend = trend_of([(member.name, cell.value) for member, cell in zip(members, cells, strict=True)])
    if question.trend is None or trend is None:
        return row
    shown = "; ".join(filter(None, (paper, f"{question.trend.value} with digits")))
    return replace(
        row, paper=shown, agree=row.agree + trend.goes(question.trend), compared=row.compared + 1, trend=str(trend)
    )


def _cell(experiment: Experiment, member: Member, finding: ExperimentFinding | None) -> FamilyCell:
    if member.name.operation not in experiment.operations:
        return APART
    return NOT_RUN if finding is None else cell_of(finding)


def _member_record(member: Member) -> dict[str, Any]:
    return {
        "model": str(member.name),
        "source": member.source,
        "meets_bar": member.meets_bar,
        "battery": member.evidence,
        "map": member.mapped,
        "notes": list(member.notes),
    }


def _row_record(row: FamilyRow, members: Sequence[Member]) -> dict[str, Any]:
    return {
        "section": row.section,
        "finding": row.name,
        "stands": row.standing.value,
        "says": row.says,
        "paper": row.paper or None,
        "trend": row.trend or None,
        "agree_with_paper": [row.agree, row.compared] if row.compared else None,
        "cells": {
            member.source: {
                "state": cell.state.value,
                "word": cell.word or None,
                "figure": cell.figure or None,
                "value": cell.value,
            }
            for member, cell in zip(members, row.cells, strict=True)
        },
    }
