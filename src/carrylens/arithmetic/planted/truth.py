"""The truth about a planted model: what every node is for, and which edges carry what.

Takes  groups of nodes and edges, or the JSON of a `truth.json`.
Gives  `Truth`: roles by node, copies and partners, edges, decoys; and what an interchange must do to the answer.
Never  looks at a weight: it is written when the weights are computed, and tests hold the weights to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType, field

from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription, DescriptionRecord
from carrylens.arithmetic.planted.deserved import DeservedVerdict, deserved_verdicts
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.variables import SGN
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.errors import CarryLensError
from carrylens.json_records import Schema, to_text
from carrylens.nodes import Node
from carrylens.tasks.causal import Values
from carrylens.tasks.variables import Variable

LOGITS = "logits"

Moved = tuple[Variable, tuple[Variable, ...]]
"""A variable that has another question's value, and the tokens of the answer for which it has."""


@dataclass(frozen=True)
class PlantedGroup:
    """One step of one variable's making. Each copy suffices; the nodes of a copy are partners, and only together do.

    `serves` names the tokens of the answer that depend on it, `stage` what is done: fetch, table, sort, gather,
    resolve, bring, select or combine. `weights` say how much each copy's vote counts where that is not 1 for all; a
    copy that writes the negative votes against the others. `share` is that of the natural questions answered with it.
    """

    variable: Variable
    stage: str
    serves: tuple[Variable, ...]
    copies: tuple[tuple[Node, ...], ...]
    weights: tuple[int, ...] = ()
    share: float = 1.0

    def weight_of(self, copies: Collection[tuple[Node, ...]]) -> int:
        """How much these copies' votes count together."""
        weights = self.weights or (1,) * len(self.copies)
        return sum(weight for copy, weight in zip(self.copies, weights, strict=True) if copy in copies)

    @property
    def nodes(self) -> frozenset[Node]:
        """Every node of every copy."""
        return frozenset(node for copy in self.copies for node in copy)


@dataclass(frozen=True)
class PlantedEdge:
    """What `sender` writes is read by `receiver`, at one of its inputs (k, v, mlp), or by the logits if it is None."""

    sender: Node
    receiver: Node | None
    input: str
    variable: Variable


@dataclass(frozen=True)
class PlantedBackup:
    """A node that writes nothing as long as `first` writes something, and then writes what that one would."""

    node: Node
    first: Node
    variable: Variable
    serves: tuple[Variable, ...]


