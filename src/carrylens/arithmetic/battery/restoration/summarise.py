"""What `restoration` says: how many failing questions the chosen nodes bring back, and what those nodes write.

Takes  what was found on every branch.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.measures.useful_nodes import UsefulNodes
from carrylens.arithmetic.battery.measures.verdict_rules import overall
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.restoration.card import CARD
from carrylens.arithmetic.battery.restoration.measure import (
    PAPER_COUNTS,
    PAPER_FIGURES,
    RestorationCurve,
    RestorationMeasurements,
    RestoredBranch,
)
from carrylens.arithmetic.battery.restoration.node_ranking import NEARNESS
from carrylens.arithmetic.battery.restoration.restored_answers import judge_restored
from carrylens.arithmetic.battery.restoration.restored_writes import RestoredWrite
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.questions import Operation
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate

NODES_DRAWN, BACK_ONLY_WITH = "random nodes drawn", "back only with chosen, random"
"""Keys of facts: random nodes by how near they are to the chosen ones; questions that one set alone brings back."""
READ_OFF = "it is read off their write"
TURNED_TOGETHER, TURNED_WITH_LAYER = "swapped together", "swapped with all heads of their layers"
"""Effects of facts about what the missing nodes write."""
TOO_FEW_FAIL = "with none added: too few fail"
_NULL = "as many matched nodes, neither tagged nor chosen"


@dataclass(frozen=True)
class RestorationTold:
    """What the sentence about `restoration` is made of."""

    found: Sequence[RestoredBranch]
    tagged: UsefulNodes


def summarise(context: ExperimentContext, measured: RestorationMeasurements) -> Summary:
    """Whether a few untagged nodes, and not just any, restore what the useful ones lack."""
    settings, tagged, found = context.settings, measured.tagged, measured.found
    incomplete = [each for each in found if each.brought is not None]
    brought = [each.brought for each in incomplete if each.brought is not None]
    back = [_back_fact(each, tagged, settings) for each in incomplete]
    told = [told for each in incomplete for told in each.told]
    curves = [fact for each in found for fact in _curve_facts(each, tagged, settings)]
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=overall(judge_restored(brought)),
        says="",
        facts=(*back, *(fact for each in told for fact in _told_facts(each, settings)), *curves),
        estimates=tuple(each.difference for each in brought),
        figure=_figure(found) if found else None,
        headers=("place", "nodes", "what", "read, shuffled", "corrected", "swapped, null", "with all heads, null"),
        rows=tuple(map(_row, told)),
        beside_paper=_beside(context.subject, found, told),
    )
    return Summary(outcome, RestorationTold(found, tagged))


def _back_fact(each: RestoredBranch, tagged: UsefulNodes, settings: BatterySettings) -> Fact:
    brought = each.brought
    assert brought is not None
    about: dict[str, object] = {
        "branch": each.branch.value,
        "fill": each.curve.fill.value,
        "kept": len(tagged.nodes),
        "reference": "all branches alike",
        "added": [str(node) for node in each.chosen],
        "effect": "of the questions that fail, those brought back",
        "null": _NULL,
        NODES_DRAWN: dict(zip(NEARNESS, each.nearness, strict=True)),
        BACK_ONLY_WITH: list(brought.alone),
    }
    stimuli = {"n": len(each.curve.right[0]), "seed": settings.seed}
    return Fact(f"battery {CARD.name}", about, brought.effect, brought.null, stimuli)


def _curve_facts(each: RestoredBranch, tagged: UsefulNodes, settings: BatterySettings) -> list[Fact]:
    # With nothing added there is nothing to draw at random.
    curves = [each.curve] if each.by_mean in (None, each.curve) else [each.curve, each.by_mean]
    about = {"branch": each.branch.value, "kept": len(tagged.nodes), "effect": "answers right", "null": _NULL}
    return [
        ColumnRates(hit_rate(right), hit_rate(null if n else null[:0])).fact(
            CARD.name, {**about, "fill": curve.fill.value, "n_added": n}, {"seed": settings.seed}
        )
        for curve in curves
        if curve is not None
        for n, right, null in zip(curve.counts, curve.right, curve.null, strict=True)
    ]


def _told_facts(told: RestoredWrite, settings: BatterySettings) -> list[Fact]:
    about = {
        "branch": told.branch.value,
        "place": told.place,
        "what": told.what,
        "nodes": [str(node) for node in told.nodes],
    }
    stimuli = {"seed": settings.seed}
    read = {**about, "effect": READ_OFF, "null": "shuffled labels"}
    interchanged = ((TURNED_TOGETHER, told.together), (TURNED_WITH_LAYER, told.with_layer))
    return [
        Fact(f"battery {CARD.name}", read, told.read, told.shuffled, stimuli),
        *(
            each.fact(CARD.name, {**about, "effect": what, "null": "same carry"}, stimuli)
            for what, each in interchanged
        ),
    ]


def pooled(told: Sequence[RestoredWrite]) -> tuple[Rate, Rate, Rate, Rate]:
    """Read and shuffled, turned and its null, over all writes."""
    rates = [(each.read, each.shuffled, each.together.effect, each.together.null) for each in told]
    read, shuffled, turned, null = (sum(some, Rate(0, 0)) for some in zip(*rates, strict=True))
    return read, shuffled, turned, null


def _beside(
    subject: Subject, found: Sequence[RestoredBranch], told: Sequence[RestoredWrite]
) -> tuple[BesidePaper, ...]:
    rows = [beside_curve(each.branch, each.by_mean) for each in found if each.by_mean is not None]
    if subject.operation is not Operation.MIX:
        return tuple(rows)
    if told:
        read, shuffled, _, _ = pooled(told)
        ours = f"{read} in {len(told)} groups of nodes, shuffled labels {shuffled.value:.2f}"
        rows.append(
            BesidePaper("carry or sign read off restored writes", "1.00 (mix d6)", ours, read.interval[1] >= 0.99)
        )
    last = subject.last_layer
    there = [each for each in told if each.digit is not None and any(node.layer == last for node in each.nodes)]
    if there:
        _, _, turned, null = pooled(there)
        what = "digits turned by restored nodes of their place, last layer among them"
        agrees = turned.interval[1] >= 0.99 and null.interval[0] <= 0.01
        rows.append(BesidePaper(what, "1.00, null 0.00 (mix d6)", f"{turned}, null {null}", agrees))
    return tuple(rows)


def curve_row(branch: Branch) -> str:
    """How what is set beside the paper about a branch begins."""
    return f"{branch.value}: right with"


def beside_curve(branch: Branch, curve: RestorationCurve) -> BesidePaper:
    """The paper's figure for a branch, beside the curve under its fill."""
    paper, with_ten = PAPER_FIGURES[branch]
    none, shown = hit_rate(curve.right[0]), [n for n in PAPER_COUNTS if n in curve.counts]
    what, agrees = f"{curve_row(branch)} the best 5/10/20, mean ablation", None
    if not curve.tells or 10 not in shown:
        return BesidePaper(what, paper, f"{none.value:.2f} {TOO_FEW_FAIL}", agrees)
    best, null = ([hit_rate(some[curve.counts.index(n)]) for n in shown] for some in (curve.right, curve.null))
    ours = f"{'/'.join(f'{r.value:.2f}' for r in best)} (random {'/'.join(f'{r.value:.2f}' for r in null)})"
    low, high = best[shown.index(10)].interval
    return BesidePaper(what, paper, f"{ours}, none {none.value:.2f}", low <= with_ten <= high)


def _figure(found: Sequence[RestoredBranch]) -> Figure:
    series = [
        Series.of_rates(f"{each.branch.value}, {what}", kind, each.curve.counts, list(map(hit_rate, some)))
        for kind, what in ((SeriesKind.EFFECT, "best others"), (SeriesKind.NULL, "random others"))
        for each in found
        for some in (each.curve.right if kind is SeriesKind.EFFECT else each.curve.null,)
    ]
    return Figure("untagged nodes added", "share of answers right", tuple(series))


def _row(told: RestoredWrite) -> tuple[str, ...]:
    names = ", ".join(str(node)[len(f"P{node.position}") :] for node in told.nodes)
    together = (f"{s.effect.value:.2f}, {s.null.value:.2f}" for s in (told.together, told.with_layer))
    reading = f"{told.read.value:.2f}, {told.shuffled.value:.2f}"
    return (f"{told.place} {told.branch.value}", names, told.what, reading, f"{told.corrected:.2f}", *together)
