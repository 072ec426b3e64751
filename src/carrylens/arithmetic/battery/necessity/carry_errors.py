"""Carry errors: which digits go off by a carry when some nodes of a place no longer say what it is.

Takes  a subject, a place whose heads deliver or make a carry, sets of nodes.
Gives  for each set which questions get a digit that is off by just the carry: one too low where a carry is missing (one
       too high for a borrow), the other way round where one is added.
Never  counts any other failure: a head that brings the digit's own column is missed too, but not for the carry.

1. Where digit j is predicted, the heads of the combiner's layer bring the digit's own column and the carry. So only the
   carry is taken away: questions come in pairs that differ in the column which decides it, with and without a carry, at
   every cascade depth alike, the token of the place being the same; nodes write the mean of the two.
2. At D'k earlier heads bring the column's digits, of which the digits above see nothing but the carry: nodes write
   their mean over a reference.
3. Untagged: as many other untagged heads on the same side of =, of layers and places on which the digits can depend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import subtasks
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.measures.hit_rates import AnswerTokens, Hits
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.arithmetic.battery.stimuli.column_pairs import deciding_pairs
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.discovery.node_map import Nodes
from carrylens.interventions.edits import Edit, ablate, interpolate
from carrylens.nodes import Node
from carrylens.tasks.batches import joined

_HALF_WAY = 0.5


@dataclass(frozen=True)
class CarryPlace:
    """A place whose heads are tested on one branch: which tokens of the answer count, and its MLPs.

    It delivers the carry into `digit` where that is predicted, or else makes the one of the column below.
    """

    branch: Branch
    name: str
    digit: int
    delivers: bool
    heads: Nodes
    mlps: Nodes
    tokens: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PlaceQuestions:
    """Questions for one place; `partners` have the other carry, or are None where nodes write the reference's mean."""

    questions: Questions
    partners: Questions | None
    reference: Questions

    def __len__(self) -> int:
        return len(self.questions)

    def __getitem__(self, rows: Hits | NDArray[np.int64] | slice) -> PlaceQuestions:
        """Some of the questions."""
        partners = None if self.partners is None else self.partners[rows]
        return PlaceQuestions(self.questions[rows], partners, self.reference)

    def answered(self, subject: Subject) -> PlaceQuestions:
        """Those that the model, untouched, answers; of pairs both."""
        if not len(self):
            return self
        good = subject.right(self.questions)
        return self[good if self.partners is None else good & subject.right(self.partners)]


def carry_places(subject: Subject, branch: Branch, layer: int) -> list[CarryPlace]:
    """The places that deliver a carry into a digit, from the top, then those that make one; `layer` combines them."""
    found = []
    for digit in range(branch.top(subject.digits), 0, -1):
        here = tuple(node for node in subject.nodes_at(subject.predicting(digit)) if node.layer == layer)
        heads, mlps = _sorted(here)
        found.append(CarryPlace(branch, f"A{digit} {branch.value}", digit, True, heads, mlps, (subject.token(digit),)))
    for k in range(branch.top(subject.digits) - 1, -1, -1):
        here = tuple(node for node in subject.nodes_at(subject.position(f"D'{k}")) if node.layer < layer)
        if here:
            heads, mlps = _sorted(here)
            tokens = tuple(range(subject.token(k)))
            found.append(CarryPlace(branch, f"D'{k} {branch.value}", k + 1, False, heads, mlps, tokens))
    return found


