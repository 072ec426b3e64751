"""The aligner: of several forms of an algorithm the one that a model follows best, its sites, and its held-out rates.

Takes  a model, its task, and forms of an algorithm.
Gives  `Aligned`: the form, what is aligned, the placement, and the rates on questions that nothing was chosen with.
Never  chooses anything by the rates that it reports.

1. Fit every form in short: variables apart, and those of the same inputs together where nodes cannot tell them apart.
   Together is the weaker claim, so it must do clearly better.
2. Fit the best one in full.
3. Measure it on held-out questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrylens.discovery.alignment.fit import FitSettings, fit_alignment
from carrylens.discovery.alignment.joint_rates import JointRates
from carrylens.discovery.alignment.joint_test import JointSettings, measure_jointly
from carrylens.discovery.alignment.targets import AlignmentTarget, targets_of, together
from carrylens.discovery.alignment.trial import AlignmentTask, NodePlacement
from carrylens.model.transformer import Transformer
from carrylens.progress import Progress, silent
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task

_CLEARLY = 0.05  # of the fit's score


@dataclass(frozen=True)
class AlgorithmForm:
    """One way to state an algorithm: its name, its causal model, families that need sites, those that may be folded."""

    name: str
    causal: CausalModel
    required: tuple[str, ...]
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlignSettings:
    """How much is tried and measured."""

    fit: FitSettings = FitSettings()
    test: JointSettings = JointSettings()

    @classmethod
    def chosen(cls, seed: int = 0, *, quick: bool = False) -> AlignSettings:
        """The usual amounts, or the quick ones."""
        fit = FitSettings(n_rows=128 if quick else 256, n_sweeps=3 if quick else 4, seed=seed)
        return cls(fit, JointSettings(n_rows=512 if quick else 2048, n_each=96 if quick else 256, seed=seed))


@dataclass(frozen=True, eq=False)
class Aligned:
    """What was aligned, how, and what came out. `joined`: variables of the same inputs were moved together."""

    form: AlgorithmForm
    about: AlignmentTask
    placement: NodePlacement
    joined: bool
    rates: JointRates


@dataclass(frozen=True, eq=False)
class Aligner:
    """One model of one task, and the population that questions are drawn from."""

    model: Transformer
    task: Task
    population: Sampler
    settings: AlignSettings = AlignSettings()
    watch: Progress = silent

    def align(self, forms: Sequence[AlgorithmForm], *, carriers: bool = True) -> Aligned:
        """The form that fits best, with its sites and rates; without `carriers` the joint rates alone."""
        form, about, joined = self._chosen(forms)
        placement = fit_alignment(about, self.settings.fit, self.watch).placement
        rates = measure_jointly(about, placement, self.settings.test, self.watch, carriers=carriers)
        return Aligned(form, about, placement, joined, rates)

    def measure_again(self, found: Aligned, settings: JointSettings) -> Aligned:
        """The same sites on other held-out questions, or on more."""
        return replace(found, rates=measure_jointly(found.about, found.placement, settings, self.watch))

    def _chosen(self, forms: Sequence[AlgorithmForm]) -> tuple[AlgorithmForm, AlignmentTask, bool]:
        options = list[tuple[AlgorithmForm, AlignmentTask, bool]]()
        for form in forms:
            apart = targets_of(form.causal, form.required, form.folded)
            joint = together(form.causal, apart)
            options.append((form, self._about(form, apart), False))
            if joint != apart:
                options.append((form, self._about(form, joint), True))
        if len(options) == 1:
            return options[0]
        short = replace(self.settings.fit, n_sweeps=1)
        scores = [
            fit_alignment(about, short, self.watch).score - _CLEARLY * joined for _, about, joined in options
        ]
        return options[scores.index(max(scores))]

    def _about(self, form: AlgorithmForm, targets: tuple[AlignmentTarget, ...]) -> AlignmentTask:
        return AlignmentTask(self.model, self.task, form.causal, targets, self.population)
