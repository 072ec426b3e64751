"""Difference patching: variables that a set of nodes carries superposed with others.

Takes  a search context, and the variables that sets seemed to carry by interchange but could not be granted by it.
Gives  roles of sets whose write moves, from base to source, by a part that acts as the variable in any other question.
Never  grants a variable to a set that carries only what is made from it: its difference means nothing elsewhere.

An interchange moves all that a set holds, so a set that brings a column's difference and the borrow into it moves its
output on null pairs of either, and loses both to the digit that they make. What the set holds for the source less what
it holds for the base is the variable's part alone.
1. Find: put that difference into a third question with other inputs at all indices that the variable does not read.
   The output must become the counterfactual one; where base and source agree in the variable it must stay. Triples
   count where the third question's own output is not the base's: else a set that holds the output would follow, too.
2. Confirm: on fresh triples, with p corrected for all that are confirmed of a family. What surely moves the output
   where the variable agrees is a difference of something else, such as of digits that are only added up.
3. Compete: against every other variable of the set and output, on triples on which the two predict different ones
   (`disambiguation.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.disambiguation import Disambiguation, disambiguation_facts
from carrylens.discovery.interchange_outcomes import InterchangeRates, count_hits
from carrylens.discovery.node_map import Nodes, Role, Way
from carrylens.discovery.search import RoleSettings, SearchContext
from carrylens.discovery.stimulus_spec import Split
from carrylens.errors import CarryLensError
from carrylens.evidence.corrections import corrected_within
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above
from carrylens.interventions.edits import patch_difference
from carrylens.interventions.waves import Answered, Call, Steps
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.task import Task
from carrylens.tasks.triples import Triples, effect_triples, null_triples
from carrylens.tasks.variables import Variable

Place = tuple[Nodes, int]
"""A set and an output, by its place among all."""
_STAYS = 0.02  # what the null surely moves in no more than: a difference of inputs means something else elsewhere

FamilyOf = Callable[[Nodes, Variable], int]
"""Which family of tests a set and a variable are of: those of one family are corrected together."""


def differences(sets: Sequence[Nodes], triples: Triples) -> Call:
    """Each set moves in the asked questions as far as it does from the bases to the sources."""
    edits = tuple(patch_difference(nodes) for nodes in sets)
    return Call(edits, triples.asked, (triples.source, triples.base))


def difference_hits(task: Task, triples: Triples, found: Answered, least: int) -> list[dict[int, Rate]]:
    """For every set, how often each output that differs in `least` triples or more becomes the counterfactual one."""
    expected = task.output_ids(triples.asked, triples.counterfactual())
    moves = (expected != found.right) & (expected != found.clean_tokens)
    return count_hits(found.tokens, expected, _is_told(task, triples) & moves, least)


def _is_told(task: Task, triples: Triples) -> NDArray[np.bool_]:
    # Whose output is another than the base's: [triple, output].
    return task.output_ids(triples.asked) != task.output_ids(triples.base)


def confirming_triples(model: CausalModel, variable: Variable, settings: RoleSettings) -> Triples:
    """The triples on which roles of a variable are confirmed."""
    return effect_triples(model, variable, *astuple(settings.stimuli(Split.CONFIRM)))


def superposed_roles(
    search: SearchContext, doubtful: Mapping[Variable, Collection[Place]], granted: Sequence[Role], family_of: FamilyOf
) -> list[Role]:
    """Of the doubtful variables of sets and outputs those that are carried with others; `granted` are other roles."""
    model, settings = search.causal, search.settings
    ends = {*model.inputs, *model.outputs}  # an input has no null of its own; an output is the whole
    asked = {variable: doubtful[variable] for variable in doubtful if variable not in ends}
    steps = [_proven(search, variable, places) for variable, places in asked.items()]
    roles: list[tuple[Variable, InterchangeRates]] = []
    for variable, (again, facts) in zip(asked, search.together(steps, "patching differences"), strict=True):
        roles += [(variable, each) for each in again]
        for fact in facts:
            search.note(fact)
    p_values = [p_above(each.hit, each.null) for _, each in roles]
    corrected = corrected_within(p_values, [family_of(each.nodes, variable) for variable, each in roles])
    confirmed = [
        Role(each.nodes, variable, each.token, each.hit, each.null, p, way=Way.DIFFERENCE)
        for (variable, each), p in zip(roles, corrected, strict=True)
        if p <= settings.level and each.hit.value >= settings.least_hit and each.null.interval[0] <= _STAYS
    ]
    return _winners(search, confirmed, granted)


def _proven(
    search: SearchContext, variable: Variable, places: Collection[Place]
) -> Steps[tuple[list[InterchangeRates], list[Fact]]]:
    # What was found and then confirmed, and the facts of both.
    settings, facts = search.settings, list[Fact]()
    found = yield from _measured(search, variable, places, Split.FIND, facts)
    passed = [
        (each.nodes, each.token)
        for each in found
        if each.hit.value >= settings.least_hit and p_above(each.hit, each.null) <= settings.find_level
    ]
    again = (yield from _measured(search, variable, passed, Split.CONFIRM, facts)) if passed else []
    return again, facts


def _measured(
    search: SearchContext, variable: Variable, places: Collection[Place], split: Split, facts: list[Fact]
) -> Steps[list[InterchangeRates]]:
    settings = search.settings
    spec, least = settings.stimuli(split), settings.least if split is Split.FIND else 1
    count, seed = spec.count, spec.seed
    try:
        effect, null = (draw(search.causal, variable, count, seed) for draw in (effect_triples, null_triples))
    except CarryLensError:  # a variable of every index, or one that no such pair shows
        return []
    if not len(effect) or not len(null):
        return []
    sets = list(dict.fromkeys(nodes for nodes, _ in places))
    moved, stayed = yield [differences(sets, effect), differences(sets, null)]
    hits = dict(zip(sets, difference_hits(search.task, effect, moved, least), strict=True))
    changed, place = stayed.changed.sum(1), {nodes: at for at, nodes in enumerate(sets)}
    found = [
        InterchangeRates(nodes, token, hits[nodes][token], Rate(int(changed[place[nodes], token]), len(null)))
        for nodes, token in sorted(places)
        if token in hits[nodes]
    ]
    for each in found:
        about = {"nodes": print_nodes(each.nodes), "variable": str(variable), "token": each.token, "split": split.value}
        facts.append(Fact("shift", about, each.hit, each.null, {"triples": count, "seed": seed}))
    return found


def _winners(search: SearchContext, roles: Sequence[Role], granted: Sequence[Role]) -> list[Role]:
    # The roles that lose to no other variable of their set and token.
    others: dict[tuple[Variable, int, Variable], list[Role]] = {}
    for role in roles:
        for other in _others(role, [*granted, *roles]):
            others.setdefault((role.variable, role.token, other), []).append(role)
    lost: set[Role] = set()
    for fallen, facts in search.together([_losers(search, other, some) for (_, _, other), some in others.items()]):
        lost |= fallen
        for fact in facts:
            search.note(fact)
    return [role for role in roles if role not in lost]


def _others(role: Role, roles: Iterable[Role]) -> list[Variable]:
    place = (role.nodes, role.token)
    found = (each.variable for each in roles if (each.nodes, each.token) == place)
    return [other for other in dict.fromkeys(found) if other != role.variable]


def _losers(search: SearchContext, other: Variable, roles: Sequence[Role]) -> Steps[tuple[set[Role], list[Fact]]]:
    # The roles, all of one variable and token, that lose to another variable; and the facts.
    settings, facts = search.settings, list[Fact]()
    variable, at, spec = roles[0].variable, roles[0].token, settings.stimuli(Split.COMPETE)
    try:
        triples = effect_triples(search.causal, variable, spec.count, spec.seed, tell_from=[other], at=at)
    except CarryLensError:
        return set(), facts
    if not len(triples):
        return set(), facts
    sets = list(dict.fromkeys(role.nodes for role in roles))
    (found,) = yield [differences(sets, triples)]
    ours, theirs = (search.task.output_ids(triples.asked, triples.counterfactual(each)) for each in (variable, other))
    lost, told = set(), _is_told(search.task, triples)[:, at]
    place = {nodes: row for row, nodes in enumerate(sets)}
    for role in roles:
        given = found.tokens[place[role.nodes]]
        told_apart = Disambiguation.of(*(side[told, at] for side in (found.right, given, ours, theirs)))
        if told_apart.rules_out(role.hit, role.null, settings):
            lost.add(role)
        about = {"nodes": print_nodes(role.nodes), "variable": str(variable), "against": str(other), "token": at}
        drawn = {"triples": spec.count, "seed": spec.seed}
        facts += disambiguation_facts("shift duel", about, told_apart, drawn)
    return lost, facts
