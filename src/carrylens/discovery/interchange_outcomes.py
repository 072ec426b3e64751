"""Interchange outcomes: what sets of nodes do to the outputs when they take their values from another question.

Takes  sets of nodes, and matched pairs of a variable.
Gives  for each set and output: how often it becomes the counterfactual one where that differs, and how often it
       changes, from what the untouched model puts out, where the variable agrees.
Never  decides what that means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from carrylens.discovery.node_map import Nodes
from carrylens.discovery.stimulus_spec import StimulusSpec
from carrylens.evidence.rates import Rate
from carrylens.interventions.edits import interchange
from carrylens.interventions.waves import Answered, Call, Steps
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.matched_nulls import matched_null
from carrylens.tasks.output_pairs import output_pairs
from carrylens.tasks.pairs import Pairs, interchange_pairs, null_pairs
from carrylens.tasks.task import Task
from carrylens.tasks.variables import Variable

SCREENED = 12
"""Pairs that every set is tested on. Of a set that hits in half of them, all are missed once in 4,000 times."""
_EARLY = 8  # pairs after which a set is given up that can no longer reach what is asked of it
_NONE = Rate(0, 0)
_interchange = lru_cache(maxsize=1 << 14)(interchange)


@dataclass(frozen=True, eq=False)
class Stimuli:
    """Effect pairs of a variable, and null pairs with bases of theirs; drawn by `count` and `seed`.

    They are made for the output at place `token`; in searches of earlier versions, where it is None, for all outputs.
    """

    task: Task
    variable: Variable
    effect: Pairs
    null: Pairs
    count: int
    seed: int
    token: int | None = None

    @cached_property
    def expected(self) -> NDArray[np.int8]:
        """The token ids that the base's outputs must have once the variable is the source's."""
        made = self.effect.counterfactual() if self.token is None else self.effect.expected
        return self.task.output_ids(self.effect.base, made)

    def screening(self, count: int) -> tuple[Stimuli, Stimuli]:
        """The first so many effect pairs, and the rest."""
        if count not in self._parts:
            self._parts[count] = (self._part(slice(0, count)), self._part(slice(count, None)))
        return self._parts[count]

    @cached_property
    def _parts(self) -> dict[int, tuple[Stimuli, Stimuli]]:
        return {}

    def _part(self, rows: slice) -> Stimuli:
        effect = self.effect
        part = replace(effect, base=effect.base[rows], source=effect.source[rows], expected=effect.expected[rows])
        return replace(self, effect=part)


@dataclass(frozen=True)
class InterchangeRates:
    """What an interchange of one set does to one output; `token` is the output's place among all."""

    nodes: Nodes
    token: int
    hit: Rate
    null: Rate


@lru_cache(maxsize=1 << 12)
def draw_stimuli(
    task: Task, model: CausalModel, variable: Variable, spec: StimulusSpec, token: int | None = None
) -> Stimuli:
    """As many effect pairs as specified, made for the output at place `token`, and nulls matched to them.

    Without a token, those of earlier versions: pairs in which all outputs take turns, nulls that differ in all else.
    """
    if token is None:
        effect = interchange_pairs(model, variable, spec.count, spec.seed)
        null = null_pairs(model, variable, effect.base, spec.seed + 1)
    else:
        output = model.outputs[token]
        effect = output_pairs(model, variable, output, spec.count, spec.seed)
        null = matched_null(effect, output, spec.seed + 1)
    return Stimuli(task, variable, effect, null, spec.count, spec.seed, token)


def interchanges(sets: Sequence[Nodes], pairs: Pairs, output: int | None = None) -> Call:
    """Each set takes its values from the sources of the pairs; `output` is the only one wanted, if one is named."""
    return Call(tuple(map(_interchange, sets)), pairs.base, (pairs.source,), output=output)


def rate_steps(
    sets: Sequence[Nodes], stimuli: Stimuli, least: int, least_hit: float = 0.0
) -> Steps[list[InterchangeRates]]:
    """Rates of every set and every output that differs in at least `least` effect pairs.

    With `least_hit`, a set that the output never follows on the first pairs is not tested on the rest, and one that
    does not reach `least_hit` is not tested on its null, which then counts no pairs.
    """
    tested = screened_hits if least_hit else hit_steps
    hits = dict(zip(sets, (yield from tested(sets, stimuli, least)), strict=True))
    hitting = [nodes for nodes in sets if any(hit.value >= least_hit for hit in hits[nodes].values())]
    changed: dict[Nodes, list[Rate]] = {}
    if hitting:
        (null,) = yield [interchanges(hitting, stimuli.null, stimuli.token)]
        counts = ([Rate(int(count), len(stimuli.null)) for count in some] for some in null.changed.sum(1))
        changed = dict(zip(hitting, counts, strict=True))
    return [
        InterchangeRates(nodes, token, hit, changed[nodes][token] if nodes in changed else Rate(0, 0))
        for nodes in sets
        for token, hit in hits[nodes].items()
    ]


