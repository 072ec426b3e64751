"""Weak evidence: roles found on little evidence, true and false ones, as cases for the confidence rule.

Takes  circuits of known truth.
Gives  `RoleCase`: how often a role hit, how often its null did, and whether it is true.
Never  treats a true role otherwise than a false one: both are found, measured beside their null on other pairs, and
       disambiguated from other variables.

A case is a role of a single node that the search gives if it requires next to no evidence, on the usual pairs or on far
fewer, where chance matters and one variable passes for another.
1. In circuits that answer right, all such roles; whether one is true is decided as for scores.
2. In their twins, whose weights are shuffled and hold nothing: of some nodes, those that hit most often. None is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import msgspec
import numpy as np

from carrylens.benchmark.benchmark_run import BenchmarkRun
from carrylens.benchmark.known_models import BenchmarkCircuit, permuted_twin
from carrylens.benchmark.method_interface import FoundRole, Given
from carrylens.benchmark.role_counts import role_text
from carrylens.benchmark.saved_results import Plain
from carrylens.benchmark.scores import is_single_input, is_true_role
from carrylens.discovery.node_map import Role, Way
from carrylens.discovery.node_search import MapSettings
from carrylens.discovery.roles import find_roles
from carrylens.discovery.search import SearchContext
from carrylens.evidence.confidence import Confidence
from carrylens.evidence.rates import Rate
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node

FEW = (4, 8, 16)
"""Pairs on which roles are searched for besides the usual number."""

_TWIN = "twin of "
_NODES, _LARGEST = 12, 15  # of a twin so many nodes, and for each number of pairs the roles that hit most often


class RoleCase(msgspec.Struct, frozen=True):
    """A role on so many pairs, how often it hit and how often its null did (hits, n), and whether it is true.

    `setting` is the circuit's name; `pairs` is None for the usual number. `n_nodes` is how large its set is.
    """

    setting: str
    role: str
    pairs: int | None
    hit: tuple[int, int]
    null: tuple[int, int]
    true: bool
    n_nodes: int = 1
    is_difference: bool = False

    def stated(self, rule: Confidence) -> float:
        """How sure a rule is of the role."""
        return rule.of(*self.rates, self.n_nodes, is_difference=self.is_difference)

    @property
    def rates(self) -> tuple[Rate, Rate]:
        """How often the role hit, and how often its null did."""
        return Rate(*self.hit), Rate(*self.null)

    @property
    def is_of_twin(self) -> bool:
        """Whether the model was a twin with shuffled weights."""
        return self.setting.startswith(_TWIN)


def cases_of(run: BenchmarkRun, circuits: Sequence[BenchmarkCircuit]) -> list[RoleCase]:
    """The cases of every circuit and of its twin."""
    cases: list[RoleCase] = []
    for at, circuit in enumerate(circuits):
        run.progress(f"roles on weak evidence, {circuit.name}", at, len(circuits))
        about = run.about(setting=circuit.name, few=list(FEW), twin=[_NODES, _LARGEST])
        saved = run.results.once(f"{circuit.name}/weak", about, partial(_cases, run, circuit))
        cases += cases_from(saved["cases"])
    return cases


def cases_from(given: Sequence[Plain]) -> list[RoleCase]:
    """The cases that a file of results has."""
    return msgspec.convert(given, list[RoleCase])


def weak_roles(given: Given, n_pairs: int | None = None, nodes: Sequence[Node] | None = None) -> list[Role]:
    """The roles of single nodes on next to no evidence, of the usual number of pairs or of `n_pairs`.

    Every set that hits at all has its null measured.
    """
    usual = MapSettings.chosen(given.seed, quick=given.quick).roles
    weak = replace(usual, find_level=1.0, least_hit=0.02, level=1.0)
    if n_pairs is not None:
        least = min(usual.least, n_pairs // 2)
        weak = replace(weak, n_find=n_pairs, n_confirm=n_pairs, n_compete=n_pairs, least=least)
    sets = [(node,) for node in (given.nodes if nodes is None else nodes)]
    search = SearchContext(Engine(given.model, given.task), given.causal, weak, progress=given.progress)
    return find_roles(search, sets)


def chance_roles(given: Given, n_pairs: int | None) -> list[Role]:
    """Of some nodes of a model that holds nothing, the weak roles that hit most often."""
    chosen = np.random.default_rng(given.seed).permutation(len(given.nodes))[:_NODES]
    roles = weak_roles(given, n_pairs, [given.nodes[at] for at in sorted(chosen)])
    return sorted(roles, key=lambda role: -role.hit.value)[:_LARGEST]


def found_role(role: Role) -> FoundRole:
    """A role of a map as methods report one."""
    return FoundRole.of(role.nodes, role.variable, role.token)


def case_of(name: str, role: Role, true: bool, n_pairs: int | None = None) -> RoleCase:
    """A role as a case; its null must have been measured."""
    assert role.null.n, f"the null of {role} was never measured"
    hit, null = (role.hit.hits, role.hit.n), (role.null.hits, role.null.n)
    is_difference = role.way is Way.DIFFERENCE
    return RoleCase(name, role_text(role), n_pairs, hit, null, true, len(role.nodes), is_difference)


def _cases(run: BenchmarkRun, circuit: BenchmarkCircuit) -> Plain:
    known, cases = circuit.build(), list[RoleCase]()
    given = run.given(known, circuit)
    twin = replace(given, model=permuted_twin(known.model, circuit.seed))
    for n in (None, *FEW):
        roles = [role for role in weak_roles(given, n) if not is_single_input(known.truth, found_role(role))]
        true = [is_true_role(known.truth, known.causal, found_role(role)) for role in roles]
        cases += [case_of(circuit.name, role, holds, n) for role, holds in zip(roles, true, strict=True)]
        cases += [case_of(f"{_TWIN}{circuit.name}", role, False, n) for role in chance_roles(twin, n)]
    return {"cases": msgspec.to_builtins(cases)}
