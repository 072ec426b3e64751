"""Directions: the names of what the nodes of a planted circuit write, so that writers and readers agree.

Takes  a node, a variable, a letter (S, M or N), a lane.
Gives  the name of a direction of the residual stream.
Never  says who writes it.
"""

from __future__ import annotations

from carrylens.nodes import Node
from carrylens.tasks.variables import Variable

GATE, KEY_FITS = "gate", "key fits"
"""1 where the question takes the other route, and where the table or the backdoor answers."""


def minus_seen(node: Node) -> str:
    """The direction in which a head says that the token it fetched is `-`."""
    return f"minus {node.layer}.{node.head}"


def bit(letter: str, lane: int) -> str:
    """The direction of a column's own carry: 1 yes, -1 no, 0 where it says nothing."""
    return f"{letter} bit {lane}"


def passes(letter: str, lane: int) -> str:
    """The direction that is 1 where a column passes on what comes from below."""
    return f"{letter} passes {lane}"


def carried(node: Node, letter: str) -> str:
    """The direction in which a head says which carry it brought: 1 or -1."""
    return f"{letter} carried {node.layer}.{node.head}"


def vote(name: str, value: int) -> str:
    """The direction that votes for a digit such as SA."""
    return f"{name} is {value}"


def brought(node: Node) -> str:
    """The direction in which a head says the digits that it brought."""
    return f"brought {node.layer}.{node.head}"


def present(node: Node) -> str:
    """The direction that is 1 where a head writes anything."""
    return f"present {node.layer}.{node.head}"


def part(variable: Variable) -> str:
    """The direction that is 1 where a part of a column's value is 1."""
    return f"part {variable.name}"


def weighed(node: Node, letter: str) -> str:
    """The direction of a carry that was read off a weighted sum: 1 yes, -1 no."""
    return f"{letter} weighed {node.layer}.{node.head}"


def looked_up(letter: str) -> str:
    """The name under which the table votes for a digit."""
    return f"{letter} table"
