"""Saved evidence: all that was saved about the models, in the form in which claims ask for it.

Takes  the members of the family, their tests and histories.
Gives  `PaperEvidence`: findings by experiment and question, rows of the paper's tables with ours, parts of tests.
Never  measures, and never takes what was made from other weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from carrylens.arithmetic.battery.experiment import Experiment
from carrylens.arithmetic.battery.findings import ExperimentFinding, FindingQuestion
from carrylens.arithmetic.battery.outcome import BesidePaper
from carrylens.arithmetic.battery.registry import experiments_called
from carrylens.arithmetic.family.members import Member
from carrylens.arithmetic.family.rows import ModelRow
from carrylens.arithmetic.family.table import FamilyRow, FamilyTable
from carrylens.arithmetic.paper.measurements import Measurement
from carrylens.arithmetic.paper.saved_models import SavedModel


@dataclass(frozen=True, eq=False)
class PaperEvidence:
    """`models` by name; `rows` are the paper's, in its order; `published` are the lines of its tables by model.

    `variants` are models that were trained otherwise than their name says; `measured` is what no experiment has.
    """

    table: FamilyTable
    models: Mapping[str, SavedModel]
    rows: Sequence[ModelRow]
    published: Mapping[str, Mapping[str, str]]
    variants: Sequence[SavedModel] = ()
    measured: Sequence[Measurement] = ()

    @property
    def members(self) -> tuple[Member, ...]:
        """The accurate models, with their maps, claims and experiments."""
        return self.table.members

    def member(self, name: str) -> Member | None:
        """The accurate model of that name."""
        return next((each for each in self.members if str(each.name) == name), None)

    def measurements(self, name: str, model: str | None = None) -> list[Measurement]:
        """The measurements of that name, of one model or of all."""
        return [each for each in self.measured if each.name == name and model in (None, each.model)]

    def variant(self, name: str, **run: object) -> SavedModel | None:
        """The model of that name that was trained with these settings of its run."""
        found = (each for each in self.variants if str(each.name) == name)
        return next((each for each in found if all(each.run.get(key) == run[key] for key in run)), None)

    @cached_property
    def of_rows(self) -> list[tuple[ModelRow, SavedModel | None]]:
        """Each row of the paper's tables, with our model if there is one."""
        return [(row, self.models.get(row.model)) for row in self.rows]

    def row(self, section: str, name: str) -> FamilyRow | None:
        """A row of the family's table."""
        return next((row for row in self.table.rows if (row.section, row.name) == (section, name)), None)

    def findings(self, experiment: str, question: str) -> Iterator[tuple[Member, ExperimentFinding | None]]:
        """The answer of every model that the experiment is about; None where it was not run."""
        (found,) = experiments_called(experiment)
        question_of(found, question)
        for member in self.members:
            if member.name.operation in found.operations:
                outcome = member.outcomes.get(experiment)
                answers = () if outcome is None else self._answers(found, member)
                yield member, next((each for each in answers if each.question.name == question), None)

    def _answers(self, experiment: Experiment, member: Member) -> tuple[ExperimentFinding, ...]:
        key = (experiment.name, str(member.name))
        if key not in self._answered:
            self._answered[key] = experiment.findings_of(member.outcomes[experiment.name])
        return self._answered[key]

    @cached_property
    def _answered(self) -> dict[tuple[str, str], tuple[ExperimentFinding, ...]]:
        # One outcome answers several questions.
        return {}

    def beside(self, model: str, experiment: str, what: str) -> BesidePaper | None:
        """What an outcome sets beside the paper's figure, by how its name begins."""
        member = self.member(model)
        outcome = None if member is None else member.outcomes.get(experiment)
        rows = () if outcome is None else outcome.beside_paper
        return next((row for row in rows if row.what.startswith(what)), None)


def question_of(experiment: Experiment, name: str) -> FindingQuestion:
    """The question of that name."""
    return next(each for each in experiment.questions if each.name == name)
