"""Sites: where inside a model an edit can act.

Takes  text.
Gives  nodes, residual states (`P9L1RESID`) and receivers (`P17L1H2.k`, `P17L1MLP`, `P17.logits`), parsed and printed.
Never  knows a model.

A node is a head or an MLP at a position, and what is replaced there is what it writes. A residual state is the stream
at a position as it enters a layer; the layer after the last one stands for the stream that the logits are read from.
A receiver is one reader of the stream: a head's query, key or value input, an MLP's input, or the logits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from carrylens.errors import CarryLensError, quote
from carrylens.nodes import Node

_RESIDUAL = re.compile(r"P(0|[1-9][0-9]*)L(0|[1-9][0-9]*)RESID", re.ASCII)
_LOGITS = re.compile(r"P(0|[1-9][0-9]*)\.logits", re.ASCII)
_SEPARATOR = re.compile(r"[\s,+]+")


@dataclass(frozen=True, order=True)
class Residual:
    """The residual stream at one position as it enters one layer.

    >>> str(Residual(9, 1))
    'P9L1RESID'
    """

    position: int
    layer: int

    def __post_init__(self) -> None:
        if min(self.position, self.layer) < 0:
            raise CarryLensError(
                f"Position {self.position}, layer {self.layer} is not a residual state. Write 0 or more for each."
            )

    def __str__(self) -> str:
        return f"P{self.position}L{self.layer}RESID"


Site = Node | Residual


class Input(Enum):
    """What of a reader receives a write."""

    QUERY = "q"
    KEY = "k"
    VALUE = "v"
    MLP = "mlp"
    LOGITS = "logits"


@dataclass(frozen=True)
class Receiver:
    """One reader of the residual stream.

    A head reads with three inputs: its query at its own position, its keys and values at every position up to there.
    The key input of `P17L1H2` is what that head compares its query at position 17 with; other queries of the same head
    are other receivers. `layer` and `head` are None for the logits, `head` for an MLP.

    >>> Receiver.parse("P17L1H2.k")
    Receiver(position=17, layer=1, head=2, input=<Input.KEY: 'k'>)
    >>> str(Receiver.parse("P17.logits")), str(Receiver.parse("P17L1MLP"))
    ('P17.logits', 'P17L1MLP')
    """

    position: int
    layer: int | None
    head: int | None
    input: Input

    def __post_init__(self) -> None:
        parts = (self.layer is not None, self.head is not None)
        if {Input.LOGITS: (False, False), Input.MLP: (True, False)}.get(self.input, (True, True)) != parts:
            raise CarryLensError(
                f"Layer {self.layer} and head {self.head} do not go with {self.input}. Heads have both, "
                "MLPs a layer alone, logits neither; write Receiver.parse('P17L1H2.k')."
            )
        if min(self.position, self.layer or 0, self.head or 0) < 0:
            raise CarryLensError(
                f"Position {self.position}, layer {self.layer}, head {self.head} is not a receiver. "
                "Write 0 or more for each."
            )

    @classmethod
    def parse(cls, text: str) -> Receiver:
        """The receiver that `text` names."""
        if match := _LOGITS.fullmatch(text):
            return cls(int(match[1]), None, None, Input.LOGITS)
        name, dot, way = text.partition(".")
        try:
            node = Node.parse(name)
            if node.is_mlp == bool(dot):
                raise CarryLensError("heads have inputs, MLPs have one")
            return cls(node.position, node.layer, node.head, Input(way) if dot else Input.MLP)
        except (CarryLensError, ValueError):
            raise CarryLensError(
                f"{quote(text)} does not name a receiver. "
                "Write a head's input such as P17L1H2.q, P17L1H2.k or P17L1H2.v, "
                "an MLP such as P17L1MLP, or P17.logits."
            ) from None

    def __str__(self) -> str:
        if self.layer is None:
            return f"P{self.position}.logits"
        node = str(Node(self.position, self.layer, self.head))
        return node if self.head is None else f"{node}.{self.input.value}"


def parse_site(text: str) -> Site:
    """The node or residual state that `text` names.

    >>> parse_site("P9L1RESID")
    Residual(position=9, layer=1)
    """
    if match := _RESIDUAL.fullmatch(text):
        return Residual(int(match[1]), int(match[2]))
    try:
        return Node.parse(text)
    except CarryLensError:
        raise CarryLensError(
            f"{quote(text)} names neither a node nor a residual state. "
            "Write a name such as P10L0H2, P10L0MLP or P10L1RESID."
        ) from None


def parse_sites(given: str | Iterable[str | Site]) -> tuple[Site, ...]:
    """Sites in order, each once, from text with spaces, commas or `+` between names, or from a collection.

    >>> [str(site) for site in parse_sites("P9L0MLP + P9L0H1")]
    ['P9L0H1', 'P9L0MLP']
    """
    parts = split_names(given) if isinstance(given, str) else list(given)
    sites = {parse_site(part) if isinstance(part, str) else part for part in parts}
    if strange := [site for site in sites if not isinstance(site, Node | Residual)]:
        raise CarryLensError(
            f"{quote(repr(strange[0]))} is neither a node nor a residual state. "
            "Give nodes, residual states or their names."
        )
    return tuple(sorted(sites, key=_order))


def parse_receivers(given: str | Iterable[str | Receiver]) -> tuple[Receiver, ...]:
    """Receivers in order, each once, from text or a collection.

    >>> [str(receiver) for receiver in parse_receivers("P17.logits, P17L1H2.k")]
    ['P17L1H2.k', 'P17.logits']
    """
    parts = split_names(given) if isinstance(given, str) else list(given)
    found = {Receiver.parse(part) if isinstance(part, str) else part for part in parts}
    if strange := [receiver for receiver in found if not isinstance(receiver, Receiver)]:
        raise CarryLensError(f"{quote(repr(strange[0]))} is not a receiver. Give receivers or their names.")
    return tuple(sorted(found, key=_reading_order))


def split_names(text: str) -> list[str]:
    """The names in a text."""
    return [name for name in _SEPARATOR.split(text.strip()) if name]


def print_sites(sites: Iterable[Site | Receiver]) -> str:
    """The sites as text that parses to the same."""
    return " + ".join(map(str, sites))


def _order(site: Site) -> tuple[int, int, int, int]:
    if isinstance(site, Residual):
        return (site.position, site.layer, 0, 0)
    return (site.position, site.layer, 2 if site.is_mlp else 1, site.head or 0)


def _reading_order(receiver: Receiver) -> tuple[int, int, int, int, str]:
    layer = 1 << 30 if receiver.layer is None else receiver.layer
    return (receiver.position, layer, receiver.head is None, receiver.head or 0, receiver.input.value)
