"""Lenses: what other ways of looking show of the same model.

Takes  a subject.
Gives  when each token of the answer can be read by the unembedding itself; whether a sparse autoencoder's features tell
       sub-task values better than neurons do; what is guessed about the sign before the second operand is there.
Never  scores on the questions that a threshold, a unit or an autoencoder was chosen on.

1. Logit lens: the last norm and the unembedding read the stream at every place from D'0 on, behind every half layer.
   Null: the same readings held against other questions' answers. Rate of guessing: the commonest token.
   A token is read where it is surely right in most questions, and more often than by guessing and than the null.
2. Autoencoder: on MLP outputs of a middle column, with as many features as neurons, at every weight of a fixed ladder
   of sparsity and with several seeds each (`feature_units.py`). Do its best features tell sub-task values better than
   the best neurons, and than random directions, at every weight and whatever the seed?
3. Sign: at every place of the first operand, before the last layer, the logit of - less that of +, at the level and
   with the cut that are best on some questions. Beside it the best guess from the first digit, and untrained twins.
4. Each of the three has a verdict. That of the whole is the worst of them, and the sentence says on which it rests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.readouts.card import CARD
from carrylens.arithmetic.battery.readouts.feature_units import UnitComparison, compare_units
from carrylens.arithmetic.battery.readouts.sign_guess import SignGuess, sign_guesses
from carrylens.arithmetic.battery.readouts.token_readings import TokenReading, read_tokens
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Questions
from carrylens.tasks.batches import joined


@dataclass(frozen=True)
class ReadoutMeasurements:
    """What the unembedding reads of each token, what units tell, what is guessed about the sign."""

    readings: tuple[TokenReading, ...]
    units: UnitComparison
    guesses: tuple[SignGuess, ...]


def measure(context: ExperimentContext) -> ReadoutMeasurements | None:
    """All three readouts; None for a model that answers fewer than half of the questions."""
    settings = context.settings
    asked = joined(list(_branch_questions(context, "lens", settings.n_questions).values()))
    if context.subject.right(asked).mean() < 0.5:
        return None
    context.watch(CARD.title, 0, 3)
    readings = read_tokens(context, asked)
    context.watch(CARD.title, 1, 3)
    fit, test = (_branch_questions(context, word, settings.n_train) for word in ("fit", "test"))
    units = compare_units(context, fit, test)
    context.watch(CARD.title, 2, 3)
    return ReadoutMeasurements(tuple(readings), units, tuple(sign_guesses(context)))


def _branch_questions(context: ExperimentContext, split: str, n: int) -> dict[Branch, Questions]:
    subject = context.subject
    found = {}
    for branch in branches_of(subject.operation):
        seed = context.settings.seed_of(CARD.name, branch.value, split)
        drawn = Population(PopulationKind.NATURAL, branch.operation, subject.digits).draw(seed, 0, 4 * n)
        fits = is_negative(drawn) == (branch is Branch.NEGATIVE)
        found[branch] = drawn[np.flatnonzero(fits)[:n]]
    return found
