"""Intervention rows: random interventions on several sites at once, and what a hypothesis predicts for them.

Takes  sites, an operation, a seed; a causal model with its labels.
Gives  `InterventionRows`: a base, two or three sites drawn for each row alone, a source of its own for each site; the
       tokens predicted for every row.
Never  runs a model when it predicts. Rows that share their sites would not be independent, and counts of them would
       look surer than they are.

Each token is predicted by the causal model, run with the values that the moved sites bring for that token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.battery.measures.hit_rates import AnswerTokens
from carrylens.arithmetic.battery.whole_algorithm.interchange_sites import InterchangeSite, SiteLabel
from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.tokens import answer_tokens
from carrylens.arithmetic.variables import SGN, A
from carrylens.interventions.edits import Edit, interchange
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Values
from carrylens.tasks.variables import Variable

_SLOTS = 3


@dataclass(frozen=True, eq=False)
class InterventionRows:
    """Bases, and for each its sites: `chosen` has their numbers, -1 for a slot without one, [row, slot]."""

    sites: tuple[InterchangeSite, ...]
    chosen: NDArray[np.int64]
    base: Questions
    sources: tuple[Questions, ...]

    def __len__(self) -> int:
        return len(self.base)

    def __getitem__(self, rows: NDArray[np.int64]) -> InterventionRows:
        return InterventionRows(self.sites, self.chosen[rows], self.base[rows], tuple(s[rows] for s in self.sources))

    @property
    def edits(self) -> list[Edit]:
        """What is done in each row."""
        edits_by_slot = [[interchange(site.nodes, slot) for site in self.sites] for slot in range(len(self.sources))]
        return [
            sum((edits_by_slot[slot][at] for slot, at in enumerate(row) if at >= 0), Edit(())) for row in self.chosen
        ]

    @property
    def copied(self) -> AnswerTokens:
        """The answers of the sources, -1 where a slot has no site: [slot, row, token]."""
        unused = self.chosen.T[:, :, None] < 0
        return np.where(unused, np.int8(-1), np.stack([answer_tokens(source) for source in self.sources]))


def predict_each(
    model: Algorithm, labels: Mapping[InterchangeSite, SiteLabel], asked: InterventionRows
) -> AnswerTokens:
    """What `predict` says of every row, whose sites differ from row to row."""
    own, brought = model.run(asked.base), [model.run(source) for source in asked.sources]
    answer = {}
    for token in model.outputs:
        forced: dict[Variable, tuple[NDArray[np.bool_], Column]] = {}
        for serving in (False, True):  # a site that serves one digit goes before those that serve all
            for slot, values in enumerate(brought):
                for at, site in enumerate(asked.sites):
                    if (site.digit is not None) is not serving or (serving and token != A[site.digit or 0]):
                        continue
                    rows = asked.chosen[:, slot] == at
                    for variable in labels[site]:
                        if variable != SGN or serving or token == SGN:
                            taken, column = forced.get(variable, (False, own[variable]))
                            forced[variable] = (rows | taken, np.where(rows, values[variable], column))
        answer[token] = _under(model, own, forced, token)
    digits = np.stack([answer[A[k]] for k in range(model.digits + 1)], axis=1)
    return answer_tokens(asked.base, Answers(answer[SGN] == 1, digits))


def _under(
    model: Algorithm, own: Values, forced: Mapping[Variable, tuple[NDArray[np.bool_], Column]], token: Variable
) -> Column:
    # The value of `token` where each variable is forced in some rows. Only what may have changed is computed anew. A
    # digit is made with the sign that was written.
    changed = {variable: column for variable, (_, column) in forced.items() if variable in model.inputs}
    needed = {token, *model.ancestors(token)}
    for mechanism in (each for each in model.mechanisms if each.variable in needed):
        variable, value = mechanism.variable, own[mechanism.variable]
        moves = (variable != SGN or token == SGN) and any(parent in changed for parent in mechanism.parents)
        if moves:
            value = np.asarray(mechanism.rule(*(changed.get(parent, own[parent]) for parent in mechanism.parents)))
        if variable in forced:
            rows, column = forced[variable]
            value = np.where(rows, column, value)
        if moves or variable in forced:
            changed[variable] = value.astype(np.int8)
    return changed.get(token, own[token])


def random_interventions(
    operation: Operation, sites: Sequence[InterchangeSite], digits: int, n: int, seed: int
) -> InterventionRows:
    """Rows with two or three sites each, or with the only one there is."""
    slots = min(_SLOTS, len(sites))
    base, sources = random_pairs(operation, digits, n, slots, seed)
    random = np.random.default_rng([seed, 43])
    chosen = np.argsort(random.random((n, len(sites))), axis=1)[:, :slots]
    chosen[np.arange(slots) >= random.integers(min(2, slots), slots + 1, (n, 1))] = -1
    return InterventionRows(tuple(sites), chosen, base, tuple(sources))


def random_pairs(
    operation: Operation, digits: int, n: int, n_sources: int, seed: int
) -> tuple[Questions, list[Questions]]:
    """Bases, and for each slot sources that have nothing in common with them but the operator."""
    base = Population(PopulationKind.ENRICHED, operation, digits).draw(seed, 0, n)
    sources = []
    for slot in range(n_sources):
        add, sub = (
            Population(PopulationKind.ENRICHED, each, digits).draw(seed + 1 + slot, 0, n)
            for each in (Operation.ADD, Operation.SUB)
        )
        pick = base.minus[:, None]
        first, second = (np.where(pick, getattr(sub, side), getattr(add, side)) for side in ("first", "second"))
        sources.append(Questions(first, second, base.minus))
    return base, sources
