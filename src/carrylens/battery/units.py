"""Units: do a sparse autoencoder's features tell sub-task values better than a model's own neurons?

Takes  a subject, and questions of each branch: to fit on, and others to score on.
Gives  the correlation of features with values beside those of neurons and of random directions; how much of the MLPs'
       writing the features rebuild, and how many of them are active at once.
Never  scores on the questions that a unit was chosen or an autoencoder fitted on.

1. For a middle column, read the MLP outputs at D'k and where digit k is predicted, in every layer.
2. Fit an autoencoder with as many features as there are neurons. On other questions: the share of variance it rebuilds,
   beside that of the same outputs with each coordinate shuffled among questions; and its active features, beside
   active neurons.
3. For every value of every sub-task of the column choose the best feature, neuron and random direction; take its
   correlation with the value on other questions. All intervals are over resampled questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.variables import MB, MD, NB, ND, SA, ST
from carrylens.battery.columns import Branch
from carrylens.battery.dictionary import Matrix, best_units, correlation, fit_dictionary, random_dictionary
from carrylens.battery.outcome import Estimate
from carrylens.battery.states import read_hooks
from carrylens.battery.subject import Settings, Subject
from carrylens.battery.weighing import overall
from carrylens.hypothesis.verdicts import Verdict

_NAME = "lenses"
_BOOTSTRAPS = 50
_KINDS = ("features", "neurons", "random")

Asked = dict[Branch, Questions]
Mlps = dict[tuple[int, int], tuple[Matrix, Matrix]]
"""For each layer and place what its MLP writes, and its neurons."""
Rows = list[NDArray[np.int64]]
"""For each branch which of its questions count."""


@dataclass(frozen=True)
class Units:
    """How features stand to values, beside neurons and random directions; how well they rebuild, and how sparsely."""

    values: tuple[Estimate, ...]
    rebuilt: tuple[Estimate, ...]

    @property
    def all(self) -> tuple[Estimate, ...]:
        """Every estimate."""
        return (*self.values, *self.rebuilt)


@dataclass(frozen=True, eq=False)
class _Site:
    """One MLP at one place, as scored: each list has a part for every branch, each array a row for every question.

    `chosen` has for each kind of unit the best one for every label. `spread` is the squared distance from the mean,
    `errors` what the features leave of it, `mixed` what they leave where coordinates are shuffled.
    """

    chosen: dict[str, list[Matrix]]
    spread: list[Matrix]
    errors: list[Matrix]
    mixed: list[Matrix]
    features: list[Matrix]
    neurons: list[Matrix]


def judge_units(units: Sequence[Estimate]) -> Verdict:
    """Features surely tell more than neurons, and than random directions."""
    parts = []
    for each in units:
        if each.low > each.null_high:
            parts.append(Verdict.SUPPORTED)
        else:
            parts.append(Verdict.REFUTED if each.high < each.null else Verdict.INCONCLUSIVE)
    return overall(parts)


def compare_units(subject: Subject, fit: Asked, test: Asked, settings: Settings) -> Units:
    """The estimates, as means over sites, branches and values; none where no MLP writes anything that varies."""
    column = subject.digits // 2
    places = (subject.position(f"D'{column}"), subject.predicting(column))
    labels = [[_labels(asked, branch, column) for branch, asked in some.items()] for some in (fit, test)]
    reads = [[_mlps(subject, asked, places) for asked in some.values()] for some in (fit, test)]
    sites = [
        site
        for layer in range(subject.last_layer + 1)
        for place in places
        if (site := _site(subject, reads, labels[0], layer, place, settings))
    ]
    return _compared(sites, labels[1], subject.model.config.d_mlp, settings) if sites else Units((), ())


def _site(
    subject: Subject,
    reads: list[list[Mlps]],
    labels: list[NDArray[np.bool_]],
    layer: int,
    place: int,
    settings: Settings,
) -> _Site | None:
    read = [[each[layer, place] for each in some] for some in reads]
    outs = np.concatenate([out for out, _ in read[0]])
    if outs.std(0).max() < 1e-6:
        return None
    n, seed = subject.model.config.d_mlp, settings.seed_of(_NAME, layer, place)
    ours, chance = fit_dictionary(outs, n, seed), random_dictionary(outs, n, seed)
    random = np.random.default_rng(settings.seed_of(_NAME, layer, place, "coordinates"))
    site = _Site({kind: [] for kind in _KINDS}, [], [], [], [], [])
    for (fit, fit_neurons), (test, test_neurons), label in zip(*read, labels, strict=True):
        features = ours.features(test)
        site.chosen["features"].append(best_units(ours.features(fit), label, features))
        site.chosen["random"].append(best_units(chance.features(fit), label, chance.features(test)))
        site.chosen["neurons"].append(best_units(fit_neurons, label, test_neurons))
        site.spread.append(((test - ours.mean) ** 2).sum(1))
        site.errors.append(ours.errors(test))
        site.mixed.append(ours.errors(random.permuted(test, axis=0)))
        site.features.append((features > 0).sum(1))
        site.neurons.append((test_neurons > 0).sum(1))
    return site


def _mlps(subject: Subject, questions: Questions, places: Sequence[int]) -> Mlps:
    layers = range(subject.last_layer + 1)
    hooks = [f"blocks.{layer}.{hook}" for layer in layers for hook in ("hook_mlp_out", "mlp.hook_post")]
    read = read_hooks(subject.model, questions, places, hooks)
    return {
        (layer, place): (read[2 * layer][:, at], read[2 * layer + 1][:, at])
        for layer in layers
        for at, place in enumerate(places)
    }


def _labels(questions: Questions, branch: Branch, column: int) -> NDArray[np.bool_]:
    values = subtasks(questions)
    digit, carry = {Branch.ADD: (SA, ST), Branch.POSITIVE: (MD, MB), Branch.NEGATIVE: (ND, NB)}[branch]
    columns = [values[family[column]] == value for family in (digit, carry) for value in family.values]
    return np.stack(columns, axis=1)


def _compared(sites: Sequence[_Site], labels: list[NDArray[np.bool_]], n_units: int, settings: Settings) -> Units:
    random, n = np.random.default_rng(settings.seed_of(_NAME, "bootstrap")), sum(map(len, labels))
    picks: list[Rows] = [[np.arange(len(label)) for label in labels]]
    picks += [[random.integers(0, len(label), len(label)) for label in labels] for _ in range(_BOOTSTRAPS)]

    def ends(measure: Callable[[_Site, Rows], float]) -> tuple[float, float, float]:
        means = np.array([np.mean([measure(site, rows) for site in sites]) for rows in picks])
        low, high = np.quantile(means[1:], (0.025, 0.975))
        return float(means[0]), float(low), float(high)

    def told(kind: str) -> tuple[float, float, float]:
        return ends(
            lambda site, rows: float(
                np.mean([correlation(u, y, r) for u, y, r in zip(site.chosen[kind], labels, rows, strict=True)])
            )
        )

    title, ours = "correlation of features with values, beside", told("features")
    values = (
        Estimate(f"{title} neurons", *ours, *told("neurons"), n),
        Estimate(f"{title} random directions", *ours, *told("random"), n),
    )
    explained, mixed, active, neurons = (
        ends(lambda site, rows: 1 - _total(site.errors, rows) / _total(site.spread, rows)),
        ends(lambda site, rows: 1 - _total(site.mixed, rows) / _total(site.spread, rows)),
        ends(lambda site, rows: _total(site.features, rows) / n),
        ends(lambda site, rows: _total(site.neurons, rows) / n),
    )
    rebuilt = (
        Estimate("variance explained by features, beside shuffled coordinates", *explained, *mixed, n),
        Estimate(f"active features of {n_units}, beside neurons", *active, *neurons, n),
    )
    return Units(values, rebuilt)


def _total(parts: Sequence[Matrix], rows: Rows) -> float:
    return float(sum(part[row].sum() for part, row in zip(parts, rows, strict=True)))
