"""The published search: single heads, mean ablation, attention, and an answer that changes.

Takes  a model and an algorithm.
Gives  the roles of heads that the paper's search, as it is described and as its code has it, would tag.
Never  looks at MLPs, at resolved carries or at answer digits, for which that search has no test; has no groups.

1. A head is useful if some question fails when the head alone writes its mean.
2. Of the useful heads, those are asked about digit k that look at D[k] and D'[k] (both among the places they look at
   most) and stand where both have been read.
3. SA, MD, ND: the head is swapped on matched pairs. It passes if answer digit k changes in any of them.
   ST, MB, NB (or their binary forms): it passes if any token of the answer changes.
4. OPR and SGN pass on attention alone: a useful head that looks at that token most.
The structure test (clusters) is left out, because in the published code it is always true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from carrylens.arithmetic.layout import position_of
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.tokens import place_names
from carrylens.arithmetic.variables import OPR, SGN
from carrylens.benchmark.baselines.attention import looked_at
from carrylens.benchmark.method_result import Found, Given, Tag
from carrylens.benchmark.node_outputs import asked_variables, knows
from carrylens.discovery.ablations import ablate_sets
from carrylens.discovery.attention import Pattern, average_pattern, top_places
from carrylens.errors import CarryLensError
from carrylens.interventions.edits import swap
from carrylens.interventions.engine import Engine
from carrylens.nodes import Node
from carrylens.tasks.pairs import effect_pairs
from carrylens.tasks.variables import Variable

_QUESTIONS = 128
_PAIRS = 16
_OWN_DIGIT = ("SA", "MD", "ND")
_CARRIES = ("ST", "MB", "NB", "SC", "S9", "MC", "NC")


def search_as_published(given: Given) -> Found:
    """Every head and sub-task that passes."""
    causal, engine = given.causal, Engine(given.model)
    stream = Stream(StreamKind.ENRICHED, causal.operation, causal.digits, given.seed)
    questions, reference = stream.take(0, _QUESTIONS), stream.take(_QUESTIONS, _QUESTIONS)
    heads = [node for node in given.nodes if not node.is_mlp]
    ablated = ablate_sets(engine, [(head,) for head in heads], questions, reference)
    useful = [h for h, failed in zip(heads, ablated.failed[:, 0], strict=True) if (failed & ~ablated.clean).any()]
    pattern, names = average_pattern(given.model, questions), place_names(causal.digits)
    looks = {head: [names.index(place) for place in _places(pattern, head, given)] for head in useful}
    tags: set[Tag] = set()
    for variable in asked_variables(causal):
        if variable in (OPR, SGN):
            at = position_of(variable, causal.digits)
            tags |= {Tag(head, variable) for head in useful if looks[head][:1] == [at]}
        elif variable.name in _OWN_DIGIT + _CARRIES:
            tags |= {Tag(head, variable) for head in _passing(given, engine, variable, looks)}
    return Found(frozenset(tags))


def _places(pattern: Pattern, head: Node, given: Given) -> Sequence[str]:
    found = top_places(pattern, head, given.causal.operation, given.causal.digits, _QUESTIONS)
    return [each.place for each in found.looks]


def _passing(given: Given, engine: Engine, variable: Variable, looks: Mapping[Node, Sequence[int]]) -> list[Node]:
    causal, k = given.causal, variable.index
    wanted = set(looked_at(causal, variable))
    heads = [head for head, places in looks.items() if wanted <= set(places) and knows(causal, head, variable)]
    if not heads or k is None:
        return []
    try:
        pairs = effect_pairs(causal, variable, _PAIRS, given.seed)
    except CarryLensError:  # a variable whose value no question can show
        return []
    outcomes = engine.run([swap([head]) for head in heads], pairs.base, pairs.source)
    own = causal.digits + 1 - k  # the token of A[k], counted from the sign
    tokens = [own] if variable.name in _OWN_DIGIT else list(range(causal.digits + 2))
    changed = np.asarray(outcomes.changed[:, :, tokens].any((1, 2)))
    return [head for head, passes in zip(heads, changed, strict=True) if passes]
