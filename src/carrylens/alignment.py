"""Alignments: which nodes of a model hold which variables of an algorithm.

Takes  variables, nodes, and the outputs for which the nodes hold them.
Gives  `Alignment`, printed and parsed as JSON: the record that is trained under, and that truth is stated in.
Never  knows a weight, or whether it is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from carrylens.errors import CarryLensError
from carrylens.json_records import Schema
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable


@dataclass(frozen=True)
class AlignedSite:
    """Nodes that hold `variables` together, all of which move when the nodes do.

    Each of `copies` is a set of nodes that suffices if the others write their mean. `outputs` are those that read the
    variables from here; none named means all.

    >>> print(AlignedSite.of("ST[1]", "P5L0H0 + P5L0MLP"))
    ST[1] at P5L0H0 + P5L0MLP
    """

    variables: tuple[Variable, ...]
    copies: tuple[tuple[Node, ...], ...]
    outputs: tuple[Variable, ...] = ()

    @classmethod
    def of(cls, variables: str, *copies: str, outputs: str = "") -> AlignedSite:
        """The site that texts describe: variables and outputs apart by spaces, nodes as `parse_nodes` reads them."""
        return cls(
            tuple(map(Variable.parse, variables.split())),
            tuple(tuple(sorted(parse_nodes(copy))) for copy in copies),
            tuple(map(Variable.parse, outputs.split())),
        )

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of all copies."""
        return tuple(sorted({node for copy in self.copies for node in copy}))

    def serves(self, output: Variable) -> bool:
        """Whether `output` reads the variables from here."""
        return not self.outputs or output in self.outputs

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.variables))} at {' or '.join(map(print_nodes, self.copies))}"


@dataclass(frozen=True)
class Alignment:
    """Sites that have no node in common, for variables of the algorithm called `algorithm`."""

    algorithm: str
    sites: tuple[AlignedSite, ...]

    def __post_init__(self) -> None:
        counts = Counter(node for site in self.sites for copy in site.copies for node in copy)
        if twice := [str(node) for node, count in counts.items() if count > 1]:
            raise CarryLensError(
                f"{', '.join(twice)} of the alignment with {self.algorithm!r} stands in two sites. Name all variables "
                "that a node holds in one site."
            )
        for site in self.sites:
            if not site.variables or not site.copies or not all(site.copies):
                raise CarryLensError(
                    f"A site of the alignment with {self.algorithm!r} has {len(site.variables)} variables and "
                    f"{len(site.nodes)} nodes. Give at least one of each."
                )

    @cached_property
    def nodes(self) -> frozenset[Node]:
        """All nodes that hold something."""
        return frozenset(node for site in self.sites for node in site.nodes)

    def idle(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Those of a model's nodes that hold nothing."""
        return tuple(sorted(set(nodes) - self.nodes))

    def check(self, causal: CausalModel, nodes: Iterable[Node]) -> None:
        """Raise a clear error unless the algorithm has every variable and output, and a model every node."""
        for site in self.sites:
            for variable in (*site.variables, *site.outputs):
                causal.check(variable)
        if strangers := sorted(self.nodes - set(nodes)):
            raise CarryLensError(
                f"The alignment names {', '.join(map(str, strangers))}, which the model does not have. "
                "Name nodes whose position, layer and head are in its config."
            )

    def to_json(self) -> str:
        """The text of a file that states the alignment.

        >>> alignment = Alignment("left-to-right add", (AlignedSite.of("ST[1]", "P5L0H0 + P5L0MLP", outputs="A[2]"),))
        >>> Alignment.from_json(alignment.to_json()) == alignment
        True
        """
        sites = [
            _SiteRecord(
                " ".join(map(str, site.variables)),
                [print_nodes(copy) for copy in site.copies],
                " ".join(map(str, site.outputs)),
            )
            for site in self.sites
        ]
        text = msgspec.json.format(msgspec.json.encode(_AlignmentRecord(self.algorithm, sites)), indent=2)
        return text.decode() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the alignment") -> Alignment:
        """The alignment that a file states; `source` is what an error calls it."""
        said = _SCHEMA.decode(text, source)
        with _SCHEMA.refusing(source):
            return cls(said.algorithm, _sites(said.sites))


class _SiteRecord(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    variables: str
    copies: list[str]
    outputs: str = ""


class _AlignmentRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    algorithm: str
    sites: list[_SiteRecord]


_SCHEMA = Schema(_AlignmentRecord, "alignment", "Write an algorithm and sites, each with variables and copies.")


def _sites(records: Sequence[_SiteRecord]) -> tuple[AlignedSite, ...]:
    return tuple(AlignedSite.of(each.variables, *each.copies, outputs=each.outputs) for each in records)
