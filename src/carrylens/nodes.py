"""Nodes: the one way carrylens names a place inside a model.

Takes  text and small integers.
Gives  `Node`, the key that facts, maps and claims share, and sets of nodes.
Never  touches a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import total_ordering

from carrylens.errors import CarryLensError, quote
from carrylens.text_values import TextValue

_NODE = re.compile(r"P(0|[1-9][0-9]*)L(0|[1-9][0-9]*)(?:H(0|[1-9][0-9]*)|MLP)", re.ASCII)
_SEPARATOR = re.compile(r"[\s,+]+")


@total_ordering
class Node(TextValue):
    """One attention head, or one layer's MLP when `head` is None, at one token position.

    Nodes sort by position, then layer, heads before the MLP: the order in which a position computes them.

    >>> Node.parse("P10L0H2")
    Node(position=10, layer=0, head=2)
    >>> str(Node(10, 1, None))
    'P10L1MLP'
    """

    position: int
    layer: int
    head: int | None

    def __init__(self, position: int, layer: int, head: int | None) -> None:
        if min(position, layer, head or 0) < 0:
            raise CarryLensError(
                f"Position {position}, layer {layer}, head {head} is not a node. Write 0 or more for each."
            )
        self.__dict__.update(position=position, layer=layer, head=head)

    @classmethod
    def parse(cls, text: str) -> Node:
        """The node that `text` names."""
        match = _NODE.fullmatch(text)
        if match is None:
            raise CarryLensError(
                f"{quote(text)} does not name a node. "
                "Write P<position>L<layer>H<head> or P<position>L<layer>MLP, such as P10L0H2."
            )
        position, layer, head = match.groups()
        return cls(int(position), int(layer), None if head is None else int(head))

    @property
    def is_mlp(self) -> bool:
        """Whether this is an MLP rather than a head."""
        return self.head is None

    def __str__(self) -> str:
        return f"P{self.position}L{self.layer}" + ("MLP" if self.head is None else f"H{self.head}")

    def __lt__(self, other: Node) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, int, bool, int]:
        return (self.position, self.layer, self.is_mlp, self.head or 0)


def parse_nodes(text: str) -> frozenset[Node]:
    """The set of nodes that `text` names, apart by spaces, commas or `+`.

    >>> sorted(map(str, parse_nodes("P9L0MLP + P9L0H1")))
    ['P9L0H1', 'P9L0MLP']
    """
    return frozenset(Node.parse(name) for name in _SEPARATOR.split(text.strip()) if name)


def print_nodes(nodes: Iterable[Node]) -> str:
    """The set as text, in order.

    >>> print_nodes({Node(9, 0, None), Node(9, 0, 1)})
    'P9L0H1 + P9L0MLP'
    """
    return " + ".join(str(node) for node in sorted(set(nodes)))


def all_nodes(n_positions: int, n_layers: int, n_heads: int, has_mlp: bool = True) -> list[Node]:
    """Every node of a model, in order; heads alone where it has no MLPs.

    >>> len(all_nodes(n_positions=19, n_layers=2, n_heads=3))
    152
    """
    return [
        Node(position, layer, head)
        for position in range(n_positions)
        for layer in range(n_layers)
        for head in (*range(n_heads), *([None] if has_mlp else []))
    ]


def reaches(senders: Iterable[Node], receivers: Collection[Node]) -> bool:
    """Whether what every sender writes can be read by one of the receivers.

    >>> reaches((Node(9, 0, None),), (Node(17, 1, 0),)), reaches((Node(9, 1, None),), (Node(17, 1, 0),))
    (True, False)
    """
    return all(any(_feeds(sender, receiver) for receiver in receivers) for sender in senders)


def _feeds(sender: Node, receiver: Node) -> bool:
    if sender.position > receiver.position:
        return False
    beside = (sender.position, sender.layer) == (receiver.position, receiver.layer)
    return sender.layer < receiver.layer or (beside and receiver.is_mlp and not sender.is_mlp)
