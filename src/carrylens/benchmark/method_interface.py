"""The interface of methods: what a method of circuit discovery is given, and what it may find.

Takes  a model, its task, the algorithm it is supposed to run, hypotheses to be judged.
Gives  `Given`, all that a method may know; `Found`, what it says: any of roles, groups, scores, edges, verdicts;
       `DiscoveryMethod`, a callable from one to the other with its name.
Never  knows the truth.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import torch
from torch import Tensor

from carrylens.benchmark.candidates import candidate_variables
from carrylens.benchmark.component_edges import ComponentEdge, edges_between
from carrylens.benchmark.known_truth import HeldVariable, RunVerdict
from carrylens.benchmark.source_hash import is_ours, source_hash
from carrylens.claims.hypothesis import Hypothesis
from carrylens.discovery.node_search import nodes_of
from carrylens.errors import CarryLensError
from carrylens.model.transformer import Transformer
from carrylens.nodes import Node, parse_nodes, print_nodes
from carrylens.progress import Progress, silent
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.samplers import population_of
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable


@dataclass(frozen=True, eq=False)
class Given:
    """All that a method may know.

    | field | meaning |
    |---|---|
    | `model`, `task` | the network, and what it is for: questions, tokens, samplers |
    | `causal` | the algorithm that it is supposed to run; whether it does is not said |
    | `hypotheses` | what it is to be judged under: a method may give a verdict on each |
    | `seed` | the seed of whatever a method draws |
    | `quick` | less evidence is asked for |
    | `store` | a file in which a method may keep unfinished work |
    | `progress` | called with how far the method is |
    """

    model: Transformer
    task: Task
    causal: CausalModel
    hypotheses: tuple[Hypothesis, ...] = ()
    seed: int = 0
    quick: bool = False
    store: Path | None = None
    progress: Progress = silent

    @property
    def variables(self) -> list[Variable]:
        """Every variable that a circuit of the algorithm may hold."""
        return candidate_variables(self.causal)

    @property
    def nodes(self) -> list[Node]:
        """Every node of the model whose write some output can depend on."""
        return nodes_of(self.model)

    def draw(self, n: int, start: int = 0) -> Batch:
        """`n` questions of the algorithm's own population, of the method's seed; others with another `start`."""
        return population_of(self.causal).draw(self.seed, start, n)

    def token_ids(self, questions: Batch) -> Tensor:
        """The questions with their right outputs, as the model reads them: [question, position]."""
        return torch.from_numpy(self.task.token_ids(questions))

    @property
    def edges(self) -> list[ComponentEdge]:
        """Every edge from a node to a later component."""
        config = self.model.config
        return edges_between(self.nodes, config.n_layers, config.n_heads, config.has_mlp, config.reads)


@dataclass(frozen=True)
class NodeRole:
    """A node carries a variable, for one output (by its place among the outputs), or for any of them if None."""

    node: Node
    variable: Variable
    output: int | None = None


@dataclass(frozen=True)
class FoundRole:
    """Nodes carry a variable, one of them or several together, for one output or any; how sure a method is of it.

    >>> print(FoundRole.of("P3L0H0", "SA[1]", confidence=0.9))
    P3L0H0 SA[1]
    """

    nodes: frozenset[Node]
    variable: Variable
    output: int | None = None
    confidence: float | None = None

    @classmethod
    def of(
        cls,
        nodes: str | Node | Iterable[Node],
        variable: Variable | str,
        output: int | None = None,
        confidence: float | None = None,
    ) -> FoundRole:
        """The role of the nodes that are given or named."""
        if isinstance(nodes, str):
            nodes = parse_nodes(nodes)
        found = frozenset([nodes]) if isinstance(nodes, Node) else frozenset(nodes)
        return cls(found, Variable.of(variable), output, confidence)

    def __str__(self) -> str:
        return f"{print_nodes(self.nodes)} {self.variable}"


@dataclass(frozen=True)
class Found:
    """What a method says of a model; every field may be left out, and is then not scored.

    | field | meaning |
    |---|---|
    | `roles` | which nodes carry which variable |
    | `groups` | sets of nodes that belong together: copies of one another, or partners |
    | `node_scores` | how much each node matters, whatever it carries |
    | `role_scores` | how much each node looks like a carrier of each variable; a threshold chosen on `dev` makes roles of it |
    | `edge_scores` | how much each edge matters |
    | `verdicts` | for a hypothesis by its name: runs, runs in part, does not run, not settled |

    Nodes, variables, edges and verdicts may be given by name:

    >>> Found(roles=[("P3L0H0", "SA[1]")], verdicts={"ripple add": "does not run"}).roles[0].variable
    Variable(name='SA', index=1)
    """  # noqa: E501

    roles: Sequence[FoundRole] = ()
    groups: frozenset[frozenset[Node]] = frozenset()
    node_scores: Mapping[Node, float] = field(default_factory=dict)
    role_scores: Mapping[HeldVariable, float] = field(default_factory=dict)
    edge_scores: Mapping[ComponentEdge, float] = field(default_factory=dict)
    verdicts: Mapping[str, RunVerdict] = field(default_factory=dict)

    def __post_init__(self) -> None:
        roles = tuple(each if isinstance(each, FoundRole) else FoundRole.of(*each) for each in self.roles)
        groups = frozenset(parse_nodes(each) if isinstance(each, str) else frozenset(each) for each in self.groups)
        by_node = {_node(node): float(score) for node, score in self.node_scores.items()}
        by_role = {(_node(n), Variable.of(v)): float(score) for (n, v), score in self.role_scores.items()}
        by_edge = {_edge(edge): float(score) for edge, score in self.edge_scores.items()}
        verdicts = {str(name): _verdict(given) for name, given in self.verdicts.items()}
        whole = {"roles": roles, "groups": groups, "node_scores": by_node, "role_scores": by_role}
        for name, value in (whole | {"edge_scores": by_edge, "verdicts": verdicts}).items():
            object.__setattr__(self, name, value)

    @property
    def node_roles(self) -> frozenset[NodeRole]:
        """The roles node by node: every member of a set has the set's role."""
        return frozenset(NodeRole(node, role.variable, role.output) for role in self.roles for node in role.nodes)

    def above(self, threshold: float) -> Found:
        """With the scores that reach the threshold as roles, besides those there are."""
        reached = (FoundRole.of(*key) for key, score in self.role_scores.items() if score >= threshold)
        return replace(self, roles=(*self.roles, *reached))

    def check(self, given: Given, method: str) -> None:
        """Raise one clear error if something is named that is not there, or a score is no number."""
        nodes, n_outputs = set(given.nodes), len(given.causal.outputs)
        known = {hypothesis.name for hypothesis in given.hypotheses}
        named = {node for role in self.roles for node in role.nodes} | {node for group in self.groups for node in group}
        named |= set(self.node_scores) | {node for node, _ in self.role_scores}
        variables = {role.variable for role in self.roles} | {variable for _, variable in self.role_scores}
        scores = (*self.node_scores.values(), *self.role_scores.values(), *self.edge_scores.values())
        outputs = {role.output for role in self.roles if role.output is not None}
        sure = [role.confidence for role in self.roles if role.confidence is not None]
        edges = set(self.edge_scores) - set(given.edges) if self.edge_scores else set()
        for wrong, words in (
            (sorted(named - nodes), "names a node that the model does not have"),
            (sorted(edges), "names an edge that the model does not have"),
            (sorted(variables - set(given.causal.variables)), "names a variable that the algorithm does not have"),
            (sorted(set(self.verdicts) - known), "judges a hypothesis that was not given"),
            ([score for score in scores if not math.isfinite(score)], "gives a score that is not a number"),
            ([at for at in outputs if not 0 <= at < n_outputs], f"names an output that is not 0 to {n_outputs - 1}"),
            ([p for p in sure if not 0.0 <= p <= 1.0], "states a confidence that is not between 0 and 1"),
        ):
            if wrong:
                raise CarryLensError(f"The method {method!r} {words}: {wrong[0]}. Fix what it returns.")

    def plain(self) -> dict[str, Any]:
        """As a file of results has it."""
        roles = [_SavedRole(print_nodes(r.nodes), str(r.variable), r.output, r.confidence) for r in self.roles]
        saved = _SavedFound(
            sorted(roles, key=lambda each: (each.nodes, each.variable, each.output or 0)),
            sorted(map(print_nodes, self.groups)),
            {str(node): score for node, score in self.node_scores.items()},
            [(str(node), str(variable), score) for (node, variable), score in self.role_scores.items()],
            {str(edge): score for edge, score in self.edge_scores.items()},
            dict(self.verdicts),
        )
        plain: dict[str, Any] = msgspec.to_builtins(saved)
        return plain

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Found:
        """What `plain` gave."""
        saved = msgspec.convert(given, _SavedFound)
        return cls(
            tuple(FoundRole.of(each.nodes, each.variable, each.output, each.confidence) for each in saved.roles),
            frozenset(map(parse_nodes, saved.groups)),
            {Node.parse(node): score for node, score in saved.node_scores.items()},
            {(Node.parse(node), Variable.parse(variable)): score for node, variable, score in saved.role_scores},
            {ComponentEdge.parse(edge): score for edge, score in saved.edge_scores.items()},
            saved.verdicts,
        )


