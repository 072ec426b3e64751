"""The step combiner: how does the last MLP turn its carry input into a digit, by a step or in proportion?

Takes  a subject.
Gives  for every branch and digit the curve of logit difference and of the MLP's own output as its carry input goes from
       the base's to the source's; slope and threshold; how many pairs make a step.
Never  reads the argmax alone: through it every rising curve is a step.

1. Pairs in which the deciding column is turned, so that at the place of digit j nothing differs but the carry.
2. The last MLP there, and nobody else, reads all writes of its place a share of the way to the source's.
3. Measure the logit of the source's digit less that of the base's, and the MLP's output along its own change.
4. Of every pair whose digit turns, fit on every other share a curve between a straight line and a step; score both on
   the shares between.
5. Null: the same with a source of the same carry. The alternative: a straight line, which takes 0.8 of the way from
   10% to 90%. A step takes less than half of that, and fits better than the line on shares it was not fitted on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.battery.columns import Branch, ColumnPairs, branches_of, deciding_pairs
from carrylens.battery.outcome import BesidePaper, Card, Estimate, Figure, Kind, Outcome, Series
from carrylens.battery.subject import Settings, Subject, Watch
from carrylens.battery.swapping import answered
from carrylens.battery.weighing import overall, weigh
from carrylens.discovery.swaps import answer_tokens
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.hypothesis.thresholds import THRESHOLDS
from carrylens.interventions.edits import edge
from carrylens.interventions.outcomes import Outcomes

CARD = Card(
    name="combiner",
    title="How the last MLP combines digit and carry",
    question="Is the map from the carry that the last MLP reads to what it writes a step, rather than a straight line?",
    method=(
        "Pairs in which nothing differs at the digit's place but the carry.",
        "The last MLP alone reads the writes of its place a share of the way to the source's, in eleven steps.",
        "Logit of the source's digit less the base's, and the MLP's own output along its change, from 0 to 1.",
        "A curve between line and step is fitted to every other share; both are scored on the shares between.",
        "Null: the same way to a source of the same carry.",
    ),
    refuted_if="on some branch surely fewer than half of the pairs make a step, in logit difference and in the MLP's "
    "output, or the null moves as often.",
    paper="a step function, threshold .75 (add d5, d6, d10), .5 (d13), about .5 (mixed), read through the argmax",
    where="Section on the resolved carry; App. techniques",
)
SHARES = np.linspace(0, 1, 11)
_STEP = float(SHARES[1])
_NOUGHT = 1e-6  # an edge of share 0 would be refused
_SLOPES = np.array([0.01, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64])
_THRESHOLDS = np.linspace(0, 1, 41)
LINE_WIDTH = 0.8
"""From 10% to 90% of a straight line."""
_BOOTSTRAPS = 400

Curves = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Fit:
    """For each curve where it crosses one half, how much of the way it takes from 10% to 90%, and if it is a step."""

    threshold: NDArray[np.float64]
    width: NDArray[np.float64]
    is_step: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Digit:
    """What was measured at one digit. Curves go from 0 to 1; `n` pairs were asked, `turned` of them turn the digit."""

    branch: Branch
    digit: int
    turned: Rate
    moved: Rate
    logits: Curves
    output: Curves
    null: Curves
    flips: NDArray[np.float64]


def run(subject: Subject, settings: Settings, watch: Watch) -> Outcome:
    """The experiment."""
    wanted = [(b, j) for b in branches_of(subject.operation) for j in range(1, b.top(subject.digits) + 1)]
    found = []
    for at, (branch, digit) in enumerate(wanted):
        watch(CARD.title, at, len(wanted))
        each = _digit(subject, branch, digit, settings)
        if each is not None:
            found.append(each)
    facts = [
        fact for branch in dict.fromkeys(each.branch for each in found) for fact in _facts(branch, found, settings)
    ]
    verdict = overall(weigh(facts))
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=verdict,
        says=_says(found, facts),
        facts=tuple(facts),
        estimates=tuple(
            estimate
            for branch in dict.fromkeys(e.branch for e in found)
            for estimate in _estimates(branch, found, settings)
        ),
        figure=_figure(found) if found else None,
        headers=("digit", "turned, null", "threshold", "width, logits", "width, MLP output", "steps, logits"),
        rows=tuple(map(_row, found)),
        beside_paper=_beside(found, settings),
    )


def fit_curves(curves: Curves) -> Fit:
    """Fit every curve, [curve, share], which goes from 0 to 1, on every other share, and score it on the others."""
    slopes, thresholds = (grid.ravel() for grid in np.meshgrid(_SLOPES, _THRESHOLDS))
    shapes = _shape(SHARES[None], slopes[:, None], thresholds[:, None])
    fitted, held = slice(0, None, 2), slice(1, None, 2)
    errors = ((curves[:, None, fitted] - shapes[None, :, fitted]) ** 2).sum(-1)
    best = errors.argmin(1)
    ours = ((curves[:, held] - shapes[best][:, held]) ** 2).sum(-1)
    line = ((curves[:, held] - SHARES[held]) ** 2).sum(-1)
    fine = np.linspace(0, 1, 401)
    drawn = _shape(fine[None], slopes[best][:, None], thresholds[best][:, None])
    low, half, high = (fine[(drawn >= level).argmax(1)] for level in (0.1, 0.5, 0.9))
    width = high - low
    return Fit(half, width, (width < LINE_WIDTH / 2) & (ours < line))


def _shape(share: NDArray[np.float64], slope: NDArray[np.float64], threshold: NDArray[np.float64]) -> Curves:
    # A logistic curve, made to go through (0, 0) and (1, 1); with no slope it is the straight line.
    def logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return 1 / (1 + np.exp(-np.clip(x, -500, 500)))

    start, end = logistic(slope * (0 - threshold)), logistic(slope * (1 - threshold))
    return np.asarray((logistic(slope * (share - threshold)) - start) / (end - start))


def _digit(subject: Subject, branch: Branch, digit: int, settings: Settings) -> _Digit | None:
    # Half of the pairs at depth 0, half at the greatest depth there is.
    depths, found = sorted({0, digit - 1}), []
    for depth in depths:
        seed = settings.seed_of(CARD.name, branch, digit, depth)
        drawn = deciding_pairs(branch, subject.digits, digit, depth, settings.n_pairs // len(depths), seed)
        pairs = answered(subject, drawn)
        if len(pairs):
            found.append(_measure(subject, branch, digit, pairs))
    if sum(each.turned.n for each in found) < THRESHOLDS.least_searched:
        return None
    turned, moved = (sum((getattr(each, name) for each in found), Rate(0, 0)) for name in ("turned", "moved"))
    joined = [np.concatenate([getattr(e, name) for e in found]) for name in ("logits", "output", "null", "flips")]
    return _Digit(branch, digit, turned, moved, joined[0], joined[1], joined[2], joined[3])


def _measure(subject: Subject, branch: Branch, digit: int, pairs: ColumnPairs) -> _Digit:
    place, last, token = subject.predicting(digit), subject.last_layer, subject.token(digit)
    senders = [n for n in subject.nodes_at(place) if not (n.layer == last and n.is_mlp)]
    edits = [edge(senders, f"P{place}L{last}MLP", share=max(float(share), _NOUGHT)) for share in SHARES]
    hook = f"blocks.{last}.hook_mlp_out"
    effect = subject.engine.run(edits, pairs.base, pairs.source, logits=True, keep=[hook])
    null = subject.engine.run(edits, pairs.base, pairs.null, logits=True)
    ours, theirs = pairs.expected, answer_tokens(pairs.base)
    turned = effect.tokens[-1][:, token] == ours[:, token]
    raw = effect.difference(ours, theirs)[..., token].T.astype(np.float64)
    still = null.difference(ours, theirs)[..., token].T.astype(np.float64)
    span = raw[:, -1:] - raw[:, :1]
    safe = np.where(np.abs(span) > 1e-9, span, 1.0)
    return _Digit(
        *(branch, digit, _rate(turned), _rate(null.changed[-1][:, token])),
        logits=((raw - raw[:, :1]) / safe)[turned],
        output=_along(effect, hook, place)[turned],
        null=((still - still[:, :1]) / safe)[turned],
        flips=SHARES[(effect.tokens[:, turned, token] == ours[turned, token]).argmax(0)] - _STEP / 2,
    )


def _along(effect: Outcomes, hook: str, place: int) -> Curves:
    kept = effect.activations[hook]
    writes = kept.values[:, :, place - kept.positions.start].astype(np.float64)
    change = writes[-1] - writes[0]
    size = np.maximum((change**2).sum(-1), 1e-12)
    return np.asarray(((writes - writes[0]) * change).sum(-1) / size).T


def _facts(branch: Branch, found: Sequence[_Digit], settings: Settings) -> list[Fact]:
    mine = [each for each in found if each.branch is branch]
    null = sum((each.moved for each in mine), Rate(0, 0))
    facts = []
    for what in ("logits", "output"):
        steps = [fit_curves(getattr(each, what)).is_step for each in mine if len(each.logits)]
        hits, n = sum(int(some.sum()) for some in steps), sum(len(some) for some in steps)
        about = {"branch": branch.value, "curve": what, "effect": "a step", "null": "the digit moves, same carry"}
        facts.append(Fact(f"battery {CARD.name}", about, Rate(hits, n), null, {"seed": settings.seed}))
    turned = sum((each.turned for each in mine), Rate(0, 0))
    about = {"branch": branch.value, "effect": "the digit turns", "null": "the digit moves, same carry"}
    return [*facts, Fact(f"battery {CARD.name}", about, turned, null, {"seed": settings.seed})]


def _estimates(branch: Branch, found: Sequence[_Digit], settings: Settings) -> list[Estimate]:
    mine = [each for each in found if each.branch is branch and len(each.logits)]
    if not mine:
        return []
    logits, output = (fit_curves(np.concatenate([getattr(e, what) for e in mine])) for what in ("logits", "output"))
    flips = np.concatenate([each.flips for each in mine])
    named = (
        ("threshold of the logit difference", logits.threshold, 0.5),
        ("width of the logit difference", logits.width, LINE_WIDTH),
        ("threshold of the MLP's output", output.threshold, 0.5),
        ("width of the MLP's output", output.width, LINE_WIDTH),
        ("share at which the argmax turns", flips, 0.5),
    )
    return [_estimate(f"{branch.value}: {name}", values, line, settings) for name, values, line in named]


def _estimate(name: str, values: NDArray[np.float64], line: float, settings: Settings) -> Estimate:
    # The median with its bootstrap interval, beside what a straight line would give.
    random = np.random.default_rng(settings.seed_of(CARD.name, name))
    medians = np.median(values[random.integers(0, len(values), (_BOOTSTRAPS, len(values)))], axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return Estimate(name, float(np.median(values)), float(low), float(high), line, line, line, len(values))


def _says(found: Sequence[_Digit], facts: Sequence[Fact]) -> str:
    if not found:
        return "The model answers too few of the questions for a combiner to be seen."
    parts = []
    for at in range(0, len(facts), 3):
        logits, output, turned = facts[at : at + 3]
        parts.append(
            f"{logits.about['branch']}: the digit turns in {turned.effect.value:.2f} of pairs, null "
            f"{turned.null.value:.2f}, by a step in {logits.effect} as to logits and "
            f"{output.effect.value:.2f} as to the MLP's output"
        )
    return "; ".join(parts) + "."


def _beside(found: Sequence[_Digit], settings: Settings) -> tuple[BesidePaper, ...]:
    rows = []
    for branch in dict.fromkeys(each.branch for each in found):
        for each in _estimates(branch, found, settings):
            if "argmax" in each.name:
                ours = f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
                paper = 0.75 if branch is Branch.ADD else 0.5
                shown = ".75 (add d5, d6, d10), .5 (d13), about .5 (mixed)"
                rows.append(BesidePaper(each.name, shown, ours, each.low - 0.05 <= paper <= each.high + 0.05))
    return tuple(rows)


def _figure(found: Sequence[_Digit]) -> Figure:
    series = []
    for what, label in (("logits", "logit difference"), ("output", "the MLP's output")):
        series.append(_mean_curve(label, Kind.EFFECT, np.concatenate([getattr(each, what) for each in found])))
    line = tuple(float(share) for share in SHARES)
    series.append(Series("a straight line", Kind.RIVAL, line, line, line, line))
    series.append(_mean_curve("null: same carry", Kind.NULL, np.concatenate([each.null for each in found])))
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
        return (name, turned, "-", "-", "-", "-")
    logits, output = fit_curves(each.logits), fit_curves(each.output)
    medians = (f"{np.median(values):.2f}" for values in (logits.threshold, logits.width, output.width))
    return (name, turned, *medians, f"{int(logits.is_step.sum())}/{len(logits.is_step)}")


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