@dataclass(frozen=True)
class Truth:
    """All that is true of a planted model. An interchange of `backups` alone does nothing."""

    name: str
    description: CircuitDescription
    groups: tuple[PlantedGroup, ...]
    edges: tuple[PlantedEdge, ...]
    backups: tuple[PlantedBackup, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(sorted(set(self.groups), key=_order)))

    @cached_property
    def roles(self) -> Mapping[Node, frozenset[Variable]]:
        """The map: for every node that matters, the variables it carries."""
        found: dict[Node, set[Variable]] = {}
        for group in self.groups:
            for node in group.nodes:
                found.setdefault(node, set()).add(group.variable)
        return {node: frozenset(found[node]) for node in sorted(found)}

    @cached_property
    def decoys(self) -> Mapping[Node, frozenset[Variable]]:
        """The nodes that hold a right value which no later component reads."""
        found: dict[Node, set[Variable]] = {}
        for role in self.description.decoys:
            for node in role.nodes:
                found.setdefault(node, set()).add(role.variable)
        return {node: frozenset(found[node]) for node in sorted(found)}

    @property
    def deserved(self) -> tuple[DeservedVerdict, ...]:
        """The verdict that each known hypothesis about this model deserves."""
        return deserved_verdicts(self.description)

    def groups_of(self, node: Node) -> tuple[PlantedGroup, ...]:
        """The groups a node is in."""
        return tuple(group for group in self.groups if node in group.nodes)

    def prediction(self, base: Questions, source: Questions, nodes: Collection[Node]) -> Answers:
        """What the model must answer to `base`, token by token, once `nodes` have their values from `source`.

        A variable moves if most of the copies in one of its groups have moved; the earlier tokens of the answer are
        those of `base`. Half of a shared copy holds no value; half of all copies tie the vote, and some copies of one
        column together with some of another may tip it or not: nothing is predicted from such nodes, and that is an
        error.
        """
        return self.counterfactual(base, model_of(self.description).run(source), self.moved(nodes))

    def counterfactual(self, base: Questions, values: Values, moved: Iterable[Moved]) -> Answers:
        """What `base` must be answered if each variable moved has its value in `values`, for the tokens it moves for.

        A digit is made with the sign that was written before it, which is that of `base` unless the sign itself moves.
        """
        model, moved = model_of(self.description), list(moved)
        own = model.run(base)
        usual = Answers.of_outputs(own.outputs())
        negative, digits = np.array(usual.negative), np.array(usual.digits)
        for token in model.outputs:
            written = {} if token == SGN else own.pick(SGN)
            changed = model.answers(base, do=written | values.pick(*(v for v, serves in moved if token in serves)))
            if token == SGN:
                negative = changed.negative
            else:
                digits[:, token.index] = changed.digits[:, token.index]
        return Answers(negative, digits)

    def moved(self, nodes: Collection[Node]) -> list[Moved]:
        """The variables that move with `nodes`, and the tokens for which they do."""
        chosen, found = frozenset(nodes), []
        touched: dict[tuple[str, str], dict[PlantedGroup, bool]] = {}
        for group in self.groups:
            whole = [copy for copy in group.copies if chosen.issuperset(copy)]
            if any(chosen.intersection(copy) for copy in group.copies if copy not in whole):
                names = " and ".join(str(node) for copy in group.copies for node in copy if copy not in whole)
                raise CarryLensError(
                    f"{names} share {group.variable}, and only some of them were named. Name all of them."
                )
            if whole:
                alike = touched.setdefault((group.variable.name, group.stage), {})
                alike[group] = len(whole) == len(group.copies)
            if whole and 2 * group.weight_of(whole) == group.weight_of(group.copies):
                raise CarryLensError(
                    f"Half of the copies of {group.variable} were named, so their vote is tied. Name more or fewer."
                )
            if 2 * group.weight_of(whole) > group.weight_of(group.copies):
                found.append((group.variable, group.serves))
        for alike in touched.values():
            _check_votes(alike)
        return found

    def to_json(self) -> str:
        """The text of a `truth.json`."""
        return to_text(TruthRecord.of(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = TRUTH) -> Truth:
        """The truth that `text` states; `source` is what an error calls it."""
        given = _SCHEMA.decode(text, source)
        with _SCHEMA.refusing(source):
            return given.truth()


class RoleEntry(Struct, frozen=True):
    """What a node is for, as files have it: its partners in its own copy, and the other copies.

    `weights` are in the order of all copies, sorted.
    """

    variable: Variable
    stage: str
    serves: tuple[Variable, ...]
    partners: tuple[Node, ...]
    copies: tuple[tuple[Node, ...], ...]
    weights: tuple[int, ...] | UnsetType = UNSET
    share: float | UnsetType = UNSET

    @classmethod
    def of(cls, node: Node, group: PlantedGroup) -> RoleEntry:
        """The entry of a node in one of its groups."""
        own = next(copy for copy in group.copies if node in copy)
        others = tuple(copy for copy in group.copies if copy != own)
        partners = tuple(each for each in own if each != node)
        share = UNSET if group.share == 1.0 else group.share
        return cls(group.variable, group.stage, group.serves, partners, others, group.weights or UNSET, share)

    def group(self, node: Node) -> PlantedGroup:
        """The group that the entry of `node` states."""
        own = tuple(sorted((node, *self.partners)))
        weights, share = self.weights or (), 1.0 if self.share is UNSET else self.share
        copies = tuple(sorted([own, *self.copies]))
        return PlantedGroup(self.variable, self.stage, self.serves, copies, tuple(weights), share)


class EdgeRecord(Struct, frozen=True):
    """An edge as files have it."""

    sender: Node = field(name="from")
    receiver: str = field(name="to")
    input: str
    variable: Variable

    @classmethod
    def of(cls, edge: PlantedEdge) -> EdgeRecord:
        """The record of an edge."""
        return cls(edge.sender, LOGITS if edge.receiver is None else str(edge.receiver), edge.input, edge.variable)

    def edge(self) -> PlantedEdge:
        """The edge that it states."""
        receiver = None if self.receiver == LOGITS else Node.parse(self.receiver)
        return PlantedEdge(self.sender, receiver, self.input, self.variable)


class BackupRecord(Struct, frozen=True):
    """A backup as files have it."""

    node: Node
    first: Node = field(name="for")
    variable: Variable
    serves: tuple[Variable, ...]


class TruthRecord(Struct, frozen=True):
    """The whole of `truth.json`; what each hypothesis deserves follows from the description."""

    model: str
    description: DescriptionRecord
    nodes: dict[str, list[RoleEntry]]
    edges: list[EdgeRecord]
    decoys: dict[str, list[Variable]]
    deserves: list[dict[str, Any]] | UnsetType = UNSET
    backups: list[BackupRecord] | UnsetType = UNSET

    @classmethod
    def of(cls, truth: Truth) -> TruthRecord:
        """The record of a truth."""
        return cls(
            truth.name,
            DescriptionRecord.of(truth.description),
            {str(node): [RoleEntry.of(node, group) for group in truth.groups_of(node)] for node in truth.roles},
            [EdgeRecord.of(edge) for edge in truth.edges],
            {str(node): sorted(variables, key=str) for node, variables in truth.decoys.items()},
            [verdict.plain() for verdict in truth.deserved],
            [BackupRecord(each.node, each.first, each.variable, each.serves) for each in truth.backups] or UNSET,
        )

    def truth(self) -> Truth:
        """The truth that it states."""
        groups = tuple(entry.group(Node.parse(name)) for name, entries in self.nodes.items() for entry in entries)
        edges = tuple(edge.edge() for edge in self.edges)
        backups = () if self.backups is UNSET else self.backups
        kept = tuple(PlantedBackup(each.node, each.first, each.variable, each.serves) for each in backups)
        return Truth(self.model, self.description.description(), groups, edges, kept)


_SCHEMA = Schema(TruthRecord, "truth about a planted model", "Plant the model again.")


def _check_votes(touched: Mapping[PlantedGroup, bool]) -> None:
    # Copies vote on the carry that comes of all columns together, so copies of two columns cannot be judged apart.
    columns = {group.variable for group in touched}
    served = [set(group.serves) for group in touched]
    if len(columns) > 1 and not all(touched.values()) and set.intersection(*served):
        names = " and ".join(sorted(map(str, columns)))
        raise CarryLensError(f"Some copies of {names} were named, and they vote together. Name copies of one only.")


def _order(group: PlantedGroup) -> tuple[object, ...]:
    return (min(group.nodes), group.variable.name, group.variable.index or 0, group.stage, group.copies)
