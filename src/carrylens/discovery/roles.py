"""Roles: which variable a set of nodes carries, for which tokens of the answer.

Takes  an engine, sets of nodes, and a causal model.
Gives  `Role`: sets, variables and tokens for which swapping the set does just what swapping the variable would.
Never  grants a role on attention, on one split of questions, or because an answer merely changed.

1. Find: for each variable, swap every set that could know it on matched pairs. A token is a candidate where it becomes
   the counterfactual one more often than it changes when the variable agrees.
2. Confirm: on fresh pairs, with p corrected for all candidates of the model.
3. Compete: where a set has several variables for one token, look at pairs on which they predict different tokens
   (`duels.py`): confirming pairs, and where few of those tell, pairs made to tell. A variable that loses to another
   there is dropped; variables that no question can tell apart are named together.
4. Beside: variables that hit but fell at one of these steps, or hit in less than half of the pairs, may be carried
   together with others (`shifts.py`). Where they are not, and the null moves too, a variable of the same set and token
   whose null does not is the better account.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.timeline import first_computable
from carrylens.discovery.difference_patching import Place, roles_beside
from carrylens.discovery.disambiguation import Duel, duel_facts
from carrylens.discovery.interchange import Stimuli, SwapRates, answer_tokens, draw_stimuli, swap_rates
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.settings import Note, Settings, Watch
from carrylens.errors import CarryLensError
from carrylens.evidence.corrections import benjamini_yekutieli
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import p_above
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.nodes import print_nodes
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.equivalence import are_equivalent
from carrylens.tasks.pairs import Pairs, interchange_pairs
from carrylens.tasks.variables import Variable

_CONFIRM, _COMPETE = 2, 3  # which of a seed's four draws
_MOSTLY = 0.5  # of the pairs, below which a role is held in part


def find_roles(
    engine: Engine,
    model: CausalModel,
    sets: Sequence[Nodes],
    settings: Settings,
    *,
    store: Path | None = None,
    watch: Watch | None = None,
    note: Note | None = None,
    only: Mapping[Nodes, Collection[Variable]] | None = None,
) -> list[Role]:
    """Every role of every set, or of each set those of the variables that `only` names for it."""
    say, keep = watch or (lambda _what, _done, _all: None), note or (lambda _fact: None)
    variables = list(readable_variables(model))
    hitting: list[tuple[Variable, SwapRates]] = []
    for at, variable in enumerate(variables):
        able = [nodes for nodes in able_sets(model, variable, sets) if only is None or variable in only[nodes]]
        hitting += [(variable, each) for each in _found(engine, model, variable, able, settings, store, keep)]
        say("finding roles", at + 1, len(variables))
    candidates = [(variable, each) for variable, each in hitting if p_above(each.hit, each.null) <= settings.find_level]
    confirmed = _confirm(engine, model, candidates, settings, store, say, keep)
    granted = _compete(engine, model, confirmed, settings, store, say, keep)
    doubtful = _doubtful(hitting, granted, settings.least_hit)
    beside = roles_beside(engine, model, doubtful, granted, settings, store, say, keep)
    kept = [role for role in granted if not _is_explained(role, granted, settings.least_hit)]
    return _better_way([*kept, *beside])


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


def _is_explained(role: Role, roles: Sequence[Role], least_hit: float) -> bool:
    # Whether the token also moves when the variable agrees, and another variable says when and hits as often.
    if role.null.value < least_hit:
        return False
    others = (other for other in roles if (other.nodes, other.token) == (role.nodes, role.token))
    return any(other.null.value < least_hit and other.hit.value >= role.hit.value for other in others)


def _doubtful(
    hitting: Sequence[tuple[Variable, SwapRates]], granted: Sequence[Role], least_hit: float
) -> dict[Variable, set[Place]]:
    # Where swaps hit and yet no role was granted, or one in part, or one whose null moves as often as a role must hit.
    sure = (role for role in granted if role.null.value < least_hit and role.hit.value >= _MOSTLY)
    known = {(role.variable, role.nodes, role.token) for role in sure}
    found: dict[Variable, set[Place]] = {}
    for variable, each in hitting:
        if (variable, each.nodes, each.token) not in known:
            found.setdefault(variable, set()).add((each.nodes, each.token))
    return found


def confirming_stimuli(model: CausalModel, variable: Variable, settings: Settings) -> Stimuli:
    """The pairs on which roles of a variable are confirmed."""
    return draw_stimuli(model, variable, settings.n_confirm, 4 * settings.seed + _CONFIRM)


def readable_variables(model: CausalModel) -> Iterator[Variable]:
    """The variables that show in the answer, the answer's own tokens included."""
    for variable in model.variables:
        if any(variable == answer or variable in model.ancestors(answer) for answer in model.outputs):
            yield variable


