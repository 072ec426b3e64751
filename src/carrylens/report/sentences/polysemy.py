"""The sentence of `polysemy`: how many useful nodes serve several branches, and what inserted nodes serve.

Takes  what the experiment's summary was made of.
Gives  text.
Never  measures, or judges.
"""

from __future__ import annotations

from collections.abc import Sequence

from carrylens.arithmetic.battery.polysemy.served_branches import (
    Served,
    share_serving,
)
from carrylens.arithmetic.battery.polysemy.summarise import LETTERS, PolysemyTold
from carrylens.arithmetic.battery.stimuli.branches import Branch
from carrylens.nodes import Node


def sentence(given: PolysemyTold) -> str:
    """What came of the experiment, in a sentence or a few."""
    if not given.is_mixed:
        return "Only a model that adds and subtracts has several branches to serve."
    if not given.is_answered:
        return "The model answers too few questions."
    served, several, null, reuse = given.served, given.several, given.null, given.reuse
    kinds = {"".join(LETTERS[b] for b in Branch if b in each) for each in served.values()}
    counts = [
        f"{kind} {sum(''.join(LETTERS[b] for b in Branch if b in each) == kind for each in served.values())}"
        for kind in sorted(kinds, key=lambda text: (-len(text), text))
    ]
    text = "The paper says that most nodes serve several of sums (S), positive (M) and negative differences (N). "
    text += f"Of {len(served)} useful nodes {several.value:.2f} serve several branches, shuffled {null.value:.2f}"
    text += f" ({', '.join(counts)})"
    if reuse is None:
        return f"{text}. Reuse of inserted nodes is UNTESTED: no addition model is known to have been put in."
    text += f". Of the {len(reuse.nodes)} useful nodes that came from {reuse.name}, these shares serve each branch: "
    text += f"{_shares(reuse.nodes, served)}; in {reuse.name} itself {reuse.own.value:.2f} serve sums"
    if reuse.scratch is None:
        text += "; no model of this shape trained from scratch is known, so no other share stands beside these"
    else:
        text += (
            f"; of the same nodes of {reuse.scratch_name}, trained from scratch: {_shares(reuse.nodes, reuse.scratch)}"
        )
        text += f"; of all its useful nodes: {_shares(sorted(reuse.scratch), reuse.scratch)}"
    return f"{text}; of all useful nodes here: {_shares(sorted(served), served)}."


def _shares(nodes: Sequence[Node], served: Served) -> str:
    return ", ".join(f"{LETTERS[b]} {share_serving(nodes, served, b).value:.2f}" for b in Branch)
