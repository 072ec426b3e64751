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
   head) serve each branch in the model from scratch, evaluated on the same questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.polysemy.card import CARD
from carrylens.arithmetic.battery.polysemy.served_branches import (
    MissedNode,
    Served,
    missed_fact,
    served_branches,
    share_serving,
)
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Operation, Questions
from carrylens.discovery.node_map import Nodes
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import Fill, ablate
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node


@dataclass(frozen=True)
class InsertedReuse:
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

    missed: tuple[MissedNode, ...]
    reuse: InsertedReuse | None


def measure(context: ExperimentContext) -> PolysemyMeasurements:
    """Ablate every node on every branch; nothing for a model that does not both add and subtract."""
    if context.subject.operation is not Operation.MIX:
        return PolysemyMeasurements((), None)
    return PolysemyMeasurements(tuple(_all_missed(context)), _reuse(context))


def inserted_node(node: Node, subject: Subject) -> Node:
    """Where a node of the addition model is in the mixed one."""
    assert subject.inserted is not None
    if not subject.inserted.late:
        return node
    big, small = subject.model.config, subject.inserted.model.config
    head = None if node.head is None else node.head + big.n_heads - small.n_heads
    return Node(node.position, node.layer + big.n_layers - small.n_layers, head)


def _branch_questions(digits: int, branch: Branch, n: int, seed: int) -> Questions:
    drawn = Population(PopulationKind.ENRICHED, branch.operation, digits).draw(seed, 0, 6 * n)
    fits = np.flatnonzero(is_negative(drawn) == (branch is Branch.NEGATIVE))
    return drawn[fits[:n]]


def _all_missed(context: ExperimentContext) -> list[MissedNode]:
    subject, settings = context.subject, context.settings
    found: list[MissedNode] = []
    for at, branch in enumerate(Branch):
        context.watch(CARD.title, at, len(Branch))
        asked = _branch_questions(
            subject.digits,
            branch,
            settings.n_questions // 2,
            settings.seed_of(CARD.name, branch, "score"),
        )
        if subject.right(asked).mean() >= 0.5:
            found += missed_nodes(context, branch, asked)
    return found


def missed_nodes(context: ExperimentContext, branch: Branch, asked: Questions) -> list[MissedNode]:
    """How often a branch's questions fail without each node that is missed in some other questions."""
    subject, settings = context.subject, context.settings
    seeds = [settings.seed_of(CARD.name, branch, word) for word in ("find", "reference")]
    first = _branch_questions(subject.digits, branch, settings.n_questions // 3, seeds[0])
    reference = _branch_questions(subject.digits, branch, settings.n_reference, seeds[1])
    nodes = needed_nodes(subject.engine, subject.nodes, first, reference)
    return _without(subject, branch, nodes, asked, reference)


def _without(
    subject: Subject, branch: Branch, nodes: Nodes, asked: Questions, reference: Questions
) -> list[MissedNode]:
    if not nodes:
        return []
    outcomes = subject.engine.run([ablate([node], Fill.MEAN) for node in nodes], asked, reference=reference)
    clean = hit_rate((outcomes.clean_tokens != outcomes.right).any(-1))
    return [
        MissedNode(node, branch, hit_rate(failed), clean) for node, failed in zip(nodes, outcomes.failed, strict=True)
    ]


def needed_nodes(engine: Engine, nodes: Nodes, questions: Questions, reference: Questions) -> Nodes:
    """The nodes without which more questions fail than with them."""
    outcomes = engine.run([ablate([node], Fill.MEAN) for node in nodes], questions, reference=reference)
    clean = (outcomes.clean_tokens != outcomes.right).any(-1).sum()
    return tuple(node for node, failed in zip(nodes, outcomes.failed, strict=True) if failed.sum() > clean)


def _reuse(context: ExperimentContext) -> InsertedReuse | None:
    subject, settings = context.subject, context.settings
    if subject.inserted is None:
        return None
    put = subject.inserted
    small = Subject(put.name, put.model, Operation.ADD)
    words = ("find", "reference", "score")
    first, reference, asked = (
        _branch_questions(
            subject.digits,
            Branch.ADD,
            settings.n_questions // 2,
            settings.seed_of(CARD.name, "inserted", word),
        )
        for word in words
    )
    nodes = needed_nodes(small.engine, small.nodes, first, reference)
    missed = _without(small, Branch.ADD, nodes, asked, reference)
    own = served_branches(missed, [missed_fact(each, settings).p for each in missed])
    scratch = _all_missed(ExperimentContext(put.scratch, settings, context.watch)) if put.scratch else []
    return InsertedReuse(
        put.name,
        tuple(inserted_node(node, subject) for node in nodes),
        share_serving(nodes, own, Branch.ADD),
        put.scratch.name if put.scratch else "",
        served_branches(scratch, [missed_fact(each, settings).p for each in scratch]) if scratch else None,
    )
