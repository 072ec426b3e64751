"""Roles: which variable a set of nodes carries, for which outputs.

Takes  a search context and sets of nodes.
Gives  `Role`: sets, variables and outputs for which an interchange of the set does just what one of the variable would.
Never  grants a role on attention, on one split of questions, or because an output merely changed.

1. Find: for each variable, interchange every set that could know it on matched pairs. An output is a candidate where it
   becomes the counterfactual one more often than it changes when the variable agrees.
2. Confirm: on fresh pairs, with p corrected for all candidates of the model.
3. Compete: where a set has several variables for one output, look at pairs on which they predict different ones
   (`disambiguation.py`): confirming pairs, and where few of those tell, pairs made to tell. A variable that another
   rules out there is dropped; variables that no question can tell apart are named together.
4. Superposed: variables that hit but were dropped at one of these steps, or hit in less than half of the pairs, may be
   carried together with others (`difference_patching.py`). Where they are not, and the null moves too, a variable of
   the same set and output whose null does not is the better explanation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, permutations

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.difference_patching import Place, superposed_roles
from carrylens.discovery.disambiguation import Disambiguation, disambiguation_facts
from carrylens.discovery.interchange_outcomes import InterchangeRates, Stimuli, draw_stimuli, interchange_rates
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.search import SearchContext
from carrylens.discovery.stimulus_spec import Split
from carrylens.errors import CarryLensError
from carrylens.evidence.corrections import benjamini_yekutieli
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import p_above
from carrylens.interventions.edits import interchange
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.layout import Layout
from carrylens.tasks.pairs import Pairs, interchange_pairs
from carrylens.tasks.task import Task
from carrylens.tasks.timeline import first_computable
from carrylens.tasks.variables import Variable

_MOSTLY = 0.5  # of the pairs, below which a role is held in part


def find_roles(
    search: SearchContext, sets: Sequence[Nodes], only: Mapping[Nodes, Collection[Variable]] | None = None
) -> list[Role]:
    """Every role of every set, or of each set those of the variables that `only` names for it."""
    model, settings = search.causal, search.settings
    variables = list(readable_variables(model))
    hitting: list[tuple[Variable, InterchangeRates]] = []
    for at, variable in enumerate(variables):
        able = able_sets(model, search.layout, variable, sets)
        able = [nodes for nodes in able if only is None or variable in only[nodes]]
        hitting += [(variable, each) for each in _found(search, variable, able)]
        search.progress("finding roles", at + 1, len(variables))
    candidates = [(variable, each) for variable, each in hitting if p_above(each.hit, each.null) <= settings.find_level]
    granted = _compete(search, _confirm(search, candidates))
    doubtful = _doubtful(hitting, granted, settings.least_hit)
    superposed = superposed_roles(search, doubtful, granted)
    kept = [role for role in granted if not is_explained(role, granted, settings.least_hit)]
    return _better_way([*kept, *superposed])


def _better_way(roles: Sequence[Role]) -> list[Role]:
    # A role that was granted both ways is kept the way it hits more often.
    best: dict[tuple[Variable, Nodes, int], Role] = {}
    for role in roles:
        key = (role.variable, role.nodes, role.token)
        if key not in best or _worth(role) > _worth(best[key]):
            best[key] = role
    return list(best.values())


def _worth(role: Role) -> float:
    return role.hit.value - role.null.value


def is_explained(role: Role, roles: Sequence[Role], least_hit: float) -> bool:
    """Whether the output also moves when the variable agrees, and another variable says when and hits as often."""
    if role.null.value < least_hit:
        return False
    others = (other for other in roles if (other.nodes, other.token) == (role.nodes, role.token))
    return any(other.null.value < least_hit and other.hit.value >= role.hit.value for other in others)


def _doubtful(
    hitting: Sequence[tuple[Variable, InterchangeRates]], granted: Sequence[Role], least_hit: float
) -> dict[Variable, set[Place]]:
    # Where interchanges hit and yet no role was granted, or one in part, or one whose null moves as often as a role
    # must hit.
    sure = (role for role in granted if role.null.value < least_hit and role.hit.value >= _MOSTLY)
    known = {(role.variable, role.nodes, role.token) for role in sure}
    found: dict[Variable, set[Place]] = {}
    for variable, each in hitting:
        if (variable, each.nodes, each.token) not in known:
            found.setdefault(variable, set()).add((each.nodes, each.token))
    return found


def confirming_stimuli(search: SearchContext, variable: Variable) -> Stimuli:
    """The pairs on which roles of a variable are confirmed."""
    return draw_stimuli(search.task, search.causal, variable, search.settings.stimuli(Split.CONFIRM))


def readable_variables(model: CausalModel) -> Iterator[Variable]:
    """The variables that show in the outputs, the outputs themselves included."""
    for variable in model.variables:
        if any(variable == output or variable in model.ancestors(output) for output in model.outputs):
            yield variable


def able_sets(model: CausalModel, layout: Layout, variable: Variable, sets: Sequence[Nodes]) -> list[Nodes]:
    """The sets that could know the variable: the last of their nodes stands where its last input is read, or later."""
    first = first_computable(model, layout, variable)
    return [nodes for nodes in sets if max(node.position for node in nodes) >= first]


def _found(search: SearchContext, variable: Variable, sets: list[Nodes]) -> Iterator[InterchangeRates]:
    # What reaches the least rate worth looking at, wherever its null is.
    if not sets:
        return
    settings = search.settings
    try:
        stimuli = draw_stimuli(search.task, search.causal, variable, settings.stimuli(Split.FIND))
    except CarryLensError:  # a variable whose value no question can show
        return
    for rates in interchange_rates(search, sets, stimuli, settings.least, settings.least_hit):
        search.note(_fact(variable, rates, "find", stimuli))
        if rates.hit.value >= settings.least_hit:
            yield rates


def _confirm(search: SearchContext, candidates: list[tuple[Variable, InterchangeRates]]) -> list[Role]:
    settings = search.settings
    measured: list[tuple[Variable, InterchangeRates]] = []
    by_variable = [(variable, list(some)) for variable, some in groupby(candidates, key=lambda each: each[0])]
    for at, (variable, some) in enumerate(by_variable):
        wanted = {(each.nodes, each.token) for _, each in some}
        stimuli = confirming_stimuli(search, variable)
        sets = list(dict.fromkeys(each.nodes for _, each in some))
        rates = interchange_rates(search, sets, stimuli, 1)
        wanted_rates = [each for each in rates if (each.nodes, each.token) in wanted]
        for each in wanted_rates:
            search.note(_fact(variable, each, "confirm", stimuli))
        measured += [(variable, each) for each in wanted_rates]
        search.progress("confirming roles", at + 1, len(by_variable))
    corrected = benjamini_yekutieli([p_above(each.hit, each.null) for _, each in measured])
    return [
        Role(each.nodes, variable, each.token, each.hit, each.null, p)
        for (variable, each), p in zip(measured, corrected, strict=True)
        if p <= settings.level and each.hit.value >= settings.least_hit
    ]


def _fact(variable: Variable, rates: InterchangeRates, split: str, stimuli: Stimuli) -> Fact:
    about = {"nodes": print_nodes(rates.nodes), "variable": str(variable), "token": rates.token, "split": split}
    return Fact("swap", about, rates.hit, rates.null, {"pairs": stimuli.count, "seed": stimuli.seed})


def _compete(search: SearchContext, roles: list[Role]) -> list[Role]:
    model = search.causal
    others: dict[Variable, dict[Variable, list[Role]]] = {}
    for ours, theirs in permutations(roles, 2):
        if ours.nodes == theirs.nodes and ours.token == theirs.token:
            others.setdefault(ours.variable, {}).setdefault(theirs.variable, []).append(ours)
    lost: set[Role] = set()
    same: dict[Role, list[Variable]] = {}
    for at, (variable, against) in enumerate(others.items()):
        sets = sorted({role.nodes for some in against.values() for role in some})
        seen = _Interchanged.of(search, confirming_stimuli(search, variable).effect, sets)
        for other, some in against.items():
            apart = [role for role in some if not are_equivalent(model, variable, other, role.token)]
            for role in (role for role in some if role not in apart):
                same.setdefault(role, []).append(other)
            for role, found in _disambiguations(search, other, apart, seen).items():
                if found.rules_out(role.hit, role.null, search.settings):
                    lost.add(role)
                elif not found.n and not found.beyond.n:
                    same.setdefault(role, []).append(other)
        search.progress("telling roles apart", at + 1, len(others))
    return [replace(role, same_as=tuple(same.get(role, ()))) for role in roles if role not in lost]


@dataclass(frozen=True, eq=False)
class _Interchanged:
    """What became of pairs when sets were interchanged: `tokens` has the axes set, pair, output; `right` has no set."""

    task: Task
    pairs: Pairs
    sets: list[Nodes]
    tokens: NDArray[np.int8]
    right: NDArray[np.int8]

    @classmethod
    def of(cls, search: SearchContext, pairs: Pairs, sets: list[Nodes]) -> _Interchanged:
        found = search.run([interchange(nodes) for nodes in sets], pairs.base, pairs.source)
        return cls(search.task, pairs, sets, found.tokens, found.right)

    def disambiguation(self, role: Role, other: Variable) -> Disambiguation:
        """The role's variable against the other."""
        at, given = role.token, self.tokens[self.sets.index(role.nodes)]
        ours, theirs = (_predicted(self.task, self.pairs, variable) for variable in (role.variable, other))
        return Disambiguation.of(*(side[:, at] for side in (self.right, given, ours, theirs)))


