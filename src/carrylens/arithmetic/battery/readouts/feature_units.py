"""Feature units: do a sparse autoencoder's features tell sub-task values better than a model's own neurons?

Takes  a subject, and questions of each branch: to fit on, and others to score on.
Gives  the correlation of features with values beside those of neurons and of random directions; how much of the MLPs'
       writing the features rebuild, and how many of them are active at once.
Never  scores on the questions that a unit was chosen or an autoencoder fitted on.

1. For a middle column, read the MLP outputs at D'k and where digit k is predicted, in every layer.
2. Fit autoencoders with as many features as there are neurons: one for each weight of a ladder of sparsity, fixed
   beforehand, and each of several seeds. On other questions: the share of variance they rebuild, beside that of the
   same outputs with each coordinate shuffled among questions; and their active features, beside active neurons.
3. For every value of every sub-task of the column choose the best feature, neuron and random direction; take its
   correlation with the value on other questions. Each seed has an interval over resampled questions; that of a weight
   reaches from the lowest end of any seed to the highest, and its value is the mean of the seeds'.
4. Features tell more only if they surely do at every weight of the ladder: none is chosen by what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.residual_states import read_hooks
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import Estimate
from carrylens.arithmetic.battery.readouts.sparse_dictionary import (
    LADDER,
    SparseDictionary,
    Vectors,
    best_units,
    correlation,
    fit_dictionary,
    random_dictionary,
)
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.variables import MB, MD, NB, ND, SA, ST
from carrylens.claims.verdicts import Verdict

_NAME = "lenses"
_BOOTSTRAPS = 50
FEATURE_CORRELATION = "correlation of features"
"""How the names of these estimates begin."""
FIT_SEEDS = {True: 2, False: 3}
"""How many fits each weight of sparsity gets, in the quick form and in the full one."""
BranchQuestions = dict[Branch, Questions]
Mlps = dict[tuple[int, int], tuple[Vectors, Vectors]]
"""For each layer and place what its MLP writes, and its neurons."""
BranchRows = list[NDArray[np.int64]]
"""For each branch which of its questions count."""
Ends = tuple[float, float, float]
"""A mean, and the ends of its interval."""


@dataclass(frozen=True)
class SparsityRung:
    """What one weight of sparsity gives: how features stand to values beside neurons and beside random directions, how
    much they rebuild, how many are active.
    """

    sparsity: float
    neurons: Estimate
    random: Estimate
    rebuilt: Estimate
    active: Estimate


@dataclass(frozen=True)
class UnitComparison:
    """The rungs of the ladder; none where no MLP writes anything that varies."""

    rungs: tuple[SparsityRung, ...] = ()

    @property
    def values(self) -> tuple[Estimate, ...]:
        """What the verdict rests on: how features stand to values."""
        return tuple(each for rung in self.rungs for each in (rung.neurons, rung.random))

    @property
    def all(self) -> tuple[Estimate, ...]:
        """Every estimate."""
        return (*self.values, *(each for rung in self.rungs for each in (rung.rebuilt, rung.active)))


@dataclass(frozen=True, eq=False)
class _ScoredUnits:
    """One kind of unit of one MLP at one place: each list has a part for every branch, a row for every question.

    `chosen` has the best unit for every label, `active` how many are on. `spread` is the squared distance from the
    mean, `errors` what the units leave of it, `mixed` what they leave where coordinates are shuffled.
    """

    chosen: list[Vectors]
    active: list[Vectors]
    spread: list[Vectors] = field(default_factory=list)
    errors: list[Vectors] = field(default_factory=list)
    mixed: list[Vectors] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _MlpSite:
    """One MLP at one place: its neurons, random directions for each seed, features for each weight and seed."""

    neurons: _ScoredUnits
    random: list[_ScoredUnits]
    features: dict[float, list[_ScoredUnits]]


def judge_units(units: Sequence[Estimate]) -> Verdict:
    """Features surely tell more than neurons, and than random directions, in each of these comparisons."""
    parts = []
    for each in units:
        if each.low > each.null_high:
            parts.append(Verdict.SUPPORTED)
        else:
            parts.append(Verdict.REFUTED if each.high < each.null else Verdict.INCONCLUSIVE)
    return overall(parts)


def compare_units(context: ExperimentContext, fit: BranchQuestions, test: BranchQuestions) -> UnitComparison:
    """The estimates, as means over sites, branches and values; none where no MLP writes anything that varies."""
    subject, settings = context.subject, context.settings
    column = subject.digits // 2
    places = (subject.position(f"D'{column}"), subject.predicting(column))
    labels = [[value_labels(asked, branch, column) for branch, asked in some.items()] for some in (fit, test)]
    reads = [[mlp_writes(subject, asked, places) for asked in some.values()] for some in (fit, test)]
    sites = [
        site
        for layer in range(subject.last_layer + 1)
        for place in places
        if (site := _site(context, reads, labels[0], layer, place))
    ]
    return _compared(sites, labels[1], subject.model.config.d_mlp, settings) if sites else UnitComparison()


def _site(
    context: ExperimentContext,
    reads: list[list[Mlps]],
    labels: list[NDArray[np.bool_]],
    layer: int,
    place: int,
) -> _MlpSite | None:
    subject, settings = context.subject, context.settings
    read = [[each[layer, place] for each in some] for some in reads]
    outs = np.concatenate([out for out, _ in read[0]])
    if outs.std(0).max() < 1e-6:
        return None
    n, seeds = subject.model.config.d_mlp, range(FIT_SEEDS[settings.quick])
    fits, tests = ([out for out, _ in some] for some in read)
    own = [best_units(fit, label, test) for (_, fit), (_, test), label in zip(*read, labels, strict=True)]

    def scored(ours: SparseDictionary, at: int) -> _ScoredUnits:
        random = np.random.default_rng(settings.seed_of(_NAME, layer, place, "coordinates", at))
        return _ScoredUnits(
            chosen=[
                best_units(ours.features(fit), label, ours.features(test))
                for fit, test, label in zip(fits, tests, labels, strict=True)
            ],
            active=[(ours.features(test) > 0).sum(1) for test in tests],
            spread=[((test - ours.mean) ** 2).sum(1) for test in tests],
            errors=[ours.errors(test) for test in tests],
            mixed=[ours.errors(random.permuted(test, axis=0)) for test in tests],
        )

    seed_of = [settings.seed_of(_NAME, layer, place, at) for at in seeds]
    return _MlpSite(
        neurons=_ScoredUnits(own, [(neurons > 0).sum(1) for _, neurons in read[1]]),
        random=[scored(random_dictionary(outs, n, seed_of[at]), at) for at in seeds],
        features={
            weight: [scored(fit_dictionary(outs, n, seed_of[at], weight), at) for at in seeds] for weight in LADDER
        },
    )


def mlp_writes(subject: Subject, questions: Questions, places: Sequence[int]) -> Mlps:
    """What each layer's MLP writes at each place, and its neurons."""
    layers = range(subject.last_layer + 1)
    hooks = [f"blocks.{layer}.{hook}" for layer in layers for hook in ("hook_mlp_out", "mlp.hook_post")]
    read = read_hooks(subject.model, questions, places, hooks)
    return {
        (layer, place): (read[2 * layer][:, at], read[2 * layer + 1][:, at])
        for layer in layers
        for at, place in enumerate(places)
    }


