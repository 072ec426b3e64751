"""Described roles: how much of a variable a set carries, where it fails, and how often on questions as they come.

Takes  a search context and the roles that it found.
Gives  the roles, each whole or partial; partial ones with the predicate that accounts for their failures, if one does;
       all with their hit rates on unselected pairs of named populations.
Never  drops a role, and never describes failures by the pairs that the role was confirmed on.

1. Partial roles are tested on fresh pairs made for their variable and output. `deviations.py` finds the simplest
   predicate on one half of them and confirms it on the other.
2. Pairs whose base and source are simply drawn from a population tell in which share of its questions the role holds:
   of those in which the variable's value in the source should change the output, so many did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec import UNSET

from carrylens.discovery.deviations import Deviation, find_deviation
from carrylens.discovery.interchange_outcomes import interchanges
from carrylens.discovery.node_map import Nodes, PopulationHit, Role, Way
from carrylens.discovery.search import SearchContext
from carrylens.discovery.stimulus_spec import Split
from carrylens.errors import CarryLensError
from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import extent_of
from carrylens.interventions.edits import interchange
from carrylens.interventions.waves import Call, Steps
from carrylens.tasks.output_pairs import output_pairs
from carrylens.tasks.pairs import counterfactual_outputs
from carrylens.tasks.samplers import Sampler
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

_FRESH = 1 << 21  # from a seed to one that nothing else draws with
_TIMES = 4  # as many pairs to describe failures as roles are confirmed on, for each half
POPULATIONS = ("natural", "enriched")
"""The samplers that hit rates are measured on, where a task has them; else its first."""

_Claim = tuple[Variable, int]


def describe_roles(search: SearchContext, roles: Sequence[Role]) -> list[Role]:
    """The roles with their extent, where they fail, and their rates on populations."""
    partial: dict[_Claim, list[Nodes]] = {}
    for role in roles:
        if not role.is_whole and role.way is Way.INTERCHANGE:
            partial.setdefault((role.variable, role.token), []).append(role.nodes)
    steps = [_deviations(search, *claim, sets) for claim, sets in partial.items()]
    found = search.together(steps, "describing roles")
    fails = {
        (nodes, *claim): deviation
        for claim, some in zip(partial, found, strict=True)
        for nodes, deviation in some.items()
    }
    rates = _population_hits(search, roles)
    described = []
    for role in roles:
        key = (role.nodes, role.variable, role.token)
        where = fails.get(key, UNSET) if role.way is Way.INTERCHANGE else UNSET
        populations = tuple(PopulationHit(name, hit) for name, hit in rates.get(key, {}).items())
        described.append(replace(role, extent=extent_of(role.hit), populations=populations, fails=where))
    return described


def _deviations(
    search: SearchContext, variable: Variable, token: int, sets: Sequence[Nodes]
) -> Steps[dict[Nodes, Deviation]]:
    spec, output = search.settings.stimuli(Split.CONFIRM), search.causal.outputs[token]
    try:
        pairs = output_pairs(search.causal, variable, output, _TIMES * spec.count, spec.seed + _FRESH)
    except CarryLensError:
        return {}
    (given,) = yield [interchanges(sets, pairs, token)]
    expected = search.task.output_ids(pairs.base, pairs.expected)[:, token]
    told = (expected != given.right[:, token]) & (expected != given.clean_tokens[:, token])
    found = {}
    for at, nodes in enumerate(sets):
        failed = given.tokens[at, told, token] != expected[told]
        deviation = find_deviation(search.task, pairs.base[told], failed)
        if deviation is not None:
            found[nodes] = deviation
    return found


def _population_hits(
    search: SearchContext, roles: Sequence[Role]
) -> dict[tuple[Nodes, Variable, int], dict[str, Rate]]:
    spec = search.settings.stimuli(Split.CONFIRM)
    sets = list(dict.fromkeys(role.nodes for role in roles if role.way is Way.INTERCHANGE))
    found: dict[tuple[Nodes, Variable, int], dict[str, Rate]] = {}
    if not sets:
        return found
    drawn = {
        name: tuple(sampler.draw(spec.seed + _FRESH, at * 2 * spec.count, 2 * spec.count) for at in range(2))
        for name, sampler in named_populations(search.task).items()
    }
    edits = tuple(interchange(nodes) for nodes in sets)
    calls = [Call(edits, base, (source,)) for base, source in drawn.values()]
    place = {nodes: at for at, nodes in enumerate(sets)}
    for (name, (base, source)), given in zip(drawn.items(), search.waves.run(calls), strict=True):
        expected = {
            variable: search.task.output_ids(base, counterfactual_outputs(search.causal, variable, base, source))
            for variable in dict.fromkeys(role.variable for role in roles)
        }
        for role in roles:
            if role.way is Way.INTERCHANGE:
                wanted, at = expected[role.variable][:, role.token], role.token
                told = (wanted != given.right[:, at]) & (wanted != given.clean_tokens[:, at])
                hits = int(np.count_nonzero((given.tokens[place[role.nodes], :, at] == wanted) & told))
                found.setdefault((role.nodes, role.variable, at), {})[name] = Rate(hits, int(told.sum()))
    return found


def named_populations(task: Task) -> Mapping[str, Sampler]:
    """The populations that hit rates are measured on."""
    named = {name: task.samplers[name] for name in POPULATIONS if name in task.samplers}
    return named or dict(list(task.samplers.items())[:1])
