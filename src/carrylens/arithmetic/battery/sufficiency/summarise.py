"""What `sufficiency` says: how many answers stay right with the useful nodes alone, beside matched random sets.

Takes  what stays right on every branch.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.useful_nodes import UsefulNodes
from carrylens.arithmetic.battery.measures.verdict_rules import overall, weigh
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.sufficiency.card import CARD
from carrylens.arithmetic.battery.sufficiency.measure import (
    FILLS,
    OWN_FILLS,
    KeptBranch,
    SufficiencyMeasurements,
    kept_counts,
)
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill

_PAPER: Mapping[tuple[Operation, int], Mapping[Fill, Mapping[Branch, float]]] = {
    (Operation.ADD, 5): {Fill.MEAN: {Branch.ADD: 0.943}, Fill.RESAMPLE: {Branch.ADD: 0.623}},
    (Operation.MIX, 6): {
        Fill.MEAN: {Branch.ADD: 0.893, Branch.POSITIVE: 0.483, Branch.NEGATIVE: 0.357},
        Fill.RESAMPLE: {Branch.ADD: 0.527, Branch.POSITIVE: 0.047, Branch.NEGATIVE: 0.047},
    },
    (Operation.MIX, 8): {Fill.MEAN: {Branch.ADD: 0.923, Branch.POSITIVE: 0.190, Branch.NEGATIVE: 0.663}},
}
OWN_BRANCH = "the asked branch alone"
"""The reference of a fact where means are those of one branch."""
_PAPER_RANDOM = {(Operation.ADD, 5): 0.0}
_PAPER_SIGN = 1.0  # of mixed models, by which the paper says that the choice of the operation is kept


@dataclass(frozen=True)
class SufficiencyTold:
    """What the sentence about `sufficiency` is made of."""

    found: Sequence[KeptBranch]
    tagged: UsefulNodes
    subject: Subject


def summarise(context: ExperimentContext, measured: SufficiencyMeasurements) -> Summary:
    """Whether the useful nodes suffice, branch by branch and fill by fill."""
    subject, settings = context.subject, context.settings
    tagged, found = measured.tagged, measured.found
    facts = [fact for each in found for fact in _facts(each, tagged, settings)]
    parts = [fact for each in found for fact in _part_facts(each, tagged, context)]
    own = [fill for fill in OWN_FILLS if any(each.own for each in found)]
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(weigh(facts)),
        says="",
        facts=(*facts, *parts),
        figure=_figure(found, tagged) if found else None,
        headers=(
            "branch",
            *(f"{fill.value}, null" for fill in FILLS),
            *(f"{fill.value} of its own branch, null" for fill in own),
            "sign and digits from the top, mean",
        ),
        rows=tuple(map(_row, found)),
        beside_paper=tuple(row for each in found for row in beside_branch(each, subject)),
    )
    return Summary(outcome, SufficiencyTold(found, tagged, subject))


def _facts(each: KeptBranch, tagged: UsefulNodes, settings: BatterySettings) -> list[Fact]:
    about: dict[str, object] = {"branch": each.branch.value, "kept": len(tagged.nodes), "null": "matched random sets"}
    about["in common"] = round(each.common, 3)
    return [
        Fact(
            f"battery {CARD.name}",
            {**about, "fill": fill.value, "reference": _reference_of(fill)},
            rate,
            null,
            {"seed": settings.seed},
        )
        for fill, rate, null in zip(FILLS, each.whole, each.null, strict=True)
    ]


def _reference_of(fill: Fill) -> str:
    return "its own class" if fill is Fill.CLASS_MEAN else "all branches alike"


def _part_facts(each: KeptBranch, tagged: UsefulNodes, context: ExperimentContext) -> list[Fact]:
    # Each token under each fill, the curve under the mean, and what the asked branch's own reference would keep: `rest`
    # is the fill, which is not called so here because who looks for a fill wants whole answers with all nodes kept.
    about, stimuli = {"branch": each.branch.value, "null": "matched random sets"}, {"seed": context.settings.seed}
    names = ["sign", *(f"A{digit}" for digit in range(context.subject.digits, -1, -1))]
    kept: dict[str, object] = {**about, "kept": len(tagged.nodes)}
    tokens = [
        Fact(f"battery {CARD.name}", {**kept, "rest": fill.value, "token": name}, rate, null, stimuli)
        for fill, rates, nulls in zip(FILLS, each.tokens, each.token_null, strict=True)
        for name, rate, null in zip(names, rates, nulls, strict=True)
    ]
    curve = [
        Fact(f"battery {CARD.name}", {**about, "kept": n, "rest": Fill.MEAN.value, "curve": True}, rate, null, stimuli)
        for n, rate, null in zip(kept_counts(tagged), each.curve, each.curve_null, strict=True)
    ]
    own = [
        Fact(
            f"battery {CARD.name}",
            {**kept, "rest": fill.value, "reference": OWN_BRANCH},
            rate,
            null,
            stimuli,
        )
        for fill, rate, null in zip(OWN_FILLS, each.own, each.own_null, strict=False)
    ]
    return tokens + curve + own


def kept_row(branch: Branch) -> str:
    """How what is set beside the paper about a branch begins."""
    return f"{branch.value} answers kept"


def beside_branch(each: KeptBranch, subject: Subject) -> list[BesidePaper]:
    """The paper's figures for a branch; only where it has them for a model of this operation and as many digits."""
    key = (subject.operation, subject.digits)
    of, rows = f"{key[0].value} d{key[1]}", []
    for fill, by_branch in _PAPER.get(key, {}).items():
        ours, paper = each.whole[FILLS.index(fill)], by_branch[each.branch]
        what = f"{kept_row(each.branch)}, {fill.value} ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    if subject.operation is Operation.MIX and key in _PAPER:
        sign = each.tokens[0][0]
        what = f"signs of {each.branch.value} answers kept, mean ablation over all branches"
        rows.append(BesidePaper(what, f"{_PAPER_SIGN:.2f} ({of})", str(sign), _holds(sign, _PAPER_SIGN)))
    if key in _PAPER_RANDOM:
        ours, paper = each.null[0], _PAPER_RANDOM[key]
        what = f"{each.branch.value} answers kept by random sets, mean ablation"
        rows.append(BesidePaper(what, f"{paper:.3f} ({of})", str(ours), _holds(ours, paper)))
    return rows


