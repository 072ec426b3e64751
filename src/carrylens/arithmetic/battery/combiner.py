"""The step combiner: how does an MLP turn its carry input into a digit, by a step or in proportion?

Takes  a subject.
Gives  for every branch and digit the curve of logit difference and of the MLP's own output as its carry input goes from
       the base's to the source's; slope and threshold; how many pairs make a step.
Never  reads the argmax alone: through it every rising curve is a step.

1. Pairs in which the deciding column is turned, so that at the place of digit j nothing differs but the carry: the
   token there is the same. The combiner's layer is found for each branch on other pairs (`combining.py`).
2. Its MLP there, and nobody else, reads all writes of its place a share of the way to the source's.
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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.columns import Branch, ColumnPairs, branches_of, deciding_pairs
from carrylens.arithmetic.battery.combining import combiner_layer
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.interpolating import Moved, move_input, permuted, read_input
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.swapping import answered
from carrylens.arithmetic.battery.weighing import overall, weigh
from carrylens.arithmetic.questions import Operation
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.discovery.interchange import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

CARD = Card(
    name="combiner",
    title="How an MLP combines digit and carry",
    question="Is the map from the carry that the combiner reads to what it writes a step, rather than a straight line?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry; the token there is the same.",
        "The combiner: the layer whose MLP turns the digit most often, found for each branch on other pairs.",
        "Its MLP alone reads the writes of its place a share of the way to the source's, in eleven steps.",
        "Logit of the source's digit less the base's, and the MLP's own output along its change, from 0 to 1.",
        "A curve between line and step is fitted to every other share; both are scored on the shares between.",
        "Null: the same way to a source of the same carry.",
        "Null: as far along the carry's direction with its coordinates permuted, in another order for each pair.",
    ),
    refuted_if="on some branch surely fewer than half of the pairs make a step, in logit difference and in the MLP's "
    "output, or a null moves as often.",
    paper="a step function, threshold .75 (add d5, d6, d10), .5 (d13), about .5 (mixed), read through the argmax",
    where="Section on the resolved carry; App. techniques",
)
SHARES = np.linspace(0, 1, 11)
_STEP = float(SHARES[1])
_SLOPES = np.concatenate([[0.01], np.geomspace(1, 64, 31)])
_AT_ONCE = 256  # curves held against every shape: more would fill the memory
_THRESHOLDS = np.linspace(0, 1, 41)
LINE_WIDTH = 0.8
"""From 10% to 90% of a straight line."""
_BOOTSTRAPS = 400
_PAPER = {5: 0.75, 6: 0.75, 10: 0.75, 13: 0.5}  # additions, by digits
_PAIRS = 3  # times as many as other experiments ask: one place is cheap to compute
_LEAST_SIZE = 0.5  # of the carry's own change, for a change along the permuted direction to be called a step of it

Curves = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """For each curve where it crosses one half, how much of the way it takes from 10% to 90%, and if it is a step.

    `slope` is the steepest, a line's being 1; `gain` the line's squared error on the other shares less the curve's.
    """

    threshold: NDArray[np.float64]
    width: NDArray[np.float64]
    slope: NDArray[np.float64]
    gain: NDArray[np.float64]
    is_step: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Digit:
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

    digits: tuple[_Digit, ...]
    layers: Mapping[str, int]


def measure(context: ExperimentContext) -> CombinerMeasurements:
    """The curves of every branch and digit of which enough pairs are answered."""
    subject = context.subject
    wanted = [(b, j) for b in branches_of(subject.operation) for j in range(1, b.top(subject.digits) + 1)]
    found = []
    for at, (branch, digit) in enumerate(wanted):
        context.watch(CARD.title, at, len(wanted))
        each = _digit(context, branch, digit)
        if each is not None:
            found.append(each)
    branches = dict.fromkeys(each.branch for each in found)
    return CombinerMeasurements(tuple(found), {each.value: combiner_layer(context, each) for each in branches})


def summarise(context: ExperimentContext, measured: CombinerMeasurements) -> Outcome:
    """How many pairs make a step, and where it lies."""
    settings, found = context.settings, measured.digits
    branches = list(dict.fromkeys(each.branch for each in found))
    facts = [fact for branch in branches for fact in _facts(branch, found, settings)]
    estimates = tuple(estimate for branch in branches for estimate in _estimates(branch, found, settings))
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(facts)),
        says=_says(facts, estimates, measured.layers),
        facts=tuple(facts),
        estimates=estimates,
        figure=_figure(found) if found else None,
        headers=(
            *("digit", "turned, null", "threshold", "width, logits", "width, MLP output", "steps, logits"),
            *("slope, logits", "permuted: turned", "permuted: share of the change"),
        ),
        rows=tuple(map(_row, found)),
        beside_paper=_beside(context.subject, estimates),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def fit_curves(curves: Curves) -> Fit:
    """Fit every curve, [curve, share], which goes from 0 to 1, on every other share, and score it on the others."""
    slopes, thresholds = (grid.ravel() for grid in np.meshgrid(_SLOPES, _THRESHOLDS))
    shapes = _shape(SHARES[None], slopes[:, None], thresholds[:, None])
    fitted, held = slice(0, None, 2), slice(1, None, 2)
    best = np.zeros(len(curves), dtype=np.int64)
    for at in range(0, len(curves), _AT_ONCE):
        some = curves[at : at + _AT_ONCE, None, fitted]
        best[at : at + _AT_ONCE] = ((some - shapes[None, :, fitted]) ** 2).sum(-1).argmin(1)
    ours = ((curves[:, held] - shapes[best][:, held]) ** 2).sum(-1)
    line = ((curves[:, held] - SHARES[held]) ** 2).sum(-1)
    fine = np.linspace(0, 1, 401)
    drawn = _shape(fine[None], slopes[best][:, None], thresholds[best][:, None])
    low, half, high = (fine[(drawn >= level).argmax(1)] for level in (0.1, 0.5, 0.9))
    width, steepest = high - low, np.diff(drawn, axis=1).max(1) / (fine[1] - fine[0])
    gain = (line - ours) / len(SHARES[held])
    return Fit(half, width, steepest, gain, (width < LINE_WIDTH / 2) & (gain > 0))


def _shape(share: NDArray[np.float64], slope: NDArray[np.float64], threshold: NDArray[np.float64]) -> Curves:
    # A logistic curve, made to go through (0, 0) and (1, 1); with no slope it is the straight line.
    def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / (1 + np.exp(-np.clip(x, -500, 500)))

    start, end = logistic(slope * (0 - threshold)), logistic(slope * (1 - threshold))
    return np.asarray((logistic(slope * (share - threshold)) - start) / (end - start))


def _digit(context: ExperimentContext, branch: Branch, digit: int) -> _Digit | None:
    # Half of the pairs at depth 0, half at the greatest depth there is.
    subject, settings = context.subject, context.settings
    depths, found = sorted({0, digit - 1}), []
    for depth in depths:
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        n = _PAIRS * settings.n_pairs // len(depths)
        pairs = answered(subject, deciding_pairs(branch, subject.digits, digit, depth, n, seed))
        if len(pairs):
            layer = combiner_layer(context, branch)
            found.append(_measure(subject, digit, layer, pairs, np.random.default_rng([seed, 31])))
    if sum(each.turned.n for each in found) < THRESHOLDS.least_searched:
        return None

    def total(name: str) -> Rate:
        return sum((getattr(each, name) for each in found), Rate(0, 0))

    return _Digit(
        *(branch, digit, total("turned"), total("moved"), total("strayed")),
        *(
            _joined(found, name)
            for name in ("logits", "output", "null", "null_output", "stray_logits", "stray_output", "raw", "flips")
        ),
    )


def _measure(subject: Subject, digit: int, layer: int, pairs: ColumnPairs, random: np.random.Generator) -> _Digit:
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
    return _Digit(
        branch=pairs.branch,
        digit=digit,
        turned=_rate(turned),
        moved=_rate(moved),
        strayed=_rate(strayed),
        logits=(raw / safe)[turned],
        output=_along(effect, effect)[turned],
        null=(still / safe)[turned],
        null_output=_along(null, effect)[turned],
        stray_logits=(astray / safe)[turned],
        stray_output=_along(stray, effect)[turned],
        raw=np.stack([raw[:, -1], astray[:, -1]], axis=1)[turned],
        flips=_crossings(effect, ours, theirs)[turned],
    )


def _difference(moved: Moved, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Curves:
    # By how much the logit of the source's digit gains on that of the base's: [pair, share].
    rows = np.arange(len(ours))
    apart = (moved.logits[:, rows, ours] - moved.logits[:, rows, theirs]).T
    return np.asarray(apart - apart[:, :1])


def _crossings(moved: Moved, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.float64]:
    # The share at which the source's logit comes to exceed the base's, on a line between the shares around it.
    rows = np.arange(len(ours))
    apart = moved.logits[:, rows, ours] - moved.logits[:, rows, theirs]
    after = np.maximum((apart > 0).argmax(0), 1)
    low, high = apart[after - 1, rows], apart[after, rows]
    return np.asarray(SHARES[after - 1] + _STEP * low / np.where(low == high, -1.0, low - high))


def _along(moved: Moved, effect: Moved) -> Curves:
    # How far the MLP's output has gone along the change that the carry makes of it: [pair, share].
    change = effect.output[-1] - effect.output[0]
    size = np.maximum((change**2).sum(-1), 1e-12)
    return np.asarray(((moved.output - moved.output[0]) * change).sum(-1) / size).T


def stray_steps(curves: Curves) -> NDArray[np.bool_]:
    """Which curves of a null, in units of the effect's change, go at least half of it, and by a step of their own."""
    end = curves[:, -1:]
    large = end[:, 0] >= _LEAST_SIZE
    return np.asarray(large & fit_curves(curves / np.where(large[:, None], end, 1.0)).is_step)