class _SavedRole(msgspec.Struct, array_like=True):
    nodes: str
    variable: str
    output: int | None
    confidence: float | None


class _SavedFound(msgspec.Struct, omit_defaults=True):
    roles: list[_SavedRole] = []
    groups: list[str] = []
    node_scores: dict[str, float] = {}
    role_scores: list[tuple[str, str, float]] = []
    edge_scores: dict[str, float] = {}
    verdicts: dict[str, RunVerdict] = {}


Finder = Callable[[Given], Found]
"""What a method is: a function of what it is given."""


@dataclass(frozen=True)
class DiscoveryMethod:
    """A method of circuit discovery. `told` says whether it uses the algorithm that it is given; None: not stated.

    `about` is one sentence for the leaderboard; `source` a hash of the file that it is in, if it is known.
    """

    name: str
    find: Finder
    told: bool | None = None
    about: str = ""
    source: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is one of this package's own, so that what goes wrong in it is our bug."""
        return is_ours(getattr(self.find, "__module__", None) or "")

    @cached_property
    def code(self) -> str:
        """A hash of the code by which results are kept: of its file, what that imports of this package, and itself."""
        module, code = getattr(self.find, "__module__", None) or "", getattr(self.find, "__code__", None)
        whole = self.source or source_hash(module)
        if code is None or self.source:
            return whole
        own = code.co_code + repr([c for c in code.co_consts if isinstance(c, str | int | float)]).encode()
        return hashlib.sha256(whole.encode() + own).hexdigest()


def _node(given: Node | str) -> Node:
    return Node.parse(given) if isinstance(given, str) else given


def _edge(given: ComponentEdge | str) -> ComponentEdge:
    return ComponentEdge.parse(given) if isinstance(given, str) else given


def _verdict(given: RunVerdict | str) -> RunVerdict:
    try:
        return RunVerdict(given)
    except ValueError:
        words = ", ".join(each.value for each in RunVerdict)
        raise CarryLensError(f"{given!r} is not a verdict. Write one of: {words}.") from None