def _holds(ours: Rate, paper: float) -> bool:
    return ours.interval[0] <= paper <= ours.interval[1]


def _figure(found: Sequence[KeptBranch], tagged: UsefulNodes) -> Figure:
    x = kept_counts(tagged)
    of = " over all branches" if any(each.own for each in found) else ""
    series = [Series.of_rates(f"{each.branch.value}, mean{of}", SeriesKind.EFFECT, x, each.curve) for each in found]
    for each in found:
        name, last = each.branch.value, x[-1:]
        series.append(Series.of_rates(f"{name}, resample{of}", SeriesKind.RIVAL, last, each.whole[-1:]))
        if each.own:
            series.append(Series.of_rates(f"{name}, mean of its own branch", SeriesKind.RIVAL, last, each.own[:1]))
    nulls = [sum((each.curve_null[at] for each in found), Rate(0, 0)) for at in range(len(x))]
    series.append(Series.of_rates(f"random matched sets, mean{of}", SeriesKind.NULL, x, nulls))
    return Figure("nodes kept, the most important first", "share of answers right", tuple(series))


def _row(each: KeptBranch) -> tuple[str, ...]:
    pairs = zip((*each.whole, *each.own), (*each.null, *each.own_null), strict=True)
    cells = (f"{rate.hits}/{rate.n}, {null.hits}/{null.n}" for rate, null in pairs)
    return (each.branch.value, *cells, " ".join(f"{rate.value:.2f}" for rate in each.tokens[0]))