def _facts(branch: Branch, found: Sequence[_Digit], settings: Settings) -> list[Fact]:
    # For each null the steps of both curves, and how often the digit turns.
    mine = [each for each in found if each.branch is branch]
    steps = {what: _rate(fit_curves(_joined(mine, what)).is_step) for what in ("logits", "output")}
    stray = {what: _rate(stray_steps(_joined(mine, f"stray_{what}"))) for what in ("logits", "output")}
    same = {
        what: _rate(stray_steps(_joined(mine, name))) for what, name in (("logits", "null"), ("output", "null_output"))
    }
    turned, moved, strayed = (
        sum((getattr(each, name) for each in mine), Rate(0, 0)) for name in ("turned", "moved", "strayed")
    )

    def fact(what: Mapping[str, object], effect: Rate, null: str, of_null: Rate) -> Fact:
        about = {"branch": branch.value, **what, "null": null}
        return Fact(f"battery {CARD.name}", about, effect, of_null, {"n": turned.n, "seed": settings.seed})

    turns = {"effect": "the digit turns"}
    curves = {what: {"curve": what, "effect": "a step"} for what in steps}
    return [
        *(fact(curves[what], steps[what], "a step, same carry", same[what]) for what in steps),
        fact(turns, turned, "the digit moves, same carry", moved),
        *(fact(curves[what], steps[what], "a step along a permuted direction", stray[what]) for what in steps),
        fact(turns, turned, "the digit turns along a permuted direction", strayed),
    ]


