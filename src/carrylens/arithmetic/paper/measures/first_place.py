"""First place: what is computed at P0, where the model has read one digit, and whether the answer uses it.

Takes  a model that subtracts.
Gives  answers and signs that become wrong without all nodes of P0; signs that turn, and that lean towards +, when these
       nodes take what they write for a high first digit instead of a low one.
Never  counts a question that the model, untouched, does not answer.

The token itself stays: what later heads read straight from the digit is not what was computed there. High digits are 8
and 9, low ones 0 and 1. Null of the leaning: an 8 beside a 9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.paper.measurements import LabelledRate
from carrylens.arithmetic.paper.measures.measure import PaperMeasure, Rates
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.tokens import VOCABULARY
from carrylens.interventions.edits import Fill, ablate, interchange

_QUESTIONS = 2048
_SIGNS = tuple(VOCABULARY.index(sign) for sign in "+-")
ANSWERS, SIGNS, TURNED, LEANING = "answers wrong", "signs wrong", "signs turned", "leaning towards +"


def wrong_label(what: str, fill: Fill) -> str:
    """What the rate of wrong answers, or signs, is called."""
    return f"{what}, {fill.value} ablation"


def _measure(context: ExperimentContext) -> Rates:
    subject, settings = context.subject, context.settings
    drawn = Population(PopulationKind.NATURAL, Operation.SUB, subject.digits).draw
    asked = drawn(settings.seed_of("first place", "asked"), 0, _QUESTIONS)
    asked = asked[subject.right(asked)]
    reference = drawn(settings.seed_of("first place", "reference"), 0, settings.n_reference)
    nodes = subject.nodes_at(0)
    fills = (Fill.MEAN, Fill.RESAMPLE)
    without = subject.engine.run([ablate(nodes, fill) for fill in fills], asked, reference=reference)
    found = []
    for fill, tokens in zip(fills, ~without.correct, strict=True):
        found.append(LabelledRate(wrong_label(ANSWERS, fill), hit_rate(tokens.any(-1))))
        found.append(LabelledRate(wrong_label(SIGNS, fill), hit_rate(tokens[:, 0])))
    others = drawn(settings.seed_of("first place", "sources"), 0, 3 * len(asked))
    random = np.random.default_rng(settings.seed_of("first place", "digits"))
    eight_or_nine = random.choice((8, 9), len(asked))
    firsts = (eight_or_nine, random.choice((0, 1), len(asked)), 17 - eight_or_nine)
    high, low, again = (_with_first(others[at::3], first) for at, first in enumerate(firsts))
    edit = [interchange(nodes)]
    taken = [subject.engine.run(edit, asked, source, logits=True) for source in (high, low, again)]
    minus = []
    for each in taken:
        assert each.logits is not None
        minus.append(each.logits[0, :, 0, _SIGNS[1]] - each.logits[0, :, 0, _SIGNS[0]])
    turned = np.asarray(taken[0].tokens[0, :, 0] != taken[1].tokens[0, :, 0])
    same = np.asarray(taken[0].tokens[0, :, 0] != taken[2].tokens[0, :, 0])
    found.append(LabelledRate(TURNED, hit_rate(turned), hit_rate(same)))
    found.append(LabelledRate(LEANING, hit_rate(minus[0] < minus[1]), hit_rate(minus[0] < minus[2])))
    return found


def _with_first(questions: Questions, digits: NDArray[np.int64]) -> Questions:
    first: NDArray[np.int8] = np.array(questions.first)
    first[:, -1] = digits
    return Questions(first, questions.second, questions.minus)


FIRST_PLACE = PaperMeasure(
    "first-place", lambda name: name.operation is not Operation.ADD, _measure, {"questions": _QUESTIONS}
)
