"""Groups: sets of nodes that carry a variable together, though perhaps none does alone.

Takes  a search context, one of its variables, one of its outputs, and nodes.
Gives  `Group`: for an output, minimal sets whose joint interchange moves the variable, and how many members can be left
       out.
Never  guesses which nodes back each other up: sets are grown and pruned by interchanging them.

1. The pool: the heads, or the MLPs, of one layer whose writes differ between base and source of effect pairs. Those
   differ in nothing but what the variable is computed from, so a node outside the pool knows nothing about it.
2. Interchange the whole pool. Outputs that do not follow the variable then have no group there; for those that follow
   neither the heads nor the MLPs of a layer, both are interchanged together, and for those that follow no layer, all
   layers. Of an output itself, all nodes of the place where it is predicted are a pool, too: one of them writes it.
3. Interchange each node of the pool alone. Where one suffices, there is nothing to search for.
4. Prune: leave out half of the rest, a quarter, and so on down to single nodes, in several random orders, and keep out
   what the output follows without. What is left is a minimal set; different orders find different ones.
5. Grow: a pool that carries more than the variable does not follow it. For outputs without a group, all pairs of the
   nodes that hit most often alone are interchanged, and the best pair takes in others as long as it gains by it.
6. Each set is then put to the test as a node is (`proven_groups`): found and confirmed on fresh pairs, against other
   variables, and against its own members alone.
The pool is the set of all pairs, triples and so on at once, so no number of copies hides from it. With `m` members in a
minimal set out of a pool of `n`, an order costs about `2 m log2 n` interchanges an output on `n_find` pairs, and `2 n`
at most; growing costs `n` of them, and then at most 28 for the pairs of 8 and 18 for what they take in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.discovery.interchange_outcomes import (
    Stimuli,
    draw_stimuli,
    hit_steps,
    rate_steps,
    reaching_sets,
    screened_hits,
)
from carrylens.discovery.node_map import Group, Nodes, Role
from carrylens.discovery.roles import SetFamily, able_sets
from carrylens.discovery.search import SearchContext
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.errors import CarryLensError
from carrylens.interventions.waves import Steps
from carrylens.nodes import Node
from carrylens.tasks.batches import Batch
from carrylens.tasks.variables import Variable

_RESPONSE = 1e-3  # of a node's own spread: below that a difference is rounding
_FOLLOWS = 0.9  # of what the whole pool reaches
_GROWING, _LARGEST = 8, 5  # nodes that sets are grown from, and the largest set

_Goal = tuple[Nodes, int]  # a pool and an output that follows the variable when the pool is interchanged
_Hits = dict[tuple[Nodes, int], float]
_Sets = dict[_Goal, list[Nodes]]


@dataclass(frozen=True)
class GroupSettings:
    """How thorough the search is."""

    n_find: int = 32
    n_orders: int = 4
    least: int = 6
    least_hit: float = 0.5
    seed: int = 0


def find_groups(
    search: SearchContext, variable: Variable, token: int, nodes: Sequence[Node], settings: GroupSettings
) -> Steps[list[Group]]:
    """The groups of the variable for one output, layer by layer."""
    spec = StimulusSpec(settings.n_find, settings.seed)
    try:
        stimuli = draw_stimuli(search.task, search.causal, variable, spec, token)
    except CarryLensError:  # a variable whose value no question can show
        return []
    sets = [(node,) for node in nodes]
    able = [each[0] for each in able_sets(search.causal, search.layout, variable, sets, token)]
    pool = [node for node, responds in zip(able, responses(search, able, stimuli), strict=True) if responds]
    found = []
    for layer in sorted({node.layer for node in pool}):
        heads, mlps = (tuple(n for n in pool if n.layer == layer and n.is_mlp is kind) for kind in (False, True))
        groups = yield from _pruned([part for part in (heads, mlps) if part], stimuli, settings)
        if heads and mlps:
            carried = {group.token for group in groups}
            groups += yield from _pruned([heads + mlps], stimuli, settings, without=carried)
        found += groups
    if len({node.layer for node in pool}) > 1:
        carried = {group.token for group in found}
        found += yield from _pruned([tuple(pool)], stimuli, settings, without=carried)
    if variable in search.causal.outputs:  # all its parts together would be as good as the whole
        return found + (yield from find_writers(search, variable, pool, stimuli, settings))
    carried = {group.token for group in found}
    return found + (yield from _grown(pool, stimuli, settings, without=carried))


def find_writers(
    search: SearchContext, variable: Variable, pool: Sequence[Node], stimuli: Stimuli, settings: GroupSettings
) -> Steps[list[Group]]:
    """Groups of an output itself: sets of nodes of the place where it is predicted, of any layer."""
    outputs = search.causal.outputs
    token, place = outputs.index(variable), search.layout.read_position(variable)
    there = tuple(node for node in pool if node.position == place)
    others = set(range(len(outputs))) - {token}
    return (yield from _pruned([there], stimuli, settings, without=others)) if there else []


def responses(search: SearchContext, nodes: Sequence[Node], stimuli: Stimuli) -> NDArray[np.bool_]:
    """Which nodes' outputs differ between the bases and the sources of the effect pairs."""
    base, source = (_writes(search, nodes, questions) for questions in (stimuli.effect.base, stimuli.effect.source))
    moved = [float(np.abs(a - b).max()) for a, b in zip(base, source, strict=True)]
    spread = [float(np.abs(a - a.mean(0)).max()) for a in base]
    return np.array([move > _RESPONSE * max(wide, 1e-6) for move, wide in zip(moved, spread, strict=True)])


