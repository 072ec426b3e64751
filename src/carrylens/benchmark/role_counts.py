"""Role counts: how many roles our search tests in a model, and how many it confirms.

Takes  what a method is given.
Gives  `RoleCounts`: every role that was tested, how far its test came, and those confirmed.
Never  leaves out a test: every node and every pair of heads of one layer at one position is tested, useful or not, and
       groups are searched for.

Most tests end early: a set that hits in less than a quarter of the pairs is not tested further, and only one that hits
clearly more often than its null gets a p value, on fresh pairs. How many come so far is counted, since the others could
not have been confirmed.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.benchmark.method_interface import Given
from carrylens.benchmark.saved_results import Plain
from carrylens.discovery.near_misses import subject_of
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.node_search import MapSettings, evaluation_questions, find_carried
from carrylens.discovery.search import SearchContext
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.interventions.engine import Engine
from carrylens.nodes import print_nodes
from carrylens.tasks.variables import Variable

N_TEST_FAMILIES = 6
"""Tests that are corrected apart here: of single nodes, pairs and groups, by interchange and by difference patching.

A map has eight. It counts useful nodes as one family, and as another those that suffice alone though no answer fails
without them; here every node is tested, so there are none of the second kind.
"""

_HOLD = 256 << 20  # bytes, as for a map

TestedRole = tuple[Nodes, Variable, int]
"""A set of nodes, a variable, and the place of an output among the outputs."""


@dataclass(frozen=True)
class RoleCounts:
    """Every role that was tested in a model, and those confirmed; `right` says how many questions it answers right.

    `hit` are the tests that hit in as many of the finding pairs as a role must, `weighed` those that came to a p value.
    """

    tested: frozenset[TestedRole]
    hit: frozenset[TestedRole]
    weighed: frozenset[TestedRole]
    roles: tuple[Role, ...]
    right: Rate
    level: float


def count_roles(given: Given) -> RoleCounts:
    """The roles of nodes and of sets that are tested in a model, and those that are confirmed."""
    facts: list[Fact] = []
    settings = MapSettings.chosen(given.seed, quick=given.quick)
    evaluated = evaluation_questions(given.task, settings)
    with Engine(given.model, given.task, hold=_HOLD) as engine:
        answered = engine.run([interchange((given.nodes[0],))], evaluated[0], evaluated[0])
        right = Rate(int((answered.clean_tokens == answered.right).all(-1).sum()), len(evaluated[0]))
        search = SearchContext(engine, given.causal, settings.roles, given.store, given.progress, facts.append)
        roles, _ = find_carried(search, given.nodes, evaluated, settings)
    finding = [fact for fact in facts if fact.about.get("split") == "find"]
    tested = frozenset(map(subject_of, finding))
    hit = frozenset(subject_of(fact) for fact in finding if fact.effect.value >= settings.roles.least_hit)
    weighed = frozenset(subject_of(fact) for fact in facts if fact.about.get("split") == "confirm")
    return RoleCounts(tested, hit, weighed, tuple(roles), right, settings.roles.level)


def role_text(role: Role) -> str:
    """A role as a file of results names it."""
    return f"{print_nodes(role.nodes)} {role.variable} token {role.token}"


def plain_rate(rate: Rate) -> Plain:
    """A rate as JSON has it, with its exact interval."""
    return {"hits": rate.hits, "n": rate.n, "interval": list(rate.interval)}
