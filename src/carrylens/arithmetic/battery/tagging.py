"""Tagging: which nodes a map calls useful, what the others write instead, and random sets that match a set of nodes.

Takes  a subject.
Gives  the useful nodes, from its map or else from ablations made here, with how important each is; the questions that
       means and resamples are taken from; sets matched in size, kind, layer and, as far as they can be, position.
Never  uses the questions that an experiment scores on, and never lets ablated nodes tell which branch is asked.

A mean over questions of one branch, and what a node writes for another question of it, still say which operation is
asked and of which sign its answer is. So the reference has as many questions of each branch that the model takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from carrylens.arithmetic.battery.columns import Branch, branches_of
from carrylens.arithmetic.battery.context import ExperimentContext
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.classes import is_negative
from carrylens.arithmetic.layout import equals_position, sequence_length
from carrylens.arithmetic.questions import Questions, joined
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.discovery.ablations import measure_usefulness
from carrylens.discovery.node_map import Nodes, Usefulness
from carrylens.nodes import Node


@dataclass(frozen=True)
class Tagged:
    """The useful nodes, how many questions fail without each, and where that is from."""

    importance: Mapping[Node, int]
    by: str

    @property
    def nodes(self) -> frozenset[Node]:
        """The useful nodes."""
        return frozenset(self.importance)

    def ranked(self) -> list[Node]:
        """The useful nodes, the most important first."""
        return sorted(self.importance, key=lambda node: (-self.importance[node], node))


def tagged_nodes(context: ExperimentContext) -> Tagged:
    """What the subject's map calls useful; without a map, the nodes without which a question fails."""
    subject = context.subject
    if subject.map is not None:
        measured, useful, by = list(subject.map.nodes), subject.map.useful, "the node map"
    else:
        measured = _measured(context)
        useful, by = frozenset(each.node for each in measured if each.is_useful), "ablation of each node alone"
    return Tagged({each.node: _importance(each) for each in measured if each.node in useful}, by)


def natural_questions(branch: Branch, digits: int, n: int, seed: int) -> Questions:
    """Questions of one branch, every digit uniform.

    >>> [text[3] for text in natural_questions(Branch.NEGATIVE, 3, 2, seed=1).text()]
    ['-', '-']
    """
    drawn = Stream(StreamKind.NATURAL, branch.operation, digits, seed).take(0, 6 * n)
    return drawn[np.flatnonzero(is_negative(drawn) == (branch is Branch.NEGATIVE))[:n]]


def reference_questions(subject: Subject, n: int, seed: int) -> Questions:
    """About `n` natural questions, as many of each branch that the model takes: what is ablated tells no branch."""
    branches = branches_of(subject.operation)
    each = -(-n // len(branches))
    return joined([natural_questions(branch, subject.digits, each, seed) for branch in branches])


def parts_of(digits: int) -> tuple[int, ...]:
    """Which part of the sequence each position is: first operand 0, operator 1, second operand 2, = 3, answer 4.

    >>> parts_of(2)
    (0, 0, 1, 2, 2, 3, 4, 4, 4, 4)
    """
    equals = equals_position(digits)
    answer = sequence_length(digits) - equals - 1
    return (*[0] * digits, 1, *[2] * digits, 3, *[4] * answer)


def matched_set(nodes: Collection[Node], among: Collection[Node], digits: int, random: np.random.Generator) -> Nodes:
    """A random set with as many heads and MLPs of each layer at each position as `nodes` has.

    Where that leaves no choice but `nodes` itself (it has all heads of a position; a layer has one MLP there), they are
    drawn from the same part of the sequence: an operand, the operator, =, the answer; where that leaves none either,
    from the same side of =, else from anywhere. Where `among` has too few of some sort, all of them are taken.
    """
    part, equals = parts_of(digits), equals_position(digits)
    wider: tuple[Callable[[int], object], ...] = (lambda at: at, lambda at: part[at], lambda at: at < equals, _anywhere)
    free: dict[tuple[int, bool], list[Node]] = {}
    for node in sorted(among):
        free.setdefault((node.layer, node.is_mlp), []).append(node)
    groups: dict[tuple[int, bool, int], set[Node]] = {}
    for node in sorted(nodes):
        groups.setdefault((node.layer, node.is_mlp, node.position), set()).add(node)

    def pool_of(group: tuple[int, bool, int], within: Callable[[int], object]) -> list[Node]:
        return [node for node in free.get(group[:2], []) if within(node.position) == within(group[2])]

    def leaves_choice(group: tuple[int, bool, int], within: Callable[[int], object]) -> bool:
        pool = pool_of(group, within)
        return len(pool) >= len(groups[group]) and not groups[group] >= set(pool)

    found: list[Node] = []
    for group in sorted(groups, key=lambda each: not leaves_choice(each, wider[0])):  # who stays at home draws first
        within = next((each for each in wider if leaves_choice(group, each)), _anywhere)
        pool = pool_of(group, within)
        drawn = random.permutation(len(pool))[: len(groups[group])]
        found += [pool[int(at)] for at in drawn]
        free[group[:2]] = [node for node in free.get(group[:2], []) if node not in found]
    return tuple(sorted(found))


def _measured(context: ExperimentContext) -> list[Usefulness]:
    subject, settings = context.subject, context.settings
    n = settings.n_questions // 2
    stream = Stream(StreamKind.ENRICHED, subject.operation, subject.digits, settings.seed_of("tagging"))
    return measure_usefulness(subject.engine, subject.nodes, stream.take(0, n), stream.take(n, settings.n_reference))


def _importance(each: Usefulness) -> int:
    return max(each.mean.hits, each.resample.hits)


def _anywhere(_position: int) -> object:
    return None
