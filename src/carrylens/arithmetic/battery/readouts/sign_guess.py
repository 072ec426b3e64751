"""Sign guess: what a model guesses about the sign before it has read the second operand.

Takes  a subject.
Gives  for every place of the first operand how often the unembedding's sign is right there, beside untrained twins and
       the best guess from the first digit.
Never  scores level or cut on the questions they were chosen on, nor takes one untrained model for all: they differ, so
       a guess counts only if it is better than that of nearly every twin at the twin's best place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.residual_states import lens_logits, levels_of, read_states
from carrylens.arithmetic.battery.measures.verdict_rules import surely_most
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import MINUS, PLUS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.rates import Rate
from carrylens.model.transformer import Transformer

_NAME = "lenses"
_TWINS = 19
_CHANCE = 0.05
"""The share of untrained twins that may guess as well, were the model one of them."""


@dataclass(frozen=True)
class SignGuess:
    """How often the sign is guessed at a place of the first operand; `best` is from the first digit.

    `twins` has each question guessed by one untrained twin; `as_good` is the share of twins that are as good somewhere.
    """

    place: str
    lens: Rate
    twins: Rate
    best: Rate
    as_good: Rate

    @property
    def better(self) -> bool:
        """Whether 95% of untrained models guess worse at every place, this one counted among them."""
        return (1 + self.as_good.hits) / (1 + self.as_good.n) <= _CHANCE


def judge_guesses(guesses: Sequence[SignGuess]) -> Verdict:
    """At some place of the first operand the sign is guessed better than by untrained twins."""
    if not guesses:
        return Verdict.UNTESTED
    if any(surely_most(each.lens) and each.better for each in guesses):
        return Verdict.SUPPORTED
    no_better = all(not each.better and each.lens.interval[1] < each.best.value for each in guesses)
    return Verdict.REFUTED if no_better else Verdict.INCONCLUSIVE


def sign_guesses(context: ExperimentContext) -> list[SignGuess]:
    """The guesses at every place of the first operand; none for a model that only adds."""
    subject, settings = context.subject, context.settings
    if subject.operation is Operation.ADD:
        return []
    n, digits = 2 * settings.n_train, subject.digits
    seeds = [settings.seed_of(_NAME, "sign", split) for split in ("fit", "test")]
    fit, test = (Population(PopulationKind.NATURAL, Operation.SUB, digits).draw(seed, 0, n) for seed in seeds)
    negative = [is_negative(each) for each in (fit, test)]
    best = hit_rate((test.first[:, -1] < 5) == negative[1])
    twins = [
        Transformer(replace(subject.model.config, seed=settings.seed_of(_NAME, "twin", at))).eval()
        for at in range(_TWINS)
    ]
    scores = [[_sign_scores(model, each, digits) for each in (fit, test)] for model in (subject.model, *twins)]
    hits = np.array(
        [
            [_cut(one[0][:, place], negative[0], one[1][:, place]) == negative[1] for place in range(digits)]
            for one in scores
        ]
    )
    whose, best_of_twin = np.arange(n) % _TWINS, hits[1:].sum(-1).max(1)
    found = []
    for place in range(digits):
        dealt = hits[1 + whose, place, np.arange(n)]
        as_good = Rate(int((best_of_twin >= hits[0, place].sum()).sum()), _TWINS)
        found.append(SignGuess(subject.place(place), hit_rate(hits[0, place]), hit_rate(dealt), best, as_good))
    return found


def _sign_scores(model: Transformer, questions: Questions, digits: int) -> NDArray[np.float64]:
    # Axes question, place, level. The last layer is left out: no later component reads what it writes before the
    # answer.
    levels = levels_of(model.config.n_layers)[:-2] or levels_of(model.config.n_layers)
    logits = lens_logits(model, read_states(model, questions, range(digits), levels))
    return np.asarray(logits[..., MINUS] - logits[..., PLUS], dtype=np.float64)


def _cut(fit: NDArray[np.float64], labels: NDArray[np.bool_], test: NDArray[np.float64]) -> NDArray[np.bool_]:
    # Level and cut that are most often right on the fitting questions: negative above the cut.
    best = max((_best_cut(column, labels), level) for level, column in enumerate(fit.T))
    (_, edge), level = best
    return np.asarray(test[:, level] > edge)


def _best_cut(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> tuple[int, float]:
    # How often the best cut is right, and the cut; only between scores that differ.
    order = np.argsort(scores, kind="stable")
    below, above = np.cumsum(~labels[order]), np.cumsum(labels[order][::-1])[::-1]
    right = np.concatenate([[0], below]) + np.concatenate([above, [0]])
    edges = np.concatenate([[-np.inf], scores[order]])
    ends = np.append(edges[1:] != edges[:-1], True)
    at = int(np.where(ends, right, -1).argmax())
    return int(right[at]), float(edges[at])
