"""Component edges: which node's write is read by which component, at the node's own position.

Takes  a model's shape, nodes, names of components.
Gives  `ComponentEdge`, printed as `P3L0H0->L1H0.v`, and all edges that a model of a shape has.
Never  imports torch.

The residual stream joins only what stands at one position, so an edge names the position of its sender alone. A head
reads the stream three times (`L1H0.q`, `.k`, `.v`), an MLP once (`L1MLP`), the logits once (`logits`). So edges are in
ACDC and in edge attribution patching.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from carrylens.benchmark.known_truth import TrueEdge
from carrylens.errors import CarryLensError, quote
from carrylens.nodes import Node

LOGITS = "logits"


@dataclass(frozen=True, order=True)
class ComponentEdge:
    """What `sender` writes is read by `receiver`.

    >>> ComponentEdge.parse("P3L0H0->L1H0.v")
    ComponentEdge(sender=Node(position=3, layer=0, head=0), receiver='L1H0.v')
    """

    sender: Node
    receiver: str

    @classmethod
    def parse(cls, text: str) -> ComponentEdge:
        """The edge that `text` names."""
        sender, arrow, receiver = text.partition("->")
        if not arrow or not receiver:
            raise CarryLensError(
                f"{quote(text)} does not name an edge. Write a sender and a reader, such as P3L0H0->L1H0.v."
            )
        return cls(Node.parse(sender.strip()), receiver.strip())

    def __str__(self) -> str:
        return f"{self.sender}->{self.receiver}"


def component_edge(edge: TrueEdge) -> ComponentEdge:
    """A true edge, whatever the position it is read from."""
    if edge.receiver is None:
        return ComponentEdge(edge.sender, LOGITS)
    layer, head = edge.receiver.layer, edge.receiver.head
    return ComponentEdge(edge.sender, f"L{layer}MLP" if head is None else f"L{layer}H{head}.{edge.input}")


def receivers_after(node: Node, n_layers: int, n_heads: int, has_mlp: bool) -> list[str]:
    """Every component that reads the stream after the node has written to it, but for the logits."""
    own = [f"L{node.layer}MLP"] if has_mlp and not node.is_mlp else []
    later = range(node.layer + 1, n_layers)
    heads = [f"L{layer}H{head}.{at}" for layer in later for head in range(n_heads) for at in "qkv"]
    return [*own, *heads, *(f"L{layer}MLP" for layer in later if has_mlp)]


def edges_between(
    nodes: Iterable[Node], n_layers: int, n_heads: int, has_mlp: bool, reads: range
) -> list[ComponentEdge]:
    """Every edge of a model that starts at one of the nodes; logits are read at `reads` alone."""
    return [
        ComponentEdge(node, receiver)
        for node in nodes
        for receiver in (
            *receivers_after(node, n_layers, n_heads, has_mlp),
            *((LOGITS,) if node.position in reads else ()),
        )
    ]
