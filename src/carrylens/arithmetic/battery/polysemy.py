"""Polysemy: which of the three branches does each node serve, and what became of the nodes that were put in?

Takes  a subject; for a model that began as an addition model, that model, where it was put, and a mixed model of the
       same shape that was trained from scratch, if one is known.
Gives  for every node the branches whose questions fail without it; how many nodes serve several; for inserted models
       how many of the addition model's useful nodes serve each branch, there and in the model from scratch.
Never  ablates with the mean of another branch: what is taken away is what the node says about the operands. Nor does it
       read the map: which nodes are missed on which branch is found here, by the same rule for every model.

1. On each branch every node writes its mean over questions of that branch. Those without which a question fails are
   looked at again on other questions.
2. A node serves a branch if surely more questions fail without it than with it (Holm over nodes and branches).
3. Null: which nodes serve which branch is shuffled among nodes of the same layer, kind and half of the sequence.
4. Inserted: the nodes without which the addition model fails. How many of them serve each branch in the mixed model?
   Beside it, how many serve sums in the addition model itself, and how many of the very same nodes (place, layer,
   head) serve each branch in the model from scratch, asked the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.columns import Branch
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.outcome import BesidePaper, Card, Figure, Kind, Outcome, Series
from carrylens.arithmetic.battery.subject import Settings, Subject
from carrylens.arithmetic.battery.weighing import surely_most, surely_seldom
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.claims.thresholds import THRESHOLDS
from carrylens.claims.verdicts import Verdict
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.corrections import holm
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, ablate
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node

CARD = Card(
    name="polysemy",
    title="Which branches each node serves",
    question="Do most useful nodes of a mixed model serve more than one of sum, positive and negative difference?",
    method=(
        "Every node writes its mean over questions of the branch that is asked; those missed are tried on others.",
        "A node serves a branch if surely more questions fail without it than with it.",
        "Null: who serves which branch, shuffled among nodes of the same layer, kind and half of the sequence.",
        "Inserted models: what the addition model's useful nodes serve now, beside what they served in that model, and "
        "what the same nodes serve in a model of the same shape trained from scratch.",
    ),
    refuted_if="surely fewer than half of the useful nodes serve more than one branch.",
    paper="of 48 inserted nodes (ins1 mix d6) 88% serve sums, 83% positive and 60% negative differences; of all 96 "
    "used nodes 64%, 73% and 55%",
    where="Table of coverage by question class",
)
LETTERS = {Branch.ADD: "S", Branch.POSITIVE: "M", Branch.NEGATIVE: "N"}
_PAPER_DIGITS = 6
_PAPER = {
    "inserted": {Branch.ADD: 0.88, Branch.POSITIVE: 0.83, Branch.NEGATIVE: 0.60},
    "useful": {Branch.ADD: 0.64, Branch.POSITIVE: 0.73, Branch.NEGATIVE: 0.55},
}
_PAPER_NODES = {"inserted": 48, "useful": 96}

Served = Mapping[Node, frozenset[Branch]]


@dataclass(frozen=True)
class _Missed:
    """How many questions of a branch fail without a node, and untouched."""

    node: Node
    branch: Branch
    without: Rate
    clean: Rate


@dataclass(frozen=True)
class Reuse:
    """What became of an addition model's useful nodes, as the mixed model counts its layers and heads.

    `own` is how many of them serve sums in the addition model itself, on questions they were not found on. `scratch`
    says what nodes serve in the model from scratch; None where none is known, or where it answers too few questions.
    """

    name: str
    nodes: Nodes
    own: Rate
    scratch_name: str
    scratch: Served | None


@dataclass(frozen=True)
class PolysemyMeasurements:
    """What is missed without each node on each branch, and what became of inserted nodes, where there are any."""

    missed: tuple[_Missed, ...]
    reuse: Reuse | None


def measure(context: ExperimentContext) -> PolysemyMeasurements:
    """Ablate every node on every branch; nothing for a model that does not both add and subtract."""
    if context.subject.operation is not Operation.MIX:
        return PolysemyMeasurements((), None)
    return PolysemyMeasurements(tuple(_all_missed(context)), _reuse(context))


def summarise(context: ExperimentContext, measured: PolysemyMeasurements) -> Outcome:
    """How many useful nodes serve several branches, and which branches inserted nodes serve."""
    settings, missed, reuse = context.settings, measured.missed, measured.reuse
    if context.subject.operation is not Operation.MIX:
        says = "Only a model that adds and subtracts has several branches to serve."
        return Outcome(CARD, settings.plain(), Verdict.UNTESTED, says)
    facts = [_fact(each, settings) for each in missed]
    served = served_branches(missed, [fact.p for fact in facts])
    several = Rate(sum(len(each) > 1 for each in served.values()), len(served))
    null = shuffled_several(served, context)
    facts += [_shared_fact(several, null, settings), *_reuse_facts(served, reuse, settings)]
    return Outcome(
        card=CARD,
        settings=settings.plain(),
        verdict=judge_several(several, null) if missed else Verdict.UNTESTED,
        says=_says(served, several, null, reuse) if missed else "The model answers too few questions.",
        facts=tuple(facts),
        figure=_figure(served, context) if served else None,
        headers=("node", "serves", *(f"fail without it, {LETTERS[branch]}" for branch in Branch)),
        rows=tuple(_row(node, served, missed) for node in sorted(served)),
        beside_paper=_beside(served, reuse, context.subject.digits),
    )


def run(context: ExperimentContext) -> Outcome:
    """The experiment."""
    return summarise(context, measure(context))


def served_branches(missed: Sequence[_Missed], p_values: Sequence[float]) -> Served:
    """What each node serves, of the nodes that serve anything."""
    found: dict[Node, frozenset[Branch]] = {}
    for each, p in zip(missed, holm(p_values), strict=True):
        if p <= THRESHOLDS.level:
            found[each.node] = found.get(each.node, frozenset()) | {each.branch}
    return found


def judge_several(several: Rate, null: Rate) -> Verdict:
    """Most serve several branches, more than if each branch had chosen its nodes by itself."""
    if not several.n:
        return Verdict.UNTESTED
    if surely_most(several) and Fact("", {}, several, null).p <= THRESHOLDS.level:
        return Verdict.SUPPORTED
    return Verdict.REFUTED if surely_seldom(several) else Verdict.INCONCLUSIVE


def shuffled_several(served: Served, context: ExperimentContext) -> Rate:
    """How many of the serving nodes would serve several branches, had each branch chosen among nodes of a sort."""
    subject, settings = context.subject, context.settings
    random = np.random.default_rng(settings.seed_of(CARD.name, "shuffle"))
    middle = subject.position("=")
    sorts: dict[tuple[int, bool, bool], list[Node]] = {}
    for node in subject.nodes:
        sorts.setdefault((node.layer, node.is_mlp, node.position < middle), []).append(node)
    total = Rate(0, 0)
    for _ in range(settings.n_draws):
        counts = [c for some in sorts.values() for c in _shuffled_counts(some, served, random)]
        total += Rate(sum(count > 1 for count in counts), sum(count > 0 for count in counts))
    return total


def inserted_node(node: Node, subject: Subject) -> Node:
    """Where a node of the addition model is in the mixed one."""
    assert subject.inserted is not None
    if not subject.inserted.late:
        return node
    big, small = subject.model.config, subject.inserted.model.config
    head = None if node.head is None else node.head + big.n_heads - small.n_heads
    return Node(node.position, node.layer + big.n_layers - small.n_layers, head)


def _shuffled_counts(some: Sequence[Node], served: Served, random: np.random.Generator) -> list[int]:
    counts = np.zeros(len(some), dtype=np.int64)
    for branch in Branch:
        counts += random.permutation([branch in served.get(node, frozenset()) for node in some])
    return [int(count) for count in counts]


def _asked(digits: int, branch: Branch, n: int, seed: int) -> Questions:
    drawn = Stream(StreamKind.ENRICHED, branch.operation, digits, seed).take(0, 6 * n)
    fits = np.flatnonzero(is_negative(drawn) == (branch is Branch.NEGATIVE))
    return drawn[fits[:n]]


def _all_missed(context: ExperimentContext) -> list[_Missed]:
    subject, settings = context.subject, context.settings
    found: list[_Missed] = []
    for at, branch in enumerate(Branch):
        context.watch(CARD.title, at, len(Branch))
        asked = _asked(
            subject.digits,
            branch,
            settings.n_questions // 2,
            settings.seed_of(CARD.name, branch, "score"),
        )
        if subject.right(asked).mean() >= 0.5:
            found += missed_nodes(context, branch, asked)
    return found


def missed_nodes(context: ExperimentContext, branch: Branch, asked: Questions) -> list[_Missed]:
    """How often a branch's questions fail without each node that is missed in some other questions."""
    subject, settings = context.subject, context.settings
    seeds = [settings.seed_of(CARD.name, branch, word) for word in ("find", "reference")]
    first = _asked(subject.digits, branch, settings.n_questions // 3, seeds[0])
    reference = _asked(subject.digits, branch, settings.n_reference, seeds[1])
    nodes = needed_nodes(subject.engine, subject.nodes, first, reference)
    return _without(subject, branch, nodes, asked, reference)


def _without(subject: Subject, branch: Branch, nodes: Nodes, asked: Questions, reference: Questions) -> list[_Missed]:
    if not nodes:
        return []
    outcomes = subject.engine.run([ablate([node], Fill.MEAN) for node in nodes], asked, reference=reference)
    clean = _count((outcomes.clean_tokens != outcomes.right).any(-1))
    return [_Missed(node, branch, _count(failed), clean) for node, failed in zip(nodes, outcomes.failed, strict=True)]


def needed_nodes(engine: Engine, nodes: Nodes, questions: Questions, reference: Questions) -> Nodes:
    """The nodes without which more questions fail than with them."""
    outcomes = engine.run([ablate([node], Fill.MEAN) for node in nodes], questions, reference=reference)
    clean = (outcomes.clean_tokens != outcomes.right).any(-1).sum()
    return tuple(node for node, failed in zip(nodes, outcomes.failed, strict=True) if failed.sum() > clean)


def _reuse(context: ExperimentContext) -> Reuse | None:
    subject, settings = context.subject, context.settings
    if subject.inserted is None:
        return None
    put = subject.inserted
    small = Subject(put.name, put.model, Operation.ADD)
    words = ("find", "reference", "score")
    first, reference, asked = (
        _asked(
            subject.digits,
            Branch.ADD,
            settings.n_questions // 2,
            settings.seed_of(CARD.name, "inserted", word),
        )
        for word in words
    )
    nodes = needed_nodes(small.engine, small.nodes, first, reference)
    missed = _without(small, Branch.ADD, nodes, asked, reference)
    own = served_branches(missed, [_fact(each, settings).p for each in missed])
    scratch = _all_missed(ExperimentContext(put.scratch, settings, context.watch)) if put.scratch else []
    return Reuse(
        put.name,
        tuple(inserted_node(node, subject) for node in nodes),
        _share(nodes, own, Branch.ADD),
        put.scratch.name if put.scratch else "",
        served_branches(scratch, [_fact(each, settings).p for each in scratch]) if scratch else None,
    )


def _fact(each: _Missed, settings: Settings) -> Fact:
    about = {"node": str(each.node), "branch": each.branch.value, "null": "untouched"}
    return Fact(f"battery {CARD.name}", about, each.without, each.clean, {"seed": settings.seed})


def _shared_fact(several: Rate, null: Rate, settings: Settings) -> Fact:
    about = {"nodes": "that serve several branches", "null": "shuffled among nodes of a sort"}
    return Fact(f"battery {CARD.name}", about, several, null, {"seed": settings.seed})


def _reuse_facts(served: Served, reuse: Reuse | None, settings: Settings) -> list[Fact]:
    if reuse is None:
        return []
    kind, stimuli = f"battery {CARD.name}", {"seed": settings.seed}
    now = {branch: _share(reuse.nodes, served, branch) for branch in Branch}
    about = {"inserted nodes that serve": Branch.ADD.value, "null": f"the same nodes in {reuse.name} itself"}
    facts = [Fact(kind, about, now[Branch.ADD], reuse.own, stimuli)]
    if reuse.scratch is not None:
        for branch in Branch:
            null = f"the same nodes of {reuse.scratch_name}, trained from scratch"
            about = {"inserted nodes that serve": branch.value, "null": null}
            facts.append(Fact(kind, about, now[branch], _share(reuse.nodes, reuse.scratch, branch), stimuli))
        for branch in Branch:
            about = {"useful nodes that serve": branch.value, "null": f"useful nodes of {reuse.scratch_name}"}
            used = [_share(sorted(each), each, branch) for each in (served, reuse.scratch)]
            facts.append(Fact(kind, about, used[0], used[1], stimuli))
    return facts


def _share(nodes: Sequence[Node], served: Served, branch: Branch) -> Rate:
    return Rate(sum(branch in served.get(node, frozenset()) for node in nodes), len(nodes))


def _says(served: Served, several: Rate, null: Rate, reuse: Reuse | None) -> str:
    kinds = {"".join(LETTERS[b] for b in Branch if b in each) for each in served.values()}
    counts = [
        f"{kind} {sum(''.join(LETTERS[b] for b in Branch if b in each) == kind for each in served.values())}"
        for kind in sorted(kinds, key=lambda text: (-len(text), text))
    ]
    text = "The paper says that most nodes serve several of sums (S), positive (M) and negative differences (N). "
    text += f"Of {len(served)} useful nodes {several.value:.2f} serve several branches, shuffled {null.value:.2f}"
    text += f" ({', '.join(counts)})"
    if reuse is None:
        return f"{text}. Reuse of inserted nodes is UNTESTED: no addition model is known to have been put in."
    text += f". Of the {len(reuse.nodes)} useful nodes that came from {reuse.name}, these shares serve each branch: "
    text += f"{_shares(reuse.nodes, served)}; in {reuse.name} itself {reuse.own.value:.2f} serve sums"
    if reuse.scratch is None:
        text += "; no model of this shape trained from scratch is known, so no other share stands beside these"
    else:
        text += (
            f"; of the same nodes of {reuse.scratch_name}, trained from scratch: {_shares(reuse.nodes, reuse.scratch)}"
        )
        text += f"; of all its useful nodes: {_shares(sorted(reuse.scratch), reuse.scratch)}"
    return f"{text}; of all useful nodes here: {_shares(sorted(served), served)}."


def _shares(nodes: Sequence[Node], served: Served) -> str:
    return ", ".join(f"{LETTERS[b]} {_share(nodes, served, b).value:.2f}" for b in Branch)


def _beside(served: Served, reuse: Reuse | None, digits: int) -> tuple[BesidePaper, ...]:
    # The paper's table is of one model: 6 digits, begun as an addition model.
    rows = []
    for what, nodes in (("inserted", reuse.nodes), ("useful", tuple(sorted(served)))) if reuse else ():
        for branch in Branch:
            rate, paper = _share(nodes, served, branch), _PAPER[what][branch]
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
            f"serve {branch.value}", Kind.EFFECT, there, [_share(groups[at], served, branch) for at in there]
        )
        for branch in Branch
    ]
    several = [Rate(sum(len(served[node]) > 1 for node in groups[at]), len(groups[at])) for at in there]
    series.append(Series.of_rates("serve several", Kind.RIVAL, there, several))
    null = shuffled_several(served, context)
    series.append(Series.of_rates("several, shuffled, all nodes", Kind.NULL, there, [null] * len(there)))
    return Figure("useful nodes", "share of them", tuple(series), names)


def _row(node: Node, served: Served, missed: Sequence[_Missed]) -> tuple[str, ...]:
    found = {each.branch: each.without for each in missed if each.node == node}
    shown = (f"{found[b].hits}/{found[b].n}" if b in found else "0" for b in Branch)
    return (str(node), "".join(LETTERS[b] for b in Branch if b in served[node]), *shown)


def _count(failed: np.ndarray) -> Rate:
    return Rate(int(failed.sum()), len(failed))
