"""Groups: sets of nodes that carry a variable together, though perhaps none does alone.

Takes  an engine, a causal model, one of its variables, and nodes.
Gives  `Group`: for a token of the answer, minimal sets whose joint swap moves the variable, and how many members can be
       left out.
Never  guesses who stands in for whom: sets are grown and pruned by swapping them.

1. The pool: the heads, or the MLPs, of one layer whose writes differ between base and source of effect pairs. Those
   differ in nothing but what the variable is computed from, so a node outside the pool knows nothing about it.
2. Swap the whole pool. Tokens that do not follow the variable then have no group there; for those that follow neither
   the heads nor the MLPs of a layer, both are swapped together.
3. Prune: leave out one node after the other, in several random orders, and keep it out where the token still follows.
   What is left is a minimal set; different orders find different ones.
The pool is the set of all pairs, triples and so on at once, so no number of copies hides from it. The cost is at most
`n_orders` swaps for each token and member of a pool, on `n_find` pairs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.causal import CausalModel
from carrylens.arithmetic.questions import Questions
from carrylens.arithmetic.variables import Variable
from carrylens.discovery.node_map import Nodes
from carrylens.discovery.roles import able_sets
from carrylens.discovery.swaps import Stimuli, draw_stimuli, swap_rates
from carrylens.errors import CarryLensError
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node
from carrylens.tokens import encode

_RESPONSE = 1e-3  # of a node's own spread: below that a difference is rounding
_FOLLOWS = 0.8  # of what the whole pool reaches


@dataclass(frozen=True)
class GroupSettings:
    """How thorough the search is."""

    n_find: int = 32
    n_orders: int = 4
    least: int = 6
    least_hit: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class Group:
    """The nodes of one layer that carry a variable for one token; `sets` are minimal, `nodes` all that are in one."""

    variable: Variable
    token: int
    sets: tuple[Nodes, ...]

    @property
    def nodes(self) -> Nodes:
        """Every node of every minimal set."""
        return tuple(sorted({node for nodes in self.sets for node in nodes}))

    @property
    def spare(self) -> int:
        """How many of the nodes can be left out, at best, and the variable still moves."""
        return len(self.nodes) - min(len(nodes) for nodes in self.sets)


def find_groups(
    engine: Engine,
    model: CausalModel,
    variable: Variable,
    nodes: Sequence[Node],
    settings: GroupSettings,
    store: Path | None = None,
) -> list[Group]:
    """The groups of the variable, layer by layer and token by token."""
    try:
        stimuli = draw_stimuli(model, variable, settings.n_find, settings.seed)
    except CarryLensError:  # a variable whose value no question can show
        return []
    able = [each[0] for each in able_sets(model, variable, [(node,) for node in nodes])]
    found = []
    for layer in sorted({node.layer for node in able}):
        of_layer = [node for node in able if node.layer == layer]
        responding = responses(engine, of_layer, stimuli)
        pool = tuple(node for node, responds in zip(of_layer, responding, strict=True) if responds)
        heads, mlps = (tuple(node for node in pool if node.is_mlp is kind) for kind in (False, True))
        groups = [group for part in (heads, mlps) if part for group in _pruned(engine, part, stimuli, settings, store)]
        carried = {group.token for group in groups}
        if heads and mlps:
            groups += _pruned(engine, pool, stimuli, settings, store, without=carried)
        found += groups
    return found


def responses(engine: Engine, nodes: Sequence[Node], stimuli: Stimuli) -> NDArray[np.bool_]:
    """Which nodes' outputs differ between the bases and the sources of the effect pairs."""
    base, source = (_outputs(engine, nodes, asked) for asked in (stimuli.effect.base, stimuli.effect.source))
    moved = [float(np.abs(a - b).max()) for a, b in zip(base, source, strict=True)]
    spread = [float(np.abs(a - a.mean(0)).max()) for a in base]
    return np.array([move > _RESPONSE * max(wide, 1e-6) for move, wide in zip(moved, spread, strict=True)])


def _outputs(engine: Engine, nodes: Sequence[Node], questions: Questions) -> list[NDArray[np.floating]]:
    names = {node: f"blocks.{node.layer}.{'hook_mlp_out' if node.is_mlp else 'attn.hook_z'}" for node in nodes}
    tokens = torch.from_numpy(encode(questions, answers(questions))).to(engine.model.unembed.W_U.device)
    with torch.inference_mode():
        _, cache = engine.model.run_with_cache(tokens, sorted(set(names.values())))
    sites = {node: (slice(None), node.position, *(() if node.head is None else (node.head,))) for node in nodes}
    return [cache[names[node]][sites[node]].cpu().numpy() for node in nodes]


def _pruned(
    engine: Engine,
    pool: Nodes,
    stimuli: Stimuli,
    settings: GroupSettings,
    store: Path | None,
    without: Collection[int] = (),
) -> list[Group]:
    whole = {rates.token: rates for rates in swap_rates(engine, [pool], stimuli, settings.least, store)}
    goals = {
        token: _FOLLOWS * rates.hit.value
        for token, rates in whole.items()
        if token not in without and rates.hit.value >= settings.least_hit and rates.hit.value > rates.null.value
    }
    random = np.random.default_rng(settings.seed)
    orders = [[pool[at] for at in random.permutation(len(pool))] for _ in range(settings.n_orders)]
    left = {(token, at): set(pool) for token in goals for at in range(len(orders))}
    for step in range(len(pool)):
        tried = {key: tuple(sorted(kept - {orders[key[1]][step]})) for key, kept in left.items()}
        sets = list(dict.fromkeys(nodes for nodes in tried.values() if nodes))
        rates = swap_rates(engine, sets, stimuli, settings.least, store) if sets else []
        reached = {(each.nodes, each.token): each.hit.value for each in rates}
        for key, nodes in tried.items():
            if nodes and reached.get((nodes, key[0]), 0.0) >= goals[key[0]]:
                left[key] = set(nodes)
    return [
        Group(
            stimuli.variable,
            token,
            tuple(dict.fromkeys(tuple(sorted(left[token, at])) for at in range(len(orders)))),
        )
        for token in goals
    ]
