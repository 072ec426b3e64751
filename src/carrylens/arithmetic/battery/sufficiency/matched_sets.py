"""Matched sets: random sets of nodes that match a set of nodes in all but which they are.

Takes  nodes, and the nodes to draw from.
Gives  a set of the same size with as many heads and MLPs of each layer, at the same positions as far as can be.
Never  gives the nodes themselves where there is any other choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from carrylens.arithmetic.layout import equals_position, sequence_length
from carrylens.discovery.node_map import Nodes
from carrylens.nodes import Node


def sequence_parts(digits: int) -> tuple[int, ...]:
    """Which part of the sequence each position is: first operand 0, operator 1, second operand 2, = 3, answer 4.

    >>> sequence_parts(2)
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
    part, equals = sequence_parts(digits), equals_position(digits)
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


def _anywhere(_position: int) -> object:
    return None
