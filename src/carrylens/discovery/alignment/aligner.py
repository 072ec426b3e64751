"""The aligner: of several forms of an algorithm the one that a model follows best, its sites, and its held-out rates.

Takes  a model, its task, and forms of an algorithm.
Gives  `Aligned`: the form, what is aligned, the placement, and the rates on questions that nothing was chosen with.
Never  chooses anything by the rates that it reports.

1. Fit every form in short, and compare them by joint interchange on other questions.
2. Fit the best one in full.
3. Measure it on held-out questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import torch

from carrylens.discovery.alignment.alignment_task import AlignmentTask, inner_targets
from carrylens.discovery.alignment.fit import FitSettings, Fitted, fit_alignment
from carrylens.discovery.alignment.joint_rates import FULL_FIT_ROWS, QUICK_FIT_ROWS, JointRates
from carrylens.discovery.alignment.joint_test import SEVERAL, JointSettings, measure_jointly
from carrylens.discovery.alignment.kept_fits import KeptFits
from carrylens.discovery.alignment.placement import NodePlacement
from carrylens.discovery.alignment.targets import targets_of
from carrylens.discovery.alignment.trial import JointDraw, Trial
from carrylens.evidence.rates import Rate
from carrylens.model.interchange_pass import clean_pass
from carrylens.model.transformer import Transformer
from carrylens.progress import Progress, silent
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task

_SHORT = 2  # sweeps, by which forms are compared
_HOPELESS = 0.5  # of what the hypothesis explains: a rival that surely explains less after these is not fitted further
_PIECE = 1024


class StatedAlgorithm(Protocol):
    """Anything that says which algorithm is meant: a causal model, families that need sites, those that may be folded,
    and other forms of the same."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def model(self) -> CausalModel:
        """The algorithm."""
        ...

    @property
    def required(self) -> tuple[str, ...]:
        """The families whose variables need a site."""
        ...

    @property
    def folded(self) -> tuple[str, ...]:
        """Those of them that need one only for the outputs that read them directly."""
        ...

    @property
    def forms(self) -> Sequence[StatedAlgorithm]:
        """Other ways to state the same."""
        ...


@dataclass(frozen=True)
class AlignSettings:
    """How much is tried and measured."""

    fit: FitSettings = field(default_factory=FitSettings)
    test: JointSettings = field(default_factory=JointSettings)
    is_quick: bool = False

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> AlignSettings:
        """The usual amounts, or the quick ones."""
        fit = FitSettings(n_rows=QUICK_FIT_ROWS if quick else FULL_FIT_ROWS, n_sweeps=4 if quick else 5, seed=seed)
        test = JointSettings(n_rows=512 if quick else 2048, n_each=96 if quick else 256, seed=seed)
        return cls(fit, test, quick)


@dataclass(frozen=True, eq=False)
class Aligned:
    """What was aligned, how, and what came out. One that was `given_up` was fitted in short only."""

    form: StatedAlgorithm
    about: AlignmentTask
    placement: NodePlacement
    rates: JointRates
    given_up: bool = False


@dataclass(frozen=True, eq=False)
class Aligner:
    """One model of one task, and the population that questions are drawn from."""

    model: Transformer
    task: Task
    population: Sampler
    settings: AlignSettings = field(default_factory=AlignSettings)
    watch: Progress = silent
    kept: KeptFits = field(default_factory=KeptFits)

    def align(self, stated: StatedAlgorithm, *, carriers: bool = True) -> Aligned:
        """The form of it that fits best, with its sites and rates; without `carriers` the joint rates alone."""
        form, about, fit = self._begun(stated)
        placement = self._fit(about, self.settings.fit, fit).placement
        rates = measure_jointly(about, placement, self.settings.test, self.watch, carriers=carriers)
        return Aligned(form, about, placement, rates)

    def align_rival(self, rival: StatedAlgorithm, mine: Rate) -> Aligned:
        """A rival of what explains this share of joint interventions with all else resampled; its joint rates alone.

        It is fitted just as hard, unless it surely explains less than half as much when it was fitted in short.
        """
        form, about, fit = self._begun(rival)
        given_up = self._followed(about, fit, 1.0).interval[1] < _HOPELESS * mine.value
        if not given_up:
            fit = self._fit(about, self.settings.fit, fit)
        rates = measure_jointly(about, fit.placement, self.settings.test, self.watch, carriers=False)
        return Aligned(form, about, fit.placement, rates, given_up)

    def measure_again(self, found: Aligned, settings: JointSettings) -> Aligned:
        """The same sites on other held-out questions, or on more."""
        return replace(found, rates=measure_jointly(found.about, found.placement, settings, self.watch))

    def agreement(self, causal: CausalModel, sampler: Sampler, n_questions: int) -> Rate:
        """How many of a population's questions the untouched model answers just as the algorithm does."""
        seed, hits = 15_485_863 + self.settings.test.seed, 0
        for start in range(0, n_questions, _PIECE):
            questions = sampler.draw(seed, start, min(_PIECE, n_questions - start))
            outputs = causal.output_values(questions)
            tokens = torch.from_numpy(self.task.token_ids(questions, outputs))
            with torch.inference_mode():
                logits, _ = clean_pass(self.model, tokens)
            read = [at - self.task.layout.reads.start for at in self.task.layout.read_positions]
            said = logits[:, read].argmax(-1).numpy()
            hits += int((said == self.task.output_ids(questions, outputs)).all(1).sum())
        return Rate(hits, n_questions)

    def _fit(self, about: AlignmentTask, settings: FitSettings, begun: Fitted | None = None) -> Fitted:
        keep = partial(self.kept.keep, about, settings)
        return fit_alignment(about, settings, self.watch, self.kept.begun(about, settings) or begun, keep)

    def _begun(self, stated: StatedAlgorithm) -> tuple[StatedAlgorithm, AlignmentTask, Fitted]:
        short = replace(self.settings.fit, n_sweeps=_SHORT)
        options = [(form, self._about(form)) for form in (stated, *stated.forms)]
        begun = [(form, about, self._fit(about, short)) for form, about in options]
        return begun[0] if len(begun) == 1 else max(begun, key=lambda each: self._followed(each[1], each[2], 0.5).value)

    def _followed(self, about: AlignmentTask, fit: Fitted, idle: float) -> Rate:
        # Joint interchange, with the rest resampled in some of the rows, on questions that no sweep has seen.
        several = JointDraw(SEVERAL, SEVERAL, idle, inner_targets(about))
        trial = Trial.drawn(about, several, 6_700_417 + self.settings.fit.seed, 2 * self.settings.fit.n_rows)
        return Rate(int(trial.followed(fit.placement).all(1).sum()), len(trial.rows))

    def _about(self, form: StatedAlgorithm) -> AlignmentTask:
        targets = targets_of(form.model, form.required, form.folded)
        return AlignmentTask(self.model, self.task, form.model, targets, self.population)
