"""What `combiner` says: how many pairs make a step, where it lies and how steep it is.

Takes  the curves of every digit.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.battery.combiner.card import CARD
from carrylens.arithmetic.battery.combiner.curve_fits import LINE_WIDTH, SHARES, Curves, fit_curves, stray_steps
from carrylens.arithmetic.battery.combiner.measure import SHARE_STEP, CombinerDigit, CombinerMeasurements, joined_curves
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.verdict_rules import overall, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Estimate, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

_BOOTSTRAPS = 400
DIGIT_TURNS = "the digit turns"
"""The effect of a fact: at some share of the carry the digit becomes that of the source."""
LOGIT_WIDTH, ARGMAX = "width of the logit difference", "share at which the argmax turns"
"""How the names of estimates end; the branch goes before."""
_PAPER = {5: 0.75, 6: 0.75, 10: 0.75, 13: 0.5}  # additions, by digits


@dataclass(frozen=True)
class CombinerTold:
    """What the sentence about `combiner` is made of."""

    facts: Sequence[Fact]
    estimates: Sequence[Estimate]
    layers: Mapping[str, int]


def summarise(context: ExperimentContext, measured: CombinerMeasurements) -> Summary:
    """How many pairs make a step, and where it lies."""
    settings, found = context.settings, measured.digits
    branches = list(dict.fromkeys(each.branch for each in found))
    facts = [fact for branch in branches for fact in _facts(branch, found, settings)]
    estimates = tuple(estimate for branch in branches for estimate in _estimates(branch, found, settings))
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(facts)),
        says="",
        facts=tuple(facts),
        estimates=estimates,
        figure=_figure(found) if found else None,
        headers=(
            "digit",
            "turned, null",
            "threshold",
            "width, logits",
            "width, MLP output",
            "steps, logits",
            "slope, logits",
            "permuted: turned",
            "permuted: share of the change",
        ),
        rows=tuple(map(_row, found)),
        beside_paper=_beside(context.subject, estimates),
    )
    return Summary(outcome, CombinerTold(facts, estimates, measured.layers))


def _facts(branch: Branch, found: Sequence[CombinerDigit], settings: BatterySettings) -> list[Fact]:
    # For each null the steps of both curves, and how often the digit turns.
    mine = [each for each in found if each.branch is branch]
    steps = {what: hit_rate(fit_curves(joined_curves(mine, what)).is_step) for what in ("logits", "output")}
    stray = {what: hit_rate(stray_steps(joined_curves(mine, f"stray_{what}"))) for what in ("logits", "output")}
    same = {
        what: hit_rate(stray_steps(joined_curves(mine, name)))
        for what, name in (("logits", "null"), ("output", "null_output"))
    }
    turned, moved, strayed = (
        sum((getattr(each, name) for each in mine), Rate(0, 0)) for name in ("turned", "moved", "strayed")
    )

    def fact(what: Mapping[str, object], effect: Rate, null: str, of_null: Rate) -> Fact:
        about = {"branch": branch.value, **what, "null": null}
        return Fact(f"battery {CARD.name}", about, effect, of_null, {"n": turned.n, "seed": settings.seed})

    turns = {"effect": DIGIT_TURNS}
    curves = {what: {"curve": what, "effect": "a step"} for what in steps}
    return [
        *(fact(curves[what], steps[what], "a step, same carry", same[what]) for what in steps),
        fact(turns, turned, "the digit moves, same carry", moved),
        *(fact(curves[what], steps[what], "a step along a permuted direction", stray[what]) for what in steps),
        fact(turns, turned, "the digit turns along a permuted direction", strayed),
    ]


def _estimates(branch: Branch, found: Sequence[CombinerDigit], settings: BatterySettings) -> list[Estimate]:
    mine = [each for each in found if each.branch is branch and len(each.logits)]
    if not mine:
        return []
    logits, output = (fit_curves(np.concatenate([getattr(e, what) for e in mine])) for what in ("logits", "output"))
    flips = np.concatenate([each.flips for each in mine])
    named = (
        ("threshold of the logit difference", logits.threshold, 0.5),
        (LOGIT_WIDTH, logits.width, LINE_WIDTH),
        ("slope of the logit difference", logits.slope, 1.0),
        ("error of a line less the curve's, logit difference", logits.gain, 0.0),
        ("threshold of the MLP's output", output.threshold, 0.5),
        ("width of the MLP's output", output.width, LINE_WIDTH),
        ("slope of the MLP's output", output.slope, 1.0),
        ("error of a line less the curve's, MLP's output", output.gain, 0.0),
        (ARGMAX, flips, 0.5),
    )
    return [
        *(_estimate(f"{branch.value}: {name}", values, line, settings) for name, values, line in named),
        _beside_permuted(branch, joined_curves(mine, "raw"), settings),
    ]


def _beside_permuted(branch: Branch, raw: Curves, settings: BatterySettings) -> Estimate:
    # How far the logit difference goes along the carry's direction, and along the permuted one.
    name = f"{branch.value}: change of the logit difference, null along a permuted direction"
    ours, theirs = (_estimate(name, raw[:, side], 0.0, settings) for side in (0, 1))
    return replace(ours, null=theirs.value, null_low=theirs.low, null_high=theirs.high)


def _estimate(name: str, values: NDArray[np.float64], line: float, settings: BatterySettings) -> Estimate:
    # The median with its bootstrap interval, beside what a straight line would give.
    random = np.random.default_rng(settings.seed_of(CARD.name, name))
    medians = np.median(values[random.integers(0, len(values), (_BOOTSTRAPS, len(values)))], axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return Estimate(name, float(np.median(values)), float(low), float(high), line, line, line, len(values))


def argmax_row(branch: Branch) -> str:
    """What is set beside the paper about a branch."""
    return f"{branch.value}: {ARGMAX}"


def _beside(subject: Subject, estimates: Sequence[Estimate]) -> tuple[BesidePaper, ...]:
    # The paper has it for some additions, and for mixed models; elsewhere it has no figure.
    mixed = subject.operation is Operation.MIX
    paper = 0.5 if mixed else _PAPER.get(subject.digits) if subject.operation is Operation.ADD else None
    rows = []
    for each in estimates:
        if "argmax" in each.name:
            ours = f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
            agrees = None if paper is None else each.low - SHARE_STEP / 2 <= paper <= each.high + SHARE_STEP / 2
            shown = "not reported" if paper is None else f"about {paper} (mixed models)" if mixed else f"{paper}"
            rows.append(BesidePaper(each.name, shown, ours, agrees))
    return tuple(rows)


def _figure(found: Sequence[CombinerDigit]) -> Figure:
    series = []
    for what, label in (("logits", "logit difference"), ("output", "the MLP's output")):
        series.append(_mean_curve(label, SeriesKind.EFFECT, np.concatenate([getattr(each, what) for each in found])))
    line = tuple(float(share) for share in SHARES)
    series.append(Series("a straight line", SeriesKind.RIVAL, line, line, line, line))
    series.append(_mean_curve("null: same carry", SeriesKind.NULL, joined_curves(found, "null")))
    series.append(_mean_curve("null: permuted direction", SeriesKind.NULL, joined_curves(found, "stray_logits")))
    return Figure("share of the way to the source's carry", "share of the change", tuple(series))


def _mean_curve(label: str, kind: SeriesKind, curves: Curves) -> Series:
    if not len(curves):
        return Series(label, kind, (), (), (), ())
    mean, error = curves.mean(0), 1.96 * curves.std(0) / np.sqrt(len(curves))
    parts = (SHARES, mean, mean - error, mean + error)
    return Series(label, kind, *(tuple(float(value) for value in part) for part in parts))


def _row(each: CombinerDigit) -> tuple[str, ...]:
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