def able_sets(model: CausalModel, variable: Variable, sets: Sequence[Nodes]) -> list[Nodes]:
    """The sets that could know the variable: the last of their nodes stands where its last input is read, or later."""
    first = first_computable(model, variable)
    return [nodes for nodes in sets if max(node.position for node in nodes) >= first]


def _found(
    engine: Engine,
    model: CausalModel,
    variable: Variable,
    sets: list[Nodes],
    settings: Settings,
    store: Path | None,
    keep: Note,
) -> list[SwapRates]:
    try:
        stimuli = draw_stimuli(model, variable, settings.n_find, 4 * settings.seed)
    except CarryLensError:  # a variable whose value no question can show, such as the sign of an addition
        return []
    rates = swap_rates(engine, sets, stimuli, settings.least, store, settings.least_hit) if sets else []
    for each in rates:
        keep(_fact(variable, each, "find", stimuli))
    return [each for each in rates if each.hit.value >= settings.least_hit]


def _confirm(
    engine: Engine,
    model: CausalModel,
    candidates: list[tuple[Variable, SwapRates]],
    settings: Settings,
    store: Path | None,
    say: Watch,
    keep: Note,
) -> list[Role]:
    measured: list[tuple[Variable, SwapRates]] = []
    by_variable = [(variable, list(some)) for variable, some in groupby(candidates, key=lambda each: each[0])]
    for at, (variable, some) in enumerate(by_variable):
        wanted = {(each.nodes, each.token) for _, each in some}
        stimuli = confirming_stimuli(model, variable, settings)
        sets = list(dict.fromkeys(each.nodes for _, each in some))
        rates = swap_rates(engine, sets, stimuli, 1, store)
        wanted_rates = [each for each in rates if (each.nodes, each.token) in wanted]
        for each in wanted_rates:
            keep(_fact(variable, each, "confirm", stimuli))
        measured += [(variable, each) for each in wanted_rates]
        say("confirming roles", at + 1, len(by_variable))
    corrected = benjamini_yekutieli([p_above(each.hit, each.null) for _, each in measured])
    return [
        Role(each.nodes, variable, each.token, each.hit, each.null, p)
        for (variable, each), p in zip(measured, corrected, strict=True)
        if p <= settings.level and each.hit.value >= settings.least_hit
    ]


def _fact(variable: Variable, rates: SwapRates, split: str, stimuli: Stimuli) -> Fact:
    about = {"nodes": print_nodes(rates.nodes), "variable": str(variable), "token": rates.token, "split": split}
    return Fact("swap", about, rates.hit, rates.null, {"pairs": stimuli.count, "seed": stimuli.seed})