def _joined(mine: Sequence[_Digit], name: str) -> Curves:
    return np.concatenate([getattr(each, name) for each in mine])


def _estimates(branch: Branch, found: Sequence[_Digit], settings: Settings) -> list[Estimate]:
    mine = [each for each in found if each.branch is branch and len(each.logits)]
    if not mine:
        return []
    logits, output = (fit_curves(np.concatenate([getattr(e, what) for e in mine])) for what in ("logits", "output"))
    flips = np.concatenate([each.flips for each in mine])
    named = (
        ("threshold of the logit difference", logits.threshold, 0.5),
        ("width of the logit difference", logits.width, LINE_WIDTH),
        ("slope of the logit difference", logits.slope, 1.0),
        ("error of a line less the curve's, logit difference", logits.gain, 0.0),
        ("threshold of the MLP's output", output.threshold, 0.5),
        ("width of the MLP's output", output.width, LINE_WIDTH),
        ("slope of the MLP's output", output.slope, 1.0),
        ("error of a line less the curve's, MLP's output", output.gain, 0.0),
        ("share at which the argmax turns", flips, 0.5),
    )
    return [
        *(_estimate(f"{branch.value}: {name}", values, line, settings) for name, values, line in named),
        _beside_permuted(branch, _joined(mine, "raw"), settings),
    ]


def _beside_permuted(branch: Branch, raw: Curves, settings: Settings) -> Estimate:
    # How far the logit difference goes along the carry's direction, and along the permuted one.
    name = f"{branch.value}: change of the logit difference, null along a permuted direction"
    ours, theirs = (_estimate(name, raw[:, side], 0.0, settings) for side in (0, 1))
    return replace(ours, null=theirs.value, null_low=theirs.low, null_high=theirs.high)


