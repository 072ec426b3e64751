"""Pairs of heads: what two heads of one layer at one position carry together and neither carries alone.

Takes  an engine, usefulness of single nodes, and a causal model.
Gives  roles of pairs whose swap does clearly more than the swap of either head.
Never  gives a pair the role that one of its heads has.

1. Candidates are pairs of heads that are both useful, and pairs that fail on questions on which neither head does.
2. Their roles are found and confirmed as those of single nodes are.
3. Both heads are swapped alone on the confirming pairs: a role stays where the pair hits clearly more often.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, groupby
from pathlib import Path

import numpy as np

from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.questions import Questions
from carrylens.discovery.node_map import Nodes, Role
from carrylens.discovery.roles import Note, Settings, Watch, confirming_stimuli, find_roles
from carrylens.discovery.swaps import swap_rates
from carrylens.discovery.usefulness import ablate_sets
from carrylens.evidence.facts import Fact
from carrylens.evidence.rates import Rate, p_above
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node, print_nodes

CLEARLY = 0.01
"""The chance below which a pair hits more often than its heads."""
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
    engine: Engine,
    nodes: Sequence[Node],
    useful: Collection[Node],
    questions: Questions,
    reference: Questions,
    *,
    store: Path | None = None,
    note: Note | None = None,
    drawn: Mapping[str, object] | None = None,
) -> list[Nodes]:
    """The pairs that may carry something together; `drawn` says in their facts how the questions were drawn."""
    pairs = list(all_pairs(nodes))
    if not pairs:
        return []
    heads = sorted({node for pair in pairs for node in pair})
    sets = [*((head,) for head in heads), *pairs]
    found = ablate_sets(engine, sets, questions, reference, store=store)
    failed = dict(zip(sets, found.failed, strict=True))
    chosen = []
    for pair in pairs:
        either = failed[pair[:1]] | failed[pair[1:]]
        lost = (failed[pair] & ~either).sum(-1)
        if note is not None:
            together, alone = (Rate(int(np.sum(each[0])), len(questions)) for each in (failed[pair], either))
            about = {"nodes": print_nodes(pair), "fill": "mean", "null": "either alone"}
            note(Fact("ablate pair", about, together, alone, drawn or {}))
        if lost.max() >= _LEAST_LOST or set(pair) <= set(useful):
            chosen.append(pair)
    return chosen


def find_pair_roles(
    engine: Engine,
    model: CausalModel,
    pairs: Sequence[Nodes],
    settings: Settings,
    *,
    store: Path | None = None,
    watch: Watch | None = None,
    note: Note | None = None,
) -> list[Role]:
    """The roles that pairs have and their heads have not."""
    if not pairs:
        return []
    roles = find_roles(engine, model, pairs, settings, store=store, watch=watch, note=note)
    stay: list[Role] = []
    for variable in dict.fromkeys(role.variable for role in roles):
        some = [role for role in roles if role.variable == variable]
        stimuli = confirming_stimuli(model, variable, settings)
        heads = sorted({node for role in some for node in role.nodes})
        rates = swap_rates(engine, [(head,) for head in heads], stimuli, 1, store)
        alone = {(each.nodes[0], each.token): each.hit for each in rates}
        stay += [
            role
            for role in some
            if all(p_above(role.hit, alone.get((head, role.token), Rate(0, 1))) <= CLEARLY for head in role.nodes)
        ]
    return stay
