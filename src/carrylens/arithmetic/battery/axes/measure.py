"""Axes: do carries and borrows come to the combiner along one direction, or along several?

Takes  a subject that adds and subtracts.
Gives  for every digit the angles between the addition's carry, the positive borrow and the negative borrow: of their
       mean directions, with intervals and a null, and between the subspaces they span.
Never  calls an axis shared because two borrows always turn together.

1. Pairs in which the deciding column is turned, at every depth; the token of the place that predicts the digit stays.
   There, behind the heads of the layer that combines (found for each branch on other pairs, `combiner_layer.py`), the
   source's stream less the base's is what the carry alone changes; all are made to go from 0 to 1.
2. Where D<D' becomes D>D', the borrow of D-D' goes and that of D'-D comes, so a model that holds both apart looks as if
   they shared an axis. So pairs are pure: what the other two branches would carry into the digit stays as it is.
3. The axis of a branch is the mean of those differences; |cos| between two has a bootstrap interval over pairs.
4. Null: the mean difference to sources of the same carry, in units of the effect's length: where such a source changes
   nothing there is no direction to compare, and it must not be made one by giving it length. Chance: the |cos| with
   differences of unrelated questions of one carry, below which 95% of them lie. Ceiling: two halves of one branch.
5. Principal angles between the subspaces of the three largest directions of each branch: the cosines of all of them,
   with bootstrap intervals. Null: those with the three largest directions of unrelated differences.
6. Facts: in how many pairs of one branch the difference lies along the other branch's axis, beyond chance. Null:
   sources of the same carry; a difference shorter than the mean effect is taken to be as long as that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.axes.angles import Angle, CarryDifferences, angles_between
from carrylens.arithmetic.battery.axes.card import CARD
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layer, combiner_layers
from carrylens.arithmetic.battery.measures.interchange_rates import answered_pairs
from carrylens.arithmetic.battery.measures.residual_states import levels_of, read_states
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs, own_carry, pure_pairs
from carrylens.arithmetic.questions import Operation
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.tasks.batches import joined

BOTH_BORROWS = "positive-negative"


@dataclass(frozen=True)
class AxisMeasurements:
    """The angles at every digit, each borrow turned alone and both turned together; the combiners' layers."""

    found: tuple[Angle, ...]
    together: tuple[Angle, ...]
    layers: Mapping[Branch, int]


def measure(context: ExperimentContext) -> AxisMeasurements:
    """The angles at every digit of which enough pairs are answered on every branch."""
    subject, settings = context.subject, context.settings
    found: list[Angle] = []
    together: list[Angle] = []
    digits = range(1, subject.digits) if subject.operation is Operation.MIX else ()
    for at, digit in enumerate(digits):
        context.watch(CARD.title, at, len(digits))
        pure = {branch: _differences(context, branch, digit, pure=True) for branch in Branch}
        both = {branch: _differences(context, branch, digit, pure=False) for branch in Branch}
        if min(len(each.effect) for each in (*pure.values(), *both.values())) >= THRESHOLDS.least_searched:
            found += angles_between(digit, pure, settings)
            together += [angle for angle in angles_between(digit, both, settings) if angle.name == BOTH_BORROWS]
    return AxisMeasurements(tuple(found), tuple(together), combiner_layers(context) if found else {})


def _differences(context: ExperimentContext, branch: Branch, digit: int, *, pure: bool) -> CarryDifferences:
    subject, settings = context.subject, context.settings
    place, level = subject.predicting(digit), levels_of(combiner_layer(context, branch) + 1)[-2]
    draw = pure_pairs if pure else deciding_pairs
    effect, null, unrelated = [], [], []
    random = np.random.default_rng(settings.seed_of(CARD.name, branch, digit, "unrelated"))
    for depth in range(digit):
        seed = settings.seed_of(CARD.name, branch, digit, depth, pure)
        drawn = draw(branch, subject.digits, digit, depth, -(-2 * settings.n_pairs // digit), seed)
        pairs = answered_pairs(subject, drawn)
        if len(pairs):
            asked = joined([pairs.base, pairs.source, pairs.null])
            base, source, same = np.split(read_states(subject.model, asked, [place], [level])[:, 0, 0], 3)
            ways = np.where(own_carry(pairs, pairs.source) == 1, 1.0, -1.0)[:, None]
            effect.append((source - base) * ways)
            null.append((same - base) * ways)
            unrelated += [
                some[random.permutation(len(some))] - some for some in (base[ways[:, 0] == w] for w in (1, -1))
            ]
    nothing = np.zeros((0, subject.model.config.d_model))
    return CarryDifferences(*(np.concatenate([nothing, *rows]) for rows in (effect, null, unrelated)))