def _writes(search: SearchContext, nodes: Sequence[Node], questions: Batch) -> list[NDArray[np.floating]]:
    engine = search.engine
    names = {node: f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}" for node in nodes}
    tokens = torch.from_numpy(search.task.token_ids(questions)).to(engine.model.unembed.W_U.device)
    with torch.inference_mode():
        _, cache = engine.model.run_with_cache(tokens, sorted(set(names.values())))
    sites = {node: (slice(None), node.position, *(() if node.head is None else (node.head,))) for node in nodes}
    return [cache[names[node]][sites[node]].cpu().numpy() for node in nodes]


def _pruned(
    pools: Sequence[Nodes], stimuli: Stimuli, settings: GroupSettings, without: Collection[int] = ()
) -> Steps[list[Group]]:
    goals = {
        (whole.nodes, whole.token): _FOLLOWS * whole.hit.value
        for whole in (yield from rate_steps(pools, stimuli, settings.least))
        if whole.token not in without and whole.hit.value >= settings.least_hit and whole.hit.value > whole.null.value
    }
    if not goals:
        return []
    alone = [(node,) for pool in dict.fromkeys(pool for pool, _ in goals) for node in pool]
    single = yield from _hits(stimuli, settings, alone, screened=True)
    enough = {
        goal: [(node,) for node in goal[0] if single.get(((node,), goal[1]), 0.0) >= least]
        for goal, least in goals.items()
    }
    hidden = {goal: least for goal, least in goals.items() if not enough[goal]}
    sets = enough | (yield from _minimal(hidden, stimuli, settings))
    return [Group(stimuli.variable, token, tuple(sets[pool, token])) for pool, token in goals]


def _grown(
    pool: Sequence[Node], stimuli: Stimuli, settings: GroupSettings, without: Collection[int]
) -> Steps[list[Group]]:
    if not pool:
        return []
    single, found = (yield from _hits(stimuli, settings, [(node,) for node in pool], screened=True)), []
    for token in sorted({token for _, token in single} - set(without)):
        hits_of = {node: single.get(((node,), token), 0.0) for node in pool}
        ranked = sorted((node for node in pool if hits_of[node] > 0), key=lambda node: -hits_of[node])
        few = sorted(ranked[:_GROWING])
        least = max((hits_of[node] for node in few), default=0.0)
        best, value = yield from climbed_set(few, token, partial(_hits, stimuli, settings), least)
        if len(best) > 1 and value >= settings.least_hit:
            found.append(Group(stimuli.variable, token, (best,)))
    return found


def climbed_set(
    nodes: Sequence[Node], token: int, hits: Callable[[list[Nodes]], Steps[_Hits]], value: float
) -> Steps[tuple[Nodes, float]]:
    """The set grown from the best pair, as long as one more node makes the output follow more often than `value`."""
    best: Nodes = ()
    tried: list[Nodes] = list(combinations(nodes, 2))
    while tried:
        reached = yield from hits(tried)
        top = max(tried, key=lambda some: reached.get((some, token), 0.0))  # too few pairs move it: no hit
        if reached.get((top, token), 0.0) <= value:
            break
        best, value = top, reached[top, token]
        others = [node for node in nodes if node not in best] if len(best) < _LARGEST else []
        tried = [tuple(sorted((*best, node))) for node in others]
    return best, value


def _hits(stimuli: Stimuli, settings: GroupSettings, sets: Sequence[Nodes], *, screened: bool = False) -> Steps[_Hits]:
    found = yield from (screened_hits if screened else hit_steps)(sets, stimuli, settings.least)
    return {(nodes, token): hit.value for nodes, hits in zip(sets, found, strict=True) for token, hit in hits.items()}


