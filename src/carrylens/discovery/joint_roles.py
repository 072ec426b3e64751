"""Joint roles: what several nodes carry together and none of them carries alone.

Takes  a search context, and the roles that sets of nodes have, such as pairs of heads.
Gives  those of sets whose interchange does clearly more than that of any member.
Never  gives a set the role that one of its members has.

1. Candidates among pairs of heads of one layer at one position: both are useful, or both together fail on questions on
   which neither does. `groups.py` finds other sets.
2. Their roles are found and confirmed as those of single nodes are.
3. An output is not what a set carries whose members each carry a part of it; nor is a variable, if a member carries
   something that is made from it.
4. Every member is interchanged alone on the confirming pairs: a role stays where the set hits clearly more often, or
   where the member was tested alone and did not get the role. It may hit as often and yet have lost to another
   variable, on the pairs that tell them apart.
5. A set of which each part, a member or all of one place, moves the output on questions of its own, and which does no
   more than they, is several routes, not one carrier.
6. Of all sets with nodes in common those fall that do in part what another, no larger, does clearly more often; of
   those that have an output, the ones that only bring its parts to another; and all with a node behind the place where
   their output is predicted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, groupby, permutations

import numpy as np

from carrylens.discovery.ablations import ablate_sets
from carrylens.discovery.difference_patching import confirming_triples, difference_hits, differences
from carrylens.discovery.interchange_outcomes import hit_steps, interchanges
from carrylens.discovery.node_map import Nodes, Role, Way
from carrylens.discovery.roles import confirming_stimuli, set_parts
from carrylens.discovery.search import CLEARLY, SearchContext
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above
from carrylens.interventions.waves import Steps
from carrylens.nodes import Node, print_nodes, reaches
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.layout import Layout
from carrylens.tasks.variables import Variable

_WHOLE = 0.9  # of what another set reaches: below that it is a part
_LEAST_LOST = 3  # questions that fail with both heads away and with neither alone, before that is a reason to look


def all_pairs(nodes: Sequence[Node]) -> Iterator[Nodes]:
    """Every two heads of one layer at one position.

    >>> [print_nodes(pair) for pair in all_pairs([Node(3, 0, 0), Node(3, 0, 1), Node(3, 0, None), Node(3, 1, 0)])]
    ['P3L0H0 + P3L0H1']
    """
    heads = sorted(node for node in nodes if not node.is_mlp)
    for _, some in groupby(heads, key=lambda node: (node.position, node.layer)):
        yield from combinations(some, 2)


def candidate_pairs(
    search: SearchContext,
    nodes: Sequence[Node],
    useful: Collection[Node],
    questions: Batch,
    reference: Batch,
    drawn: Mapping[str, object] | None = None,
) -> list[Nodes]:
    """The pairs that may carry something together; `drawn` says in their facts how the questions were drawn."""
    pairs = list(all_pairs(nodes))
    if not pairs:
        return []
    heads = sorted({node for pair in pairs for node in pair})
    sets = [*((head,) for head in heads), *pairs]
    found = ablate_sets(search.engine, sets, questions, reference, store=search.store)
    failed = dict(zip(sets, found.failed, strict=True))
    chosen = []
    for pair in pairs:
        either = failed[pair[:1]] | failed[pair[1:]]
        lost = (failed[pair] & ~either).sum(-1)
        together, alone = (Rate(int(np.sum(each[0])), len(questions)) for each in (failed[pair], either))
        about = {"nodes": print_nodes(pair), "fill": "mean", "null": "either alone"}
        search.note(Fact("ablate pair", about, together, alone, drawn or {}))
        if lost.max() >= _LEAST_LOST or set(pair) <= set(useful):
            chosen.append(pair)
    return chosen


def joint_roles(
    search: SearchContext, roles: Sequence[Role], *, tested: Collection[Node] = (), single: Collection[Role] = ()
) -> list[Role]:
    """Of the roles of sets those that their members have not.

    `tested` are nodes whose own roles were looked for, and `single` all that were found.
    """
    held = {(*role.nodes, role.variable, role.token) for role in single if len(role.nodes) == 1}
    roles = [
        role
        for role in roles
        if not has_parts(search.causal, role, single) and not has_product(search.causal, role, single)
    ]
    by_way: dict[tuple[Variable, int, Way], list[Role]] = {}
    for role in roles:
        by_way.setdefault((role.variable, role.token, role.way), []).append(role)
    members = [sorted({node for role in some for node in role.nodes}) for some in by_way.values()]
    steps = [_alone(search, *key, nodes) for key, nodes in zip(by_way, members, strict=True)]
    stay: list[Role] = []
    for ((variable, _, _), some), alone in zip(by_way.items(), search.together(steps), strict=True):
        for role in some:
            lost = [node for node in role.nodes if node in tested and (node, variable, role.token) not in held]
            hits = {node: alone.get((node, role.token), Rate(0, 1)) for node in role.nodes}
            if all(node in lost or p_above(role.hit, hit) <= CLEARLY for node, hit in hits.items()):
                stay.append(role)
    routes = _separate(search, stay)
    return [role for role in stay if role not in routes]


def _separate(search: SearchContext, roles: Sequence[Role]) -> set[Role]:
    # Sets that do no more than their parts do one by one, each on questions of its own: those are several routes.
    by_claim: dict[tuple[Variable, int], list[Role]] = {}
    for role in roles:
        if role.way is Way.INTERCHANGE:
            by_claim.setdefault((role.variable, role.token), []).append(role)
    found = search.together([_routes(search, *claim, some) for claim, some in by_claim.items()])
    return {role for some in found for role in some}


def _routes(search: SearchContext, variable: Variable, token: int, roles: Sequence[Role]) -> Steps[list[Role]]:
    stimuli = confirming_stimuli(search, variable, token)
    sets = list(dict.fromkeys(each for role in roles for each in (role.nodes, *set_parts(role.nodes))))
    (given,) = yield [interchanges(sets, stimuli.effect, token)]
    expected = stimuli.expected[:, token]
    moves = (expected != given.right[:, token]) & (expected != given.clean_tokens[:, token])
    follows = dict(zip(sets, (given.tokens[:, :, token] == expected) & moves, strict=True))
    found = []
    for role in roles:
        whole, parts = follows[role.nodes], [follows[part] for part in set_parts(role.nodes)]
        shares = [(part & whole).sum() / max(1, whole.sum()) for part in parts]
        some = [part for part, share in zip(parts, shares, strict=True) if share >= 1 - _WHOLE]
        covered = np.logical_or.reduce(some) if some else np.zeros_like(whole)
        if len(some) > 1 and max(shares) < _WHOLE and (covered & whole).sum() >= _WHOLE * whole.sum():
            found.append(role)
    return found


def _alone(
    search: SearchContext, variable: Variable, output: int, way: Way, nodes: Sequence[Node]
) -> Steps[dict[tuple[Node, int], Rate]]:
    # How often the output follows the variable when one of the nodes is moved by itself.
    sets = [(node,) for node in nodes]
    if way is Way.INTERCHANGE:
        rates = yield from hit_steps(sets, confirming_stimuli(search, variable, output), 1)
    else:
        triples = confirming_triples(search.causal, variable, search.settings)
        (found,) = yield [differences(sets, triples)]
        rates = difference_hits(search.task, triples, found, 1)
    return {(node, token): hit for node, hits in zip(nodes, rates, strict=True) for token, hit in hits.items()}


def without_misfits(roles: Sequence[Role], model: CausalModel, layout: Layout) -> list[Role]:
    """The roles without those of sets that have a part of another set, and a bystander.

    Of an output, those are dropped, too, that only bring what it is made from to another set that has the output: all
    the parts together are as good as the output to an interchange. And a set with a node after the place that predicts
    its output, which it cannot move, was found for another one.
    """
    places = layout.read_positions
    roles = [role for role in roles if max(node.position for node in role.nodes) <= places[role.token]]
    bringing = {role for role in roles if role.variable in model.outputs and _brings(model, role, roles)}
    together = [role for role in roles if len(role.nodes) > 1 and role not in bringing]
    misfits = {role for role in together if any(does_better(other, role) for other in together)}
    return [role for role in roles if role not in bringing | misfits]


def _brings(model: CausalModel, role: Role, roles: Sequence[Role]) -> bool:
    # Several nodes may each have a part. One node that has parts apart, two of which neither is made from the other, or
    # one superposed with others, has not yet made the token of them. One that has parts otherwise must have the token
    # clearly less often than its reader.
    readers = [other for other in roles if _reads(other, role)]
    if len(role.nodes) > 1:
        return bool(readers)
    made_from = model.ancestors(role.variable).difference(model.inputs, role.same_as)
    beside = (each for each in roles if (each.nodes, each.token) == (role.nodes, role.token))
    parts = [each for each in beside if each.variable in made_from]
    apart = any(each.way is Way.DIFFERENCE for each in parts) or any(
        other.variable not in each.same_as and each.variable not in model.ancestors(other.variable)
        for each, other in permutations(parts, 2)
        if other.variable not in model.ancestors(each.variable)
    )
    if apart:
        return bool(readers)
    return bool(parts) and any(p_above(other.hit, role.hit) <= CLEARLY for other in readers)


def _reads(other: Role, role: Role) -> bool:
    # Whether another set has the same token as often, and comes after all of this one.
    if (other.variable, other.token) != (role.variable, role.token) or not set(other.nodes).isdisjoint(role.nodes):
        return False
    return other.hit.value >= _WHOLE * role.hit.value and reaches(role.nodes, other.nodes)


def does_better(other: Role, role: Role) -> bool:
    """Whether another set, no larger and with nodes in common, has the same role the same way, and this one a part."""
    carry_same = (other.variable, other.token, other.way) == (role.variable, role.token, role.way)
    if not carry_same or len(other.nodes) > len(role.nodes) or set(other.nodes).isdisjoint(role.nodes):
        return False
    return role.hit.value < _WHOLE * other.hit.value and p_above(other.hit, role.hit) <= CLEARLY


def has_parts(model: CausalModel, role: Role, single: Collection[Role]) -> bool:
    """Whether the variable is an output, and each member alone carries something that it is made from."""
    if role.variable not in model.outputs:
        return False
    made_from = model.ancestors(role.variable).difference(model.inputs)
    parts = {each.nodes[0] for each in single if each.token == role.token and each.variable in made_from}
    return parts.issuperset(role.nodes)


def has_product(model: CausalModel, role: Role, single: Collection[Role]) -> bool:
    """Whether a member alone carries, for the same output, something that is made from the variable.

    Then there are two ways to the output: one by the variable, of which the set has a carrier, one by that member.
    """
    alone = (each for each in single if each.token == role.token and each.nodes[0] in role.nodes)
    return any(role.variable in model.ancestors(each.variable) for each in alone)