@lru_cache(maxsize=64)
def _predicted(task: Task, pairs: Pairs, variable: Variable) -> NDArray[np.int8]:
    return task.output_ids(pairs.base, pairs.counterfactual(variable))


def _disambiguations(
    search: SearchContext, other: Variable, roles: list[Role], seen: _Interchanged
) -> dict[Role, Disambiguation]:
    # Of roles, all of one variable, the disambiguations from another. Pairs that were run already serve; where few of
    # them tell the two apart, some that are made to tell are added.
    settings = search.settings
    found = {role: seen.disambiguation(role, other) for role in roles}
    few = [role for role in roles if found[role].n < settings.n_compete // 2]
    for token in sorted({role.token for role in few}):
        there = [role for role in few if role.token == token]
        if made := _made_to_tell(search, other, there):
            found |= {role: found[role] + made.disambiguation(role, other) for role in there}
    for role in roles:
        seeds = {"confirm": settings.n_confirm, "made": settings.n_compete if role in few else 0, "seed": settings.seed}
        about = {"nodes": print_nodes(role.nodes), "variable": str(role.variable), "against": str(other)}
        for fact in disambiguation_facts("duel", {**about, "token": role.token}, found[role], seeds):
            search.note(fact)
    return found


def _made_to_tell(search: SearchContext, other: Variable, roles: list[Role]) -> _Interchanged | None:
    # The roles' sets on pairs that tell their variable from the other at their output; None if there are none.
    variable, token, spec = roles[0].variable, roles[0].token, search.settings.stimuli(Split.COMPETE)
    try:
        pairs = interchange_pairs(search.causal, variable, spec.count, spec.seed, tell_from=[other], at=token)
    except CarryLensError:
        return None
    return _Interchanged.of(search, pairs, sorted({role.nodes for role in roles}))
