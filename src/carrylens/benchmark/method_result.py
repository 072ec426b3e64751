"""Found: what a method says about a model, in the form in which all methods are scored.

Takes  nodes and variables.
Gives  `Given`, what a method may know, and `Found`, what it says: tags about single nodes, and groups.
Never  knows the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from carrylens.discovery.settings import Watch
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, all_nodes, parse_nodes, print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class Given:
    """A model, the algorithm it is supposed to run, and how much work a method may do.

    `store` is a file in which a method may keep work under way; `watch` hears how far it is.
    """

    model: Transformer
    causal: CausalModel
    seed: int = 0
    quick: bool = False
    store: Path | None = None
    watch: Watch | None = None

    @property
    def nodes(self) -> list[Node]:
        """Every node that anything can read: all but those at the last position."""
        config = self.model.config
        return all_nodes(config.n_ctx - 1, config.n_layers, config.n_heads)


@dataclass(frozen=True)
class Tag:
    """A node carries a variable, for one token of the answer (counted from the sign), or for whichever if None."""

    node: Node
    variable: Variable
    token: int | None = None


@dataclass(frozen=True)
class Found:
    """What a method says of a model: its tags, and the sets of nodes that it says belong together."""

    tags: frozenset[Tag] = frozenset()
    groups: frozenset[frozenset[Node]] = frozenset()

    @property
    def roles(self) -> dict[Node, set[Variable]]:
        """The variables of every node, whatever the token."""
        return roles_of(self.tags)

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        tags = sorted(self.tags, key=lambda each: (each.node, str(each.variable), each.token or 0))
        return {
            "tags": [[str(each.node), str(each.variable), each.token] for each in tags],
            "groups": sorted(print_nodes(nodes) for nodes in self.groups),
        }

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Found:
        """What `plain` gave."""
        tags = (Tag(Node.parse(node), Variable.parse(name), token) for node, name, token in given["tags"])
        return cls(frozenset(tags), frozenset(map(parse_nodes, given["groups"])))


Method = Callable[[Given], Found]
"""A way to map a model."""


@dataclass(frozen=True)
class Scored:
    """A score for every node and variable; what reaches a threshold is a role."""

    scores: Mapping[tuple[Node, Variable], float] = field(default_factory=dict)

    def above(self, threshold: float) -> Found:
        """The roles that reach the threshold. A method of single nodes has no groups."""
        return Found(frozenset(Tag(*key) for key, score in self.scores.items() if score >= threshold))


def roles_of(tags: Iterable[Tag]) -> dict[Node, set[Variable]]:
    """The variables of every node that has any."""
    found: dict[Node, set[Variable]] = {}
    for tag in tags:
        found.setdefault(tag.node, set()).add(tag.variable)
    return found
