"""The contest: a hypothesis and its rivals, all of them fitted just as hard to the same model.

Takes  an aligner, a hypothesis, its rivals.
Gives  `MeasuredAlignment`: sites and rates of the hypothesis, the same rates of each rival, and how often the untouched
       model answers as the algorithm does on each population.
Never  judges: `claims/run_verdict.py` does, from what is saved.

A rival that gives other answers than the model to many questions is not fitted: it is worse before anything is moved.
Where the hypothesis fails on a describable part of the questions, a mixture by that predicate may be a rival, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from carrylens.discovery.alignment.aligner import Aligned, Aligner, AlignSettings, StatedAlgorithm
from carrylens.discovery.alignment.joint_rates import (
    DrawnFrom,
    MeasuredAlignment,
    PopulationAnswers,
    RivalRates,
)
from carrylens.discovery.alignment.joint_test import JointSettings
from carrylens.discovery.alignment.kept_fits import KeptFits
from carrylens.model.transformer import Transformer
from carrylens.progress import Progress, silent
from carrylens.tasks.samplers import Sampler, population_of
from carrylens.tasks.task import Task

MOST_LOOKS = 4
"""How often more questions are drawn for one verdict, the first look included."""
_ENRICHED = "enriched"
_ANSWERED_ON = ("natural", _ENRICHED, "structured")
_ERRS = 0.9  # a rival that surely agrees with the model less often is not fitted
_QUESTIONS, _QUICK_QUESTIONS = 20_000, 2_000

MixtureWhere = Callable[[str], Sequence[StatedAlgorithm]]
"""From a predicate on the question to mixtures of the hypothesis with others by it."""


@dataclass(frozen=True)
class ContestModel:
    """What the saved record says of the model: its name, the hash of its weights, and the name of its population."""

    name: str
    sha256: str
    population: str


@dataclass(frozen=True, eq=False)
class Contest:
    """One model, and the populations on which its answers are compared."""

    about: ContestModel
    aligner: Aligner
    populations: Mapping[str, Sampler]
    n_questions: int = _QUESTIONS

    def measure(
        self,
        stated: StatedAlgorithm,
        rivals: Sequence[StatedAlgorithm],
        mixtures: MixtureWhere | None = None,
    ) -> tuple[Aligned, MeasuredAlignment]:
        """The hypothesis with its rivals, and for more measurements what was aligned."""
        aligner = self.aligner
        mine = aligner.align(stated)
        found = [self._rival(each, stated, mine) for each in rivals]
        where = mine.rates.deviation
        if mixtures is not None and where is not None:
            found += [self._rival(each, stated, mine) for each in mixtures(where.where)]
        answers = tuple(
            PopulationAnswers(name, aligner.agreement(stated.model, sampler, self.n_questions))
            for name, sampler in self.populations.items()
        )
        return mine, replace(self._record(stated, mine), rivals=tuple(found), populations=answers)

    def settled(
        self,
        stated: StatedAlgorithm,
        rivals: Sequence[StatedAlgorithm],
        wants_more: Callable[[MeasuredAlignment], bool],
        mixtures: MixtureWhere | None = None,
    ) -> MeasuredAlignment:
        """The same, on more and more questions while `wants_more` says so, at most MOST_LOOKS times."""
        mine, found = self.measure(stated, rivals, mixtures)
        while found.looks < MOST_LOOKS and wants_more(found):
            mine, found = self.more(mine, found)
        return found

    def more(self, mine: Aligned, before: MeasuredAlignment) -> tuple[Aligned, MeasuredAlignment]:
        """The same sites on twice as many questions that were not drawn before: one look more."""
        was = before.drawn
        wider = JointSettings(2 * was.rows, 2 * was.each, self.aligner.settings.test.seed + 1000 * before.looks)
        mine = self.aligner.measure_again(mine, wider)
        drawn = DrawnFrom(was.population, was.seed, wider.n_rows, wider.n_each, was.fit_rows, was.fit_sweeps)
        return mine, replace(before, rates=mine.rates, drawn=drawn, looks=before.looks + 1)

    def _record(self, stated: StatedAlgorithm, mine: Aligned) -> MeasuredAlignment:
        fit, test = self.aligner.settings.fit, self.aligner.settings.test
        return MeasuredAlignment(
            self.about.name,
            self.about.sha256,
            stated.name,
            mine.placement.alignment(mine.form.name, mine.about.targets),
            mine.rates,
            DrawnFrom(self.about.population, test.seed, test.n_rows, test.n_each, fit.n_rows, fit.n_sweeps),
        )

    def _rival(self, rival: StatedAlgorithm, stated: StatedAlgorithm, mine: Aligned) -> RivalRates:
        answers = self.aligner.agreement(rival.model, self.aligner.population, self.n_questions // 2)
        if answers.interval[1] < _ERRS:
            return RivalRates(rival.name, answers, answers, answers, answers, includes(rival, stated))
        found = self.aligner.align_rival(rival, mine.rates.both)
        of = found.rates
        return RivalRates(
            rival.name, of.interchange, of.scrubbed, of.both, of.answers, includes(rival, stated), found.given_up
        )


def contest_for(
    model: Transformer,
    task: Task,
    about: ContestModel,
    settings: AlignSettings,
    watch: Progress = silent,
    kept: KeptFits | None = None,
) -> Contest:
    """The contest of a model on the populations of its task: sites on the enriched one, answers on all.

    A contest that was stopped goes on from the fits that were `kept`.
    """
    population = task.samplers[_ENRICHED] if _ENRICHED in task.samplers else population_of(task.causal)
    answered = {name: task.samplers[name] for name in _ANSWERED_ON if name in task.samplers}
    n_questions = _QUICK_QUESTIONS if settings.is_quick else _QUESTIONS
    return Contest(about, Aligner(model, task, population, settings, watch, kept or KeptFits()), answered, n_questions)


def population_name(task: Task) -> str:
    """What the population is called that sites are chosen and tested on."""
    return _ENRICHED if _ENRICHED in task.samplers else "own"


def includes(rival: StatedAlgorithm, stated: StatedAlgorithm) -> bool:
    """Whether a rival has all variables of the hypothesis, so that it runs it on some questions."""
    mine, its = ({each.name for each in one.model.by_variable} & set(one.required) for one in (stated, rival))
    return rival.model != stated.model and mine <= its
