"""What `polysemy` says: how many useful nodes serve several branches, and what inserted nodes serve.

Takes  what is missed without each node on each branch.
Gives  the outcome: verdict, facts, estimates, what a figure and a table show.
Never  runs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.experiment import Summary
from carrylens.arithmetic.battery.measures.verdict_rules import surely_most, surely_seldom
from carrylens.arithmetic.battery.outcome import BesidePaper, Figure, Outcome, Series, SeriesKind
from carrylens.arithmetic.battery.polysemy.card import CARD
from carrylens.arithmetic.battery.polysemy.measure import InsertedReuse, PolysemyMeasurements
from carrylens.arithmetic.battery.polysemy.served_branches import (
    MissedNode,
    Served,
    missed_fact,
    served_branches,
    share_serving,
    shuffled_several,
)
from carrylens.arithmetic.battery.settings import BatterySettings
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.questions import Operation
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.nodes import Node

LETTERS = {Branch.ADD: "S", Branch.POSITIVE: "M", Branch.NEGATIVE: "N"}
_NONE = Rate(0, 0)
INSERTED_SERVE, FROM_SCRATCH = "inserted nodes that serve", "from scratch"
_PAPER_DIGITS = 6
_PAPER = {
    "inserted": {Branch.ADD: 0.88, Branch.POSITIVE: 0.83, Branch.NEGATIVE: 0.60},
    "useful": {Branch.ADD: 0.64, Branch.POSITIVE: 0.73, Branch.NEGATIVE: 0.55},
}
_PAPER_NODES = {"inserted": 48, "useful": 96}


@dataclass(frozen=True)
class PolysemyTold:
    """What the sentence about `polysemy` is made of."""

    is_mixed: bool
    is_answered: bool = False
    served: Served = field(default_factory=dict)
    several: Rate = _NONE
    null: Rate = _NONE
    reuse: InsertedReuse | None = None


def summarise(context: ExperimentContext, measured: PolysemyMeasurements) -> Summary:
    """How many useful nodes serve several branches, and which branches inserted nodes serve."""
    settings, missed, reuse = context.settings, measured.missed, measured.reuse
    if context.subject.operation is not Operation.MIX:
        return Summary(Outcome(CARD, settings.plain(), Verdict.UNTESTED, says=""), PolysemyTold(is_mixed=False))
    facts = [missed_fact(each, settings) for each in missed]
    served = served_branches(missed, [fact.p for fact in facts])
    several = Rate(sum(len(each) > 1 for each in served.values()), len(served))
    null = shuffled_several(served, context)
    facts += [_shared_fact(several, null, settings), *_reuse_facts(served, reuse, settings)]
    outcome = Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=judge_several(several, null) if missed else Verdict.UNTESTED,
        says="",
        facts=tuple(facts),
        figure=_figure(served, context) if served else None,
        headers=("node", "serves", *(f"fail without it, {LETTERS[branch]}" for branch in Branch)),
        rows=tuple(_row(node, served, missed) for node in sorted(served)),
        beside_paper=_beside(served, reuse, context.subject.digits),
    )
    return Summary(outcome, PolysemyTold(True, bool(missed), served, several, null, reuse))


def judge_several(several: Rate, null: Rate) -> Verdict:
    """Most serve several branches, more than if each branch had chosen its nodes by itself."""
    if not several.n:
        return Verdict.UNTESTED
    if surely_most(several) and Fact("", {}, several, null).p <= THRESHOLDS.level:
        return Verdict.SUPPORTED
    return Verdict.REFUTED if surely_seldom(several) else Verdict.INCONCLUSIVE


def _shared_fact(several: Rate, null: Rate, settings: BatterySettings) -> Fact:
    about = {"nodes": "that serve several branches", "null": "shuffled among nodes of a sort"}
    return Fact(f"battery {CARD.name}", about, several, null, {"seed": settings.seed})


def _reuse_facts(served: Served, reuse: InsertedReuse | None, settings: BatterySettings) -> list[Fact]:
    if reuse is None:
        return []
    kind, stimuli = f"battery {CARD.name}", {"seed": settings.seed}
    now = {branch: share_serving(reuse.nodes, served, branch) for branch in Branch}
    about = {INSERTED_SERVE: Branch.ADD.value, "null": f"the same nodes in {reuse.name} itself"}
    facts = [Fact(kind, about, now[Branch.ADD], reuse.own, stimuli)]
    if reuse.scratch is not None:
        for branch in Branch:
            null = f"the same nodes of {reuse.scratch_name}, trained {FROM_SCRATCH}"
            about = {INSERTED_SERVE: branch.value, "null": null}
            facts.append(Fact(kind, about, now[branch], share_serving(reuse.nodes, reuse.scratch, branch), stimuli))
        for branch in Branch:
            about = {"useful nodes that serve": branch.value, "null": f"useful nodes of {reuse.scratch_name}"}
            used = [share_serving(sorted(each), each, branch) for each in (served, reuse.scratch)]
            facts.append(Fact(kind, about, used[0], used[1], stimuli))
    return facts


def _beside(served: Served, reuse: InsertedReuse | None, digits: int) -> tuple[BesidePaper, ...]:
    # The paper's table is of one model: 6 digits, begun as an addition model.
    rows = []
    for what, nodes in (("inserted", reuse.nodes), ("useful", tuple(sorted(served)))) if reuse else ():
        for branch in Branch:
            rate, paper = share_serving(nodes, served, branch), _PAPER[what][branch]
            agrees = rate.interval[0] <= paper <= rate.interval[1] if digits == _PAPER_DIGITS else None
            shown = f"{paper:.2f} of {_PAPER_NODES[what]} (ins1 mix d6)"
            rows.append(BesidePaper(f"{what} nodes that serve {branch.value}", shown, str(rate), agrees))
    return tuple(rows)


def _figure(served: Served, context: ExperimentContext) -> Figure:
    kinds = [(layer, is_mlp) for layer in range(context.subject.last_layer + 1) for is_mlp in (False, True)]
    names = tuple(f"L{layer} {'MLP' if is_mlp else 'heads'}" for layer, is_mlp in kinds)
    groups = [[node for node in served if (node.layer, node.is_mlp) == kind] for kind in kinds]
    there = [at for at, group in enumerate(groups) if group]
    series = [
        Series.of_rates(
            f"serve {branch.value}",
            SeriesKind.EFFECT,
            there,
            [share_serving(groups[at], served, branch) for at in there],
        )
        for branch in Branch
    ]
    several = [Rate(sum(len(served[node]) > 1 for node in groups[at]), len(groups[at])) for at in there]
    series.append(Series.of_rates("serve several", SeriesKind.RIVAL, there, several))
    null = shuffled_several(served, context)
    series.append(Series.of_rates("several, shuffled, all nodes", SeriesKind.NULL, there, [null] * len(there)))
    return Figure("useful nodes", "share of them", tuple(series), names)


def _row(node: Node, served: Served, missed: Sequence[MissedNode]) -> tuple[str, ...]:
    found = {each.branch: each.without for each in missed if each.node == node}
    shown = (f"{found[b].hits}/{found[b].n}" if b in found else "0" for b in Branch)
    return (str(node), "".join(LETTERS[b] for b in Branch if b in served[node]), *shown)
