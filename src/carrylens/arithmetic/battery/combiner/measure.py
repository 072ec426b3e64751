"""The step combiner: how does an MLP turn its carry input into a digit, by a step or in proportion?

Takes  a subject.
Gives  for every branch and digit the curve of logit difference and of the MLP's own output as its carry input goes from
       the base's to the source's; slope and threshold; how many pairs make a step.
Never  reads the argmax alone: through it every rising curve is a step.

1. Pairs in which the deciding column is turned, so that at the place of digit j nothing differs but the carry: the
   token there is the same. The combiner's layer is found for each branch on other pairs (`combiner_layer.py`).
2. Its MLP there, and no other component, reads all writes of its place a share of the way to the source's.
3. Measure the logit of the source's digit less that of the base's, and the MLP's output along its own change.
4. Of every pair whose digit turns, fit on every other share a curve between a straight line and a step; score both on
   the shares between.
5. The alternative: a straight line, which takes 0.8 of the way from 10% to 90%. A step takes less than half of that,
   and fits better than the line on shares it was not fitted on.
6. Two nulls: the same with a source of the same carry; and the carry's own direction with its coordinates permuted,
   another order for every pair, which has its length and nothing else of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.combiner.card import CARD
from carrylens.arithmetic.battery.combiner.curve_fits import SHARES, Curves
from carrylens.arithmetic.battery.combiner.mlp_input import MlpOutput, move_input, permuted, read_input
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.combiner_layer import combiner_layer
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import answered_pairs
from carrylens.arithmetic.battery.stimuli.branches import Branch, branches_of
from carrylens.arithmetic.battery.stimuli.column_pairs import ColumnPairs, deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.evidence.rates import Rate

SHARE_STEP = float(SHARES[1])
_PAIRS = 3  # times as many as other experiments use: one place is cheap to compute


@dataclass(frozen=True, eq=False)
class CombinerDigit:
    """What was measured at one digit. `turned` is how many pairs turn it; the rest is of those that do.

    Curves go from 0 to 1; those of the nulls are in the same units. `moved` is how often the digit becomes another with
    a source of the same carry, `strayed` how often it becomes the source's along the permuted direction. `raw` is the
    change of the logit difference in logits: along the carry's direction, along the permuted one.
    """

    branch: Branch
    digit: int
    turned: Rate
    moved: Rate
    strayed: Rate
    logits: Curves
    output: Curves
    null: Curves
    null_output: Curves
    stray_logits: Curves
    stray_output: Curves
    raw: Curves
    flips: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CombinerMeasurements:
    """The curves of every digit, and the layer of the combiner of every branch that has any."""

    digits: tuple[CombinerDigit, ...]
    layers: Mapping[str, int]


def measure(context: ExperimentContext) -> CombinerMeasurements:
    """The curves of every branch and digit of which enough pairs are answered."""
    subject = context.subject
    wanted = [(b, j) for b in branches_of(subject.operation) for j in range(1, b.top(subject.digits) + 1)]
    found = []
    for at, (branch, digit) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        each = _measure_digit(context, branch, digit)
        if each is not None:
            found.append(each)
    branches = dict.fromkeys(each.branch for each in found)
    return CombinerMeasurements(tuple(found), {each.value: combiner_layer(context, each) for each in branches})


def _measure_digit(context: ExperimentContext, branch: Branch, digit: int) -> CombinerDigit | None:
    # Half of the pairs at depth 0, half at the greatest depth there is.
    subject, settings = context.subject, context.settings
    depths, found = sorted({0, digit - 1}), []
    for depth in depths:
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        n = _PAIRS * settings.n_pairs // len(depths)
        pairs = answered_pairs(subject, deciding_pairs(branch, subject.digits, digit, depth, n, seed))
        if len(pairs):
            layer = combiner_layer(context, branch)
            found.append(_measure_pairs(subject, digit, layer, pairs, np.random.default_rng([seed, 31])))
    if sum(each.turned.n for each in found) < THRESHOLDS.least_searched:
        return None

    def total(name: str) -> Rate:
        return sum((getattr(each, name) for each in found), Rate(0, 0))

    return CombinerDigit(
        branch,
        digit,
        total("turned"),
        total("moved"),
        total("strayed"),
        *(
            joined_curves(found, name)
            for name in ("logits", "output", "null", "null_output", "stray_logits", "stray_output", "raw", "flips")
        ),
    )


def _measure_pairs(
    subject: Subject, digit: int, layer: int, pairs: ColumnPairs, random: np.random.Generator
) -> CombinerDigit:
    token, place = subject.token(digit), subject.predicting(digit)
    base, source, same = (read_input(subject, place, layer, side) for side in (pairs.base, pairs.source, pairs.null))
    way = source.written - base.written
    effect, null, stray = (
        move_input(subject, base, along, SHARES) for along in (way, same.written - base.written, permuted(way, random))
    )
    ours, theirs = (side[:, token].astype(np.int64) for side in (pairs.expected, answer_tokens(pairs.base)))
    raw, still, astray = (_difference(each, ours, theirs) for each in (effect, null, stray))
    became = effect.logits.argmax(-1)
    turned = became[-1] == ours
    span = raw[:, -1:]
    safe = np.where(np.abs(span) > 1e-9, span, 1.0)
    moved, strayed = null.logits[-1].argmax(-1) != became[0], stray.logits[-1].argmax(-1) == ours
    return CombinerDigit(
        branch=pairs.branch,
        digit=digit,
        turned=hit_rate(turned),
        moved=hit_rate(moved),
        strayed=hit_rate(strayed),
        logits=(raw / safe)[turned],
        output=_along(effect, effect)[turned],
        null=(still / safe)[turned],
        null_output=_along(null, effect)[turned],
        stray_logits=(astray / safe)[turned],
        stray_output=_along(stray, effect)[turned],
        raw=np.stack([raw[:, -1], astray[:, -1]], axis=1)[turned],
        flips=_crossings(effect, ours, theirs)[turned],
    )


def _difference(moved: MlpOutput, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Curves:
    # By how much the logit of the source's digit gains on that of the base's: [pair, share].
    rows = np.arange(len(ours))
    apart = (moved.logits[:, rows, ours] - moved.logits[:, rows, theirs]).T
    return np.asarray(apart - apart[:, :1])


def _crossings(moved: MlpOutput, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.float64]:
    # The share at which the source's logit comes to exceed the base's, on a line between the shares around it.
    rows = np.arange(len(ours))
    apart = moved.logits[:, rows, ours] - moved.logits[:, rows, theirs]
    after = np.maximum((apart > 0).argmax(0), 1)
    low, high = apart[after - 1, rows], apart[after, rows]
    return np.asarray(SHARES[after - 1] + SHARE_STEP * low / np.where(low == high, -1.0, low - high))


def _along(moved: MlpOutput, effect: MlpOutput) -> Curves:
    # How far the MLP's output has gone along the change that the carry makes of it: [pair, share].
    change = effect.output[-1] - effect.output[0]
    size = np.maximum((change**2).sum(-1), 1e-12)
    return np.asarray(((moved.output - moved.output[0]) * change).sum(-1) / size).T


def joined_curves(mine: Sequence[CombinerDigit], name: str) -> Curves:
    """One kind of curve of several digits."""
    return np.concatenate([getattr(each, name) for each in mine])
