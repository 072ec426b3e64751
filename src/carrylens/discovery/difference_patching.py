"""Shifts: variables that a set of nodes carries beside others.

Takes  an engine, a causal model, and the variables that sets seemed to carry by swaps but could not be granted by them.
Gives  roles of sets whose write moves, from base to source, by a part that acts as the variable in any other question.
Never  grants a variable to a set that carries only what is made from it: its difference means nothing elsewhere.

A swap moves all that a set holds, so a set that brings a column's difference and the borrow into it moves its token on
null pairs of either, and loses both to the digit that they make. What the set holds for the source less what it holds
for the base is the variable's part alone.
1. Find: put that difference into a third question with other digits in all columns that the variable does not read.
   The token must become the counterfactual one; where base and source agree in the variable it must stay. Triples count
   where the third question's own token is not the base's: else a set that holds the token itself would follow, too.
2. Confirm: on fresh triples, with p corrected for all that are confirmed.
3. Compete: against every other variable of the set and token, on triples on which the two predict different tokens
   (`duels.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.disambiguation import Duel, duel_facts
from carrylens.discovery.interchange import SwapRates, answer_tokens, count_hits
from carrylens.discovery.node_map import Nodes, Role, Way
from carrylens.discovery.settings import Note, Settings, Watch
from carrylens.errors import CarryLensError
from carrylens.evidence.corrections import benjamini_yekutieli
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above
from carrylens.interventions.edits import shift
from carrylens.interventions.engine import Engine
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.triples import Triples, effect_triples, null_triples
from carrylens.tasks.variables import Variable

Place = tuple[Nodes, int]
"""A set and a token of the answer."""
_SEEDS = {"find": 0, "confirm": 2, "compete": 3}


def shift_hits(
    engine: Engine, sets: Sequence[Nodes], triples: Triples, least: int, store: Path | None = None
) -> list[dict[int, Rate]]:
    """For every set, how often each token that differs in `least` triples or more becomes the counterfactual one."""
    sources = (triples.source, triples.base)
    found = engine.run([shift(nodes) for nodes in sets], triples.asked, sources, store=store)
    expected = answer_tokens(triples.asked, triples.written())
    moves = (expected != found.right) & (expected != found.clean_tokens)
    return count_hits(found.tokens, expected, _is_told(triples) & moves, least)


def _is_told(triples: Triples) -> NDArray[np.bool_]:
    # Whose token is another than the base's: [triple, token].
    return answer_tokens(triples.asked) != answer_tokens(triples.base)


def confirming_triples(model: CausalModel, variable: Variable, settings: Settings) -> Triples:
    """The triples on which roles of a variable are confirmed."""
    return effect_triples(model, variable, settings.n_confirm, 4 * settings.seed + _SEEDS["confirm"])


def roles_beside(
    engine: Engine,
    model: CausalModel,
    doubtful: Mapping[Variable, Collection[Place]],
    granted: Sequence[Role],
    settings: Settings,
    store: Path | None,
    say: Watch,
    keep: Note,
) -> list[Role]:
    """Of the doubtful variables of sets and tokens those that are carried beside others; `granted` are other roles."""
    ends = {*model.inputs, *model.outputs}  # a digit has no null of its own; an answer is the whole
    asked = {variable: doubtful[variable] for variable in doubtful if variable not in ends}
    roles: list[tuple[Variable, SwapRates]] = []
    for at, (variable, places) in enumerate(asked.items()):
        found = _measured(engine, model, variable, places, "find", settings, store, keep)
        passed = [
            (each.nodes, each.token)
            for each in found
            if each.hit.value >= settings.least_hit and p_above(each.hit, each.null) <= settings.find_level
        ]
        again = _measured(engine, model, variable, passed, "confirm", settings, store, keep) if passed else []
        roles += [(variable, each) for each in again]
        say("looking beside", at + 1, len(asked))
    corrected = benjamini_yekutieli([p_above(each.hit, each.null) for _, each in roles])
    confirmed = [
        Role(each.nodes, variable, each.token, each.hit, each.null, p, way=Way.SHIFT)
        for (variable, each), p in zip(roles, corrected, strict=True)
        if p <= settings.level and each.hit.value >= settings.least_hit
    ]
    return _winners(engine, model, confirmed, granted, settings, store, keep)


def _measured(
    engine: Engine,
    model: CausalModel,
    variable: Variable,
    places: Collection[Place],
    split: str,
    settings: Settings,
    store: Path | None,
    keep: Note,
) -> list[SwapRates]:
    count, least = (settings.n_find, settings.least) if split == "find" else (settings.n_confirm, 1)
    seed = 4 * settings.seed + _SEEDS[split]
    try:
        effect, null = (draw(model, variable, count, seed) for draw in (effect_triples, null_triples))
    except CarryLensError:  # a variable of every column, or one that no pair of one sign shows
        return []
    if not len(effect) or not len(null):
        return []
    sets = list(dict.fromkeys(nodes for nodes, _ in places))
    hits = dict(zip(sets, shift_hits(engine, sets, effect, least, store), strict=True))
    stayed = engine.run([shift(nodes) for nodes in sets], null.asked, (null.source, null.base), store=store)
    changed = stayed.changed.sum(1)
    found = [
        SwapRates(nodes, token, hits[nodes][token], Rate(int(changed[sets.index(nodes), token]), len(null)))
        for nodes, token in sorted(places)
        if token in hits[nodes]
    ]
    for each in found:
        about = {"nodes": print_nodes(each.nodes), "variable": str(variable), "token": each.token, "split": split}
        keep(Fact("shift", about, each.hit, each.null, {"triples": count, "seed": seed}))
    return found


def _winners(
    engine: Engine,
    model: CausalModel,
    roles: Sequence[Role],
    granted: Sequence[Role],
    settings: Settings,
    store: Path | None,
    keep: Note,
) -> list[Role]:
    # The roles that lose to no other variable of their set and token.
    others: dict[tuple[Variable, int, Variable], list[Role]] = {}
    for role in roles:
        for other in _others(role, [*granted, *roles]):
            others.setdefault((role.variable, role.token, other), []).append(role)
    lost: set[Role] = set()
    for (_, _, other), some in others.items():
        lost |= _losers(engine, model, other, some, settings, store, keep)
    return [role for role in roles if role not in lost]


def _others(role: Role, roles: Iterable[Role]) -> list[Variable]:
    place = (role.nodes, role.token)
    found = (each.variable for each in roles if (each.nodes, each.token) == place)
    return [other for other in dict.fromkeys(found) if other != role.variable]


def _losers(
    engine: Engine,
    model: CausalModel,
    other: Variable,
    roles: Sequence[Role],
    settings: Settings,
    store: Path | None,
    keep: Note,
) -> set[Role]:
    # The roles, all of one variable and token, that lose to another variable.
    variable, at, seed = roles[0].variable, roles[0].token, 4 * settings.seed + _SEEDS["compete"]
    try:
        triples = effect_triples(model, variable, settings.n_compete, seed, tell_from=[other], at=at)
    except CarryLensError:
        return set()
    if not len(triples):
        return set()
    sets = list(dict.fromkeys(role.nodes for role in roles))
    sources = (triples.source, triples.base)
    found = engine.run([shift(nodes) for nodes in sets], triples.asked, sources, store=store)
    ours, theirs = (answer_tokens(triples.asked, triples.written(each)) for each in (variable, other))
    lost, told = set(), _is_told(triples)[:, at]
    for role in roles:
        given = found.tokens[sets.index(role.nodes)]
        duel = Duel.of(*(side[told, at] for side in (found.right, given, ours, theirs)))
        if duel.is_lost(role.hit, role.null, settings):
            lost.add(role)
        about = {"nodes": print_nodes(role.nodes), "variable": str(variable), "against": str(other), "token": at}
        for fact in duel_facts("shift duel", about, duel, {"triples": settings.n_compete, "seed": seed}):
            keep(fact)
    return lost