def hit_steps(sets: Sequence[Nodes], stimuli: Stimuli, least: int) -> Steps[list[dict[int, Rate]]]:
    """For every set, how often each output follows the variable, as `rate_steps` but without the null."""
    if not sets or not len(stimuli.effect):
        return [{} for _ in sets]
    (effect,) = yield [interchanges(sets, stimuli.effect, stimuli.token)]
    return count_hits(effect.tokens, stimuli.expected, _moves(stimuli, effect), least)


def _moves(stimuli: Stimuli, effect: Answered) -> NDArray[np.bool_]:
    # Where an output must become another: what stays did not follow.
    moves = (stimuli.expected != effect.right) & (stimuli.expected != effect.clean_tokens)
    if stimuli.token is None:
        return moves
    return moves & (np.arange(moves.shape[1]) == stimuli.token)


def blurred_sets(sets: Sequence[Nodes], stimuli: Stimuli, effect: Answered, least: int) -> set[Nodes]:
    """The sets that do not tell two values of the variable apart: none of `least` or more pairs of those two follows.

    Such a set carries something coarser. `effect` is what the pairs made for an output answered, set by set.
    """
    assert stimuli.token is not None, "pairs of earlier versions are made for no output"
    values = (stimuli.effect.model.run(side)[stimuli.variable] for side in (stimuli.effect.base, stimuli.effect.source))
    both = np.sort(np.stack(list(values)), axis=0)
    moves = _moves(stimuli, effect)[:, stimuli.token]
    follows = effect.tokens[:, :, stimuli.token] == stimuli.expected[:, stimuli.token]
    found: set[Nodes] = set()
    for one, other in np.unique(both[:, moves], axis=1).T:
        rows = moves & (both[0] == one) & (both[1] == other)
        if least <= rows.sum() < moves.sum():
            found |= {nodes for nodes, each in zip(sets, follows, strict=False) if not each[rows].any()}
    return found


def screened_hits(sets: Sequence[Nodes], stimuli: Stimuli, least: int) -> Steps[list[dict[int, Rate]]]:
    """As `hit_steps`, but a set that the output never follows on the first pairs is not tested on the rest."""
    first, rest = stimuli.screening(SCREENED)
    found = yield from hit_steps(sets, first, 1)
    hitting = [at for at, hits in enumerate(found) if any(hit.hits for hit in hits.values())]
    more = yield from hit_steps([sets[at] for at in hitting], rest, 1)
    for at, hits in zip(hitting, more, strict=True):
        found[at] = {token: found[at].get(token, _NONE) + hits.get(token, _NONE) for token in {**found[at], **hits}}
    least = min(least, len(first.effect))
    return [{token: hit for token, hit in hits.items() if hit.n >= least} for hits in found]


def reaching_sets(sets: Mapping[Nodes, float], stimuli: Stimuli) -> Steps[set[Nodes]]:
    """The sets whose share of pairs that the output follows in is at least what is asked of each.

    A set that misses so often on the first pairs that the rest cannot make up for it is not tested on those.
    """
    first, rest = stimuli.screening(_EARLY)
    token = stimuli.token
    assert token is not None, "pairs of earlier versions are made for no output"
    begun = dict(zip(sets, (yield from hit_steps(list(sets), first, 1)), strict=True))
    early = {nodes: hits.get(token, _NONE) for nodes, hits in begun.items()}
    n_left = len(rest.effect)
    hopeful = [nodes for nodes, hit in early.items() if hit.hits + n_left >= sets[nodes] * (hit.n + n_left)]
    more = yield from hit_steps(hopeful, rest, 1)
    whole = {nodes: early[nodes] + hits.get(token, _NONE) for nodes, hits in zip(hopeful, more, strict=True)}
    return {nodes for nodes, hit in whole.items() if hit.n and hit.value >= sets[nodes]}


def count_hits(
    given: NDArray[np.int8], expected: NDArray[np.int8], moves: NDArray[np.bool_], least: int
) -> list[dict[int, Rate]]:
    """For every edit how often each output is the expected one where it `moves`, in `least` questions or more.

    Axes: `given` [edit, question, token], the others [question, token].
    """
    hit, counts = ((given == expected) & moves).sum(1), moves.sum(0)
    tokens = np.flatnonzero(counts >= least)
    return [{int(token): Rate(int(row[token]), int(counts[token])) for token in tokens} for row in hit]
