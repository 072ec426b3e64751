"""Orders: whether what is made from a part goes by way of the set that carries the part.

Takes  a search context and its roles.
Gives  `Order`: how often an output follows a part that is interchanged, and how often it still does when the part is
       withheld from a set that carries what is made of it.
Never  takes standing before another set for being read by it.

For a variable and the nearest of its ancestors that have sure roles for the same output:
1. Interchange a set that carries the ancestor, on pairs made for it and the output.
2. Do the same while the set that carries the variable writes what it writes untouched: all that the interchange would
   have changed there is withheld from it.
If the output no longer follows, the part was read there. If it still does, another way leads round that set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from carrylens.discovery.interchange_outcomes import count_hits
from carrylens.discovery.node_map import Nodes, Order, Role, Way
from carrylens.discovery.roles import confirming_stimuli
from carrylens.discovery.search import SearchContext
from carrylens.evidence.rates import Rate
from carrylens.evidence.sureness import is_sure
from carrylens.interventions.edits import interchange
from carrylens.interventions.waves import Call, Steps
from carrylens.nodes import reaches
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.variables import Variable

_SETS = 3  # of each variable, those that hit most often

_Pair = tuple[Role, Role]


def find_orders(search: SearchContext, roles: Sequence[Role]) -> list[Order]:
    """What withholding does, for each sure role and the sure roles of what is made from it."""
    by_part: dict[tuple[Variable, int], list[_Pair]] = {}
    for part, whole in ordered_roles(search.causal, roles):
        by_part.setdefault((part.variable, part.token), []).append((part, whole))
    steps = [_withheld(search, *claim, pairs) for claim, pairs in by_part.items()]
    return [order for orders in search.together(steps, "withholding parts") for order in orders]


def ordered_roles(model: CausalModel, roles: Sequence[Role]) -> Iterator[tuple[Role, Role]]:
    """Pairs of sure roles for one output: of a part, and of the nearest that is made from it and comes after it."""
    sure: dict[tuple[int, Variable], list[Role]] = {}
    for role in roles:
        if is_sure(role.hit, role.null, role.p) and role.way is Way.INTERCHANGE and role.variable not in model.inputs:
            sure.setdefault((role.token, role.variable), []).append(role)
    for (token, whole), later in sure.items():
        above = {variable for at, variable in sure if at == token and variable in model.ancestors(whole)}
        nearest = [part for part in above if not any(part in model.ancestors(other) for other in above)]
        for part in sorted(nearest):
            for one in _best(sure[token, part]):
                for other in _best(later):
                    apart = whole not in one.same_as and set(one.nodes).isdisjoint(other.nodes)
                    if apart and reaches(one.nodes, other.nodes):
                        yield one, other


def _best(roles: Sequence[Role]) -> list[Role]:
    return sorted(roles, key=lambda role: (-role.hit.interval[0], len(role.nodes), role.nodes))[:_SETS]


def _withheld(search: SearchContext, variable: Variable, token: int, pairs: Sequence[_Pair]) -> Steps[list[Order]]:
    stimuli, _ = confirming_stimuli(search, variable, token).screening(search.settings.n_confirm)
    effect, parts = stimuli.effect, list(dict.fromkeys(part.nodes for part, _ in pairs))
    free = [interchange(nodes) for nodes in parts]
    held = [interchange(part.nodes) + interchange(whole.nodes, 1) for part, whole in pairs]
    (given,) = yield [Call((*free, *held), effect.base, (effect.source, effect.base), output=token)]
    moves = (stimuli.expected != given.right) & (stimuli.expected != given.clean_tokens)
    moves = moves & (np.arange(moves.shape[1]) == token)
    hits = [each.get(token, Rate(0, 0)) for each in count_hits(given.tokens, stimuli.expected, moves, 1)]
    freely: dict[Nodes, Rate] = dict(zip(parts, hits, strict=False))
    return [
        Order(part.nodes, whole.nodes, variable, whole.variable, token, freely[part.nodes], hit)
        for (part, whole), hit in zip(pairs, hits[len(parts) :], strict=True)
    ]