def draw_place_pairs(subject: Subject, place: CarryPlace, n: int, reference: Questions, seed: int) -> PlaceQuestions:
    """About `n` pairs whose carry into the place's digit is turned, every cascade depth as often, in random order."""
    count = -(-n // place.digit)
    drawn = [
        deciding_pairs(place.branch, subject.digits, place.digit, depth, count, seed + depth)
        for depth in range(place.digit)
    ]
    bases, sources = (joined([getattr(pairs, side) for pairs in drawn]) for side in ("base", "source"))
    order = np.random.default_rng([seed, 15]).permutation(len(bases))
    return PlaceQuestions(bases, sources, reference)[order]


def draw_branch_questions(subject: Subject, branch: Branch, n: int, reference: Questions, seed: int) -> PlaceQuestions:
    """Up to `n` enriched questions of one branch."""
    drawn = Population(PopulationKind.ENRICHED, branch.operation, subject.digits).draw(seed, 0, 3 * n)
    return PlaceQuestions(drawn[is_negative(drawn) == (branch is Branch.NEGATIVE)][:n], None, reference)


def off_by_carry(questions: Questions, branch: Branch) -> AnswerTokens:
    """What each token of the answer is if the carry, or borrow, into that digit is turned; -1 where none goes in."""
    found, values = np.full_like(right := answer_tokens(questions), -1), subtasks(questions)
    for digit in range(1, branch.top(questions.digits) + 1):
        token = questions.digits + 1 - digit
        step = np.where(values[branch.resolved[digit - 1]] == 1, -1, 1) * (1 if branch is Branch.ADD else -1)
        found[:, token] = (right[:, token] + step) % 10
    return found


def carry_errors(subject: Subject, place: CarryPlace, sets: Sequence[Nodes], asked: PlaceQuestions) -> Hits:
    """Which questions get a digit that is off by the carry without each of the sets: [set, question]."""
    sources = () if asked.partners is None else asked.partners
    edits = [_without(nodes, asked) for nodes in sets]
    done = subject.engine.run(edits, asked.questions, sources, reference=asked.reference)
    return _is_off(place, asked, done.tokens, done.changed)


def carry_errors_untagged(
    context: ExperimentContext, place: CarryPlace, asked: PlaceQuestions, untagged: Sequence[Node], seed: int
) -> Hits:
    """The same without untagged heads, each question with another of the drawn sets; empty where there are none."""
    subject = context.subject
    random = np.random.default_rng(seed)
    sets = [untagged_heads(subject, place, untagged, random) for _ in range(context.settings.n_draws)]
    if not sets[0]:
        return np.zeros(0, dtype=np.bool_)
    edits = [_without(sets[row % len(sets)], asked) for row in range(len(asked))]
    sources = () if asked.partners is None else asked.partners
    done = subject.engine.run_each(edits, asked.questions, sources, reference=asked.reference)
    return _is_off(place, asked, done.tokens, done.changed)


def untagged_heads(subject: Subject, place: CarryPlace, untagged: Sequence[Node], random: np.random.Generator) -> Nodes:
    """As many untagged heads as the place has, others than its own, on the same side of =, that can be missed there.

    The place's tokens depend on nothing that comes after them, nor on what the last layer writes elsewhere.
    """
    at, last, equals = place.heads[0].position, subject.last_layer, subject.position("=")
    latest = at if place.delivers else equals - 1
    earliest = equals if place.delivers else 0
    pool = [n for n in untagged if not n.is_mlp and n.layer < last and earliest <= n.position <= latest]
    pool = [node for node in pool if node not in place.heads]
    return tuple(sorted(pool[row] for row in random.permutation(len(pool))[: len(place.heads)]))


def _sorted(nodes: Nodes) -> tuple[Nodes, Nodes]:
    return tuple(node for node in nodes if not node.is_mlp), tuple(node for node in nodes if node.is_mlp)


def _without(nodes: Nodes, asked: PlaceQuestions) -> Edit:
    return ablate(nodes) if asked.partners is None else interpolate(nodes, _HALF_WAY)


def _is_off(place: CarryPlace, asked: PlaceQuestions, tokens: AnswerTokens, changed: Hits) -> Hits:
    read = list(place.tokens)
    off = (tokens == off_by_carry(asked.questions, place.branch)) & changed
    return np.asarray(off[..., read].any(-1))