def _estimate(name: str, values: NDArray[np.float64], line: float, settings: Settings) -> Estimate:
    # The median with its bootstrap interval, beside what a straight line would give.
    random = np.random.default_rng(settings.seed_of(CARD.name, name))
    medians = np.median(values[random.integers(0, len(values), (_BOOTSTRAPS, len(values)))], axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return Estimate(name, float(np.median(values)), float(low), float(high), line, line, line, len(values))


def _says(facts: Sequence[Fact], estimates: Sequence[Estimate], layers: Mapping[str, int]) -> str:
    if not facts:
        return "The model answers too few of the questions for a combiner to be seen."
    parts = []
    for at in range(0, len(facts), 6):
        logits, output, turned, _, _, stray = facts[at : at + 6]
        branch = str(logits.about["branch"])
        slope, gain, share = (
            next((each for each in estimates if each.name.startswith(f"{branch}: {name}")), None)
            for name in ("slope of the logit", "error of a line", "share at which")
        )
        shape = ""
        if slope is not None and gain is not None and share is not None:
            line = "which no line fits" if gain.low > 0 else "as a line's may be"
            shape = (
                f", with a slope of {slope.value:.2f} (a line has 1), {line}, and turns at {share.value:.2f} of the way"
            )
        parts.append(
            f"{branch}, MLP of layer {layers[branch]}: the digit turns in {turned.effect.value:.2f} of pairs, null "
            f"{turned.null.value:.2f}, along a permuted direction {stray.null.value:.2f}; the logit difference goes "
            f"by a step in {logits.effect}, the MLP's output in {output.effect.value:.2f}{shape}"
        )
    return "; ".join(parts) + "."


def _beside(subject: Subject, estimates: Sequence[Estimate]) -> tuple[BesidePaper, ...]:
    # The paper has it for some additions, and for mixed models; what it is elsewhere nobody has said.
    mixed = subject.operation is Operation.MIX
    paper = 0.5 if mixed else _PAPER.get(subject.digits) if subject.operation is Operation.ADD else None
    rows = []
    for each in estimates:
        if "argmax" in each.name:
            ours = f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
            agrees = None if paper is None else each.low - _STEP / 2 <= paper <= each.high + _STEP / 2
            shown = "not reported" if paper is None else f"about {paper} (mixed models)" if mixed else f"{paper}"
            rows.append(BesidePaper(each.name, shown, ours, agrees))
    return tuple(rows)


def _figure(found: Sequence[_Digit]) -> Figure:
    series = []
    for what, label in (("logits", "logit difference"), ("output", "the MLP's output")):
        series.append(_mean_curve(label, Kind.EFFECT, np.concatenate([getattr(each, what) for each in found])))
    line = tuple(float(share) for share in SHARES)
    series.append(Series("a straight line", Kind.RIVAL, line, line, line, line))
    series.append(_mean_curve("null: same carry", Kind.NULL, _joined(found, "null")))
    series.append(_mean_curve("null: permuted direction", Kind.NULL, _joined(found, "stray_logits")))
    return Figure("share of the way to the source's carry", "share of the change", tuple(series))


def _mean_curve(label: str, kind: Kind, curves: Curves) -> Series:
    if not len(curves):
        return Series(label, kind, (), (), (), ())
    mean, error = curves.mean(0), 1.96 * curves.std(0) / np.sqrt(len(curves))
    parts = (SHARES, mean, mean - error, mean + error)
    return Series(label, kind, *(tuple(float(value) for value in part) for part in parts))


def _row(each: _Digit) -> tuple[str, ...]:
    name, turned = (
        f"A{each.digit} {each.branch.value}",
        f"{each.turned.hits}/{each.turned.n}, {each.moved.hits}/{each.moved.n}",
    )
    if not len(each.logits):
        return (name, turned, *"-" * 7)
    logits, output = fit_curves(each.logits), fit_curves(each.output)
    medians = (f"{np.median(values):.2f}" for values in (logits.threshold, logits.width, output.width))
    steps = f"{int(logits.is_step.sum())}/{len(logits.is_step)}"
    stray = f"{each.strayed.hits}/{each.strayed.n}", f"{np.median(each.stray_logits[:, -1]):.2f}"
    return (name, turned, *medians, steps, f"{np.median(logits.slope):.2f}", *stray)


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