def _compete(
    engine: Engine,
    model: CausalModel,
    roles: list[Role],
    settings: Settings,
    store: Path | None,
    say: Watch,
    keep: Note,
) -> list[Role]:
    others: dict[Variable, dict[Variable, list[Role]]] = {}
    for ours, theirs in permutations(roles, 2):
        if ours.nodes == theirs.nodes and ours.token == theirs.token:
            others.setdefault(ours.variable, {}).setdefault(theirs.variable, []).append(ours)
    lost: set[Role] = set()
    same: dict[Role, list[Variable]] = {}
    for at, (variable, against) in enumerate(others.items()):
        sets = sorted({role.nodes for some in against.values() for role in some})
        seen = _Swapped.of(engine, confirming_stimuli(model, variable, settings).effect, sets, store)
        for other, some in against.items():
            apart = [role for role in some if not are_equivalent(model, variable, other, role.token)]
            for role in (role for role in some if role not in apart):
                same.setdefault(role, []).append(other)
            duels = _duels(engine, model, other, apart, seen, settings, store, keep)
            for role, duel in duels.items():
                if duel.is_lost(role.hit, role.null, settings):
                    lost.add(role)
                elif not duel.n and not duel.beyond.n:
                    same.setdefault(role, []).append(other)
        say("telling roles apart", at + 1, len(others))
    return [replace(role, same_as=tuple(same.get(role, ()))) for role in roles if role not in lost]


@dataclass(frozen=True, eq=False)
class _Swapped:
    """What sets made of pairs when they were swapped: `tokens` has the axes set, pair, token; `right` has no set."""

    pairs: Pairs
    sets: list[Nodes]
    tokens: NDArray[np.int8]
    right: NDArray[np.int8]

    @classmethod
    def of(cls, engine: Engine, pairs: Pairs, sets: list[Nodes], store: Path | None) -> _Swapped:
        found = engine.run([swap(nodes) for nodes in sets], pairs.base, pairs.source, store=store)
        return cls(pairs, sets, found.tokens, found.right)

    def duel(self, role: Role, other: Variable) -> Duel:
        """The role's variable against the other."""
        at, given = role.token, self.tokens[self.sets.index(role.nodes)]
        ours, theirs = (_written(self.pairs, variable) for variable in (role.variable, other))
        return Duel.of(*(side[:, at] for side in (self.right, given, ours, theirs)))


@lru_cache(maxsize=64)
def _written(pairs: Pairs, variable: Variable) -> NDArray[np.int8]:
    return answer_tokens(pairs.base, pairs.written(variable))


def _duels(
    engine: Engine,
    model: CausalModel,
    other: Variable,
    roles: list[Role],
    seen: _Swapped,
    settings: Settings,
    store: Path | None,
    keep: Note,
) -> dict[Role, Duel]:
    # Of roles, all of one variable, the duels with another. Pairs that were swapped already serve; where few of them
    # tell the two apart, some that are made to tell are added.
    duels = {role: seen.duel(role, other) for role in roles}
    few = [role for role in roles if duels[role].n < settings.n_compete // 2]
    for token in sorted({role.token for role in few}):
        there = [role for role in few if role.token == token]
        if made := _made_to_tell(engine, model, other, there, settings, store):
            duels |= {role: duels[role] + made.duel(role, other) for role in there}
    for role in roles:
        seeds = {"confirm": settings.n_confirm, "made": settings.n_compete if role in few else 0, "seed": settings.seed}
        about = {"nodes": print_nodes(role.nodes), "variable": str(role.variable), "against": str(other)}
        for fact in duel_facts("duel", {**about, "token": role.token}, duels[role], seeds):
            keep(fact)
    return duels


def _made_to_tell(
    engine: Engine,
    model: CausalModel,
    other: Variable,
    roles: list[Role],
    settings: Settings,
    store: Path | None,
) -> _Swapped | None:
    # The roles' sets, swapped on pairs that tell their variable from the other at their token; None if there are none.
    variable, token, seed = roles[0].variable, roles[0].token, 4 * settings.seed + _COMPETE
    try:
        pairs = interchange_pairs(model, variable, settings.n_compete, seed, tell_from=[other], at=token)
    except CarryLensError:
        return None
    return _Swapped.of(engine, pairs, sorted({role.nodes for role in roles}), store)