def value_labels(questions: Questions, branch: Branch, column: int) -> NDArray[np.bool_]:
    """Which questions have each value of the column's sub-tasks: axes question, value."""
    values = subtasks(questions)
    digit, carry = {Branch.ADD: (SA, ST), Branch.POSITIVE: (MD, MB), Branch.NEGATIVE: (ND, NB)}[branch]
    columns = [values[family[column]] == value for family in (digit, carry) for value in family.values]
    return np.stack(columns, axis=1)


def _compared(
    sites: Sequence[_MlpSite], labels: list[NDArray[np.bool_]], n_units: int, settings: BatterySettings
) -> UnitComparison:
    random, n = np.random.default_rng(settings.seed_of(_NAME, "bootstrap")), sum(map(len, labels))
    picks: list[BranchRows] = [[np.arange(len(label)) for label in labels]]
    picks += [[random.integers(0, len(label), len(label)) for label in labels] for _ in range(_BOOTSTRAPS)]

    def over_seeds(
        measure: Callable[[_ScoredUnits, BranchRows], float], kinds: Sequence[Sequence[_ScoredUnits]]
    ) -> Ends:
        # The units of each seed at all sites: the mean of the seeds, and from the lowest end of any to the highest.
        found = np.array([[np.mean([measure(one, rows) for one in some]) for rows in picks] for some in kinds])
        low, high = np.quantile(found[:, 1:], (0.025, 0.975), axis=1)
        return float(found[:, 0].mean()), float(low.min()), float(high.max())

    def told(one: _ScoredUnits, rows: BranchRows) -> float:
        return float(np.mean([correlation(u, y, r) for u, y, r in zip(one.chosen, labels, rows, strict=True)]))

    def rebuilt(one: _ScoredUnits, rows: BranchRows) -> float:
        return 1 - _total(one.errors, rows) / _total(one.spread, rows)

    def mixed(one: _ScoredUnits, rows: BranchRows) -> float:
        return 1 - _total(one.mixed, rows) / _total(one.spread, rows)

    def active(one: _ScoredUnits, rows: BranchRows) -> float:
        return _total(one.active, rows) / n

    own, chance = [[site.neurons for site in sites]], _by_seed([site.random for site in sites])
    neurons, random_told, on = over_seeds(told, own), over_seeds(told, chance), over_seeds(active, own)

    def rung(weight: float) -> SparsityRung:
        ours = _by_seed([site.features[weight] for site in sites])
        ends, at = over_seeds(told, ours), f"at sparsity {weight:g}"
        names = (f"{FEATURE_CORRELATION} with values {at}", f"variance explained by features {at}")
        return SparsityRung(
            weight,
            Estimate(f"{names[0]}, beside neurons", *ends, *neurons, n),
            Estimate(f"{names[0]}, beside random directions", *ends, *random_told, n),
            Estimate(
                f"{names[1]}, beside shuffled coordinates", *over_seeds(rebuilt, ours), *over_seeds(mixed, ours), n
            ),
            Estimate(f"active features of {n_units} {at}, beside neurons", *over_seeds(active, ours), *on, n),
        )

    return UnitComparison(tuple(map(rung, LADDER)))


def _by_seed(sites: Sequence[Sequence[_ScoredUnits]]) -> list[list[_ScoredUnits]]:
    return [list(some) for some in zip(*sites, strict=True)]


def _total(parts: Sequence[Vectors], rows: BranchRows) -> float:
    return float(sum(part[row].sum() for part, row in zip(parts, rows, strict=True)))