def _minimal(goals: Mapping[_Goal, float], stimuli: Stimuli, settings: GroupSettings) -> Steps[_Sets]:
    # For each goal the sets that are left when nothing more can be left out, one for each order.
    random = np.random.default_rng(settings.seed)
    pools = dict.fromkeys(pool for pool, _ in goals)
    orders = {pool: [random.permutation(len(pool)) for _ in range(settings.n_orders)] for pool in pools}
    left = {(goal, at): goal[0] for goal in goals for at in range(settings.n_orders)}
    spans = {pool: list(_halvings(len(pool))) for pool in pools}
    for step in range(max(map(len, spans.values()), default=0)):
        tried = {}
        for (goal, at), kept in left.items():
            pool = goal[0]
            start, end = spans[pool][step] if step < len(spans[pool]) else (0, 0)
            dropped = {pool[place] for place in orders[pool][at][start:end]}.intersection(kept)
            if dropped and len(dropped) < len(kept):
                tried[goal, at] = tuple(node for node in kept if node not in dropped)
        least: dict[Nodes, float] = {}
        for (goal, _), nodes in tried.items():
            least[nodes] = max(goals[goal], least.get(nodes, 0.0))
        reached = yield from reaching_sets(least, stimuli)
        left |= {key: nodes for key, nodes in tried.items() if nodes in reached}
    # A pool has its heads before its MLPs; a set is written as nodes are ordered, whichever pool it was found in.
    found = {key: tuple(sorted(nodes)) for key, nodes in left.items()}
    return {goal: list(dict.fromkeys(found[goal, at] for at in range(settings.n_orders))) for goal in goals}


def _halvings(count: int) -> Iterator[tuple[int, int]]:
    # Spans to leave out: halves, then quarters, and so on; single places last.
    size = count
    while size > 1:
        size = (size + 1) // 2
        yield from ((start, min(start + size, count)) for start in range(0, count, size))


def group_family(groups: Sequence[Group]) -> SetFamily:
    """The sets of several nodes, each to be tested for every variable that the search found in one of its members."""
    of_node: dict[Node, set[Variable]] = {}
    for group in groups:
        for node in group.nodes:
            of_node.setdefault(node, set()).add(group.variable)
    sets = sorted({nodes for group in groups for nodes in group.sets if len(nodes) > 1})
    return SetFamily(sets, {nodes: set().union(*(of_node[node] for node in nodes)) for nodes in sets})


def proven_groups(
    groups: Sequence[Group], found: Sequence[Role], known: Sequence[Role], given: Collection[Variable]
) -> tuple[list[Group], list[Role]]:
    """The groups of several nodes of which sets stood the test, with just those sets; and the sets' roles.

    `found` are the roles of the family of these groups; a set keeps the one it was found for.
    Where a node seemed to do alone no set was searched for; if it then lost to another variable, a token may be left
    without a full carrier among `known` roles and these. It gets the small sets that stood its test all the same, each
    without a part that did. What is `given`, a question's own tokens, needs no carrier.
    """
    wanted = {(nodes, group.variable, group.token) for group in groups for nodes in group.sets if len(nodes) > 1}
    own = [role for role in found if (role.nodes, role.variable, role.token) in wanted]
    kept = [with_roles(group, own) for group in groups]
    return [group for group in kept if group.sets], own + _left_over(found, [*known, *own], given)


def with_roles(group: Group, roles: Collection[Role]) -> Group:
    """The group with those of its sets that have its role."""
    sets = {role.nodes for role in roles if (role.variable, role.token) == (group.variable, group.token)}
    return replace(group, sets=tuple(nodes for nodes in group.sets if nodes in sets))


def _left_over(found: Sequence[Role], known: Sequence[Role], given: Collection[Variable]) -> list[Role]:
    # Roles of variables and tokens for which nothing known hits nearly as often, each of a small set no part of which
    # stood the test for it.
    best: dict[tuple[Variable, int], float] = {}
    for role in known:
        for variable in (role.variable, *role.same_as):
            best[variable, role.token] = max(role.hit.value, best.get((variable, role.token), 0.0))
    small = (role for role in found if len(role.nodes) <= _LARGEST and role.variable not in given)
    left = [role for role in small if best.get((role.variable, role.token), 0.0) < _FOLLOWS * role.hit.value]
    return [role for role in left if not any(_is_part(other, role) for other in left)]


def _is_part(other: Role, role: Role) -> bool:
    return (other.variable, other.token) == (role.variable, role.token) and set(other.nodes) < set(role.nodes)
