"""The truth about a planted model: what every node is for, and which edges carry what.

Takes  groups of nodes and edges, or the JSON of a `truth.json`.
Gives  `Truth`: roles by node, copies and partners, edges, decoys; and what an interchange must do to the answer.
Never  looks at a weight: it is written when the weights are computed, and tests hold the weights to it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from carrylens.arithmetic.planted.algorithm_of import model_of
from carrylens.arithmetic.planted.description import CircuitDescription
from carrylens.arithmetic.planted.deserved import DeservedVerdict, deserved_verdicts
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.variables import SGN
from carrylens.arithmetic.zoo.model_facts import TRUTH
from carrylens.errors import CarryLensError
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
        those of `base`. Half of a shared copy holds no value, and some copies of one column together with some of
        another may tip the vote or not: nothing is predicted from such nodes, and that is an error.
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
            if 2 * group.weight_of(whole) > group.weight_of(group.copies):
                found.append((group.variable, group.serves))
        for alike in touched.values():
            _check_votes(alike)
        return found

    def to_json(self) -> str:
        """The text of a `truth.json`."""
        plain = {
            "model": self.name,
            "description": json.loads(self.description.to_json()),
            "nodes": {str(node): [_entry(node, group) for group in self.groups_of(node)] for node in self.roles},
            "edges": [
                {
                    "from": str(edge.sender),
                    "to": LOGITS if edge.receiver is None else str(edge.receiver),
                    "input": edge.input,
                    "variable": str(edge.variable),
                }
                for edge in self.edges
            ],
            "decoys": {str(node): sorted(map(str, variables)) for node, variables in self.decoys.items()},
            "deserves": [verdict.plain() for verdict in self.deserved],
        }
        plain |= {"backups": [_backup_entry(backup) for backup in self.backups]} if self.backups else {}
        return json.dumps(plain, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, source: str = TRUTH) -> Self:
        """The truth that `text` states; `source` is what an error calls it."""
        try:
            plain = json.loads(text)
            description = CircuitDescription.from_json(json.dumps(plain["description"]), source)
            groups = tuple(_groups(plain["nodes"]))
            edges = tuple(_edge(row) for row in plain["edges"])
            backups = tuple(map(_backup, plain.get("backups", ())))
            return cls(str(plain["model"]), description, groups, edges, backups)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CarryLensError(f"{source} states no truth ({error!r}). Plant the model again.") from error


def _check_votes(touched: Mapping[PlantedGroup, bool]) -> None:
    # Copies vote on the carry that comes of all columns together, so copies of two columns cannot be judged apart.
    columns = {group.variable for group in touched}
    served = [set(group.serves) for group in touched]
    if len(columns) > 1 and not all(touched.values()) and set.intersection(*served):
        names = " and ".join(sorted(map(str, columns)))
        raise CarryLensError(f"Some copies of {names} were named, and they vote together. Name copies of one only.")


def _order(group: PlantedGroup) -> tuple[object, ...]:
    return (min(group.nodes), group.variable.name, group.variable.index or 0, group.stage, group.copies)


def _entry(node: Node, group: PlantedGroup) -> dict[str, Any]:
    own = next(copy for copy in group.copies if node in copy)
    return {
        "variable": str(group.variable),
        "stage": group.stage,
        "serves": [str(token) for token in group.serves],
        "partners": [str(other) for other in own if other != node],
        "copies": [[str(other) for other in copy] for copy in group.copies if copy != own],
    } | _unusual(group)


def _unusual(group: PlantedGroup) -> dict[str, Any]:
    # What most groups need not say; weights are in the order of all copies, sorted.
    weights = {"weights": list(group.weights)} if group.weights else {}
    return weights | ({"share": group.share} if group.share != 1.0 else {})


def _backup_entry(backup: PlantedBackup) -> dict[str, Any]:
    return {
        "node": str(backup.node),
        "for": str(backup.first),
        "variable": str(backup.variable),
        "serves": [str(token) for token in backup.serves],
    }


def _backup(row: Mapping[str, Any]) -> PlantedBackup:
    serves = tuple(map(Variable.parse, row["serves"]))
    return PlantedBackup(Node.parse(row["node"]), Node.parse(row["for"]), Variable.parse(row["variable"]), serves)


def _groups(nodes: Mapping[str, list[dict[str, Any]]]) -> Iterator[PlantedGroup]:
    for name, entries in nodes.items():
        for entry in entries:
            own = tuple(sorted(map(Node.parse, (name, *entry["partners"]))))
            others = [tuple(map(Node.parse, copy)) for copy in entry["copies"]]
            serves = tuple(map(Variable.parse, entry["serves"]))
            copies, weights = tuple(sorted([own, *others])), tuple(map(int, entry.get("weights", ())))
            share = float(entry.get("share", 1.0))
            yield PlantedGroup(Variable.parse(entry["variable"]), entry["stage"], serves, copies, weights, share)


def _edge(row: Mapping[str, str]) -> PlantedEdge:
    receiver = None if row["to"] == LOGITS else Node.parse(row["to"])
    return PlantedEdge(Node.parse(row["from"]), receiver, row["input"], Variable.parse(row["variable"]))
