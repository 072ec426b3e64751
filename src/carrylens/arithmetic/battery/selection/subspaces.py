"""Subspaces: the few directions of a state within which going to a source's state turns most digits.

Takes  branch pairs with their states at one level, to fit on and to score on.
Gives  for every rank how often digits follow within the best subspace, beside random ones and the whole state.
Never  sees the questions it is scored on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.measures.hit_rates import hit_rate
from carrylens.arithmetic.battery.measures.interchange_rates import ColumnRates
from carrylens.arithmetic.battery.selection.branch_pairs import BranchPairs, Turn
from carrylens.arithmetic.battery.selection.rest_of_model import RestOfModel, StateMatrix, read_level
from carrylens.arithmetic.battery.subject import Subject
from carrylens.discovery.singular_values import singular_values
from carrylens.evidence.rates import Rate

_RATE = 0.03
_STEPS = 40
_MIXES = 4  # random subspaces of each rank, each with its part of the questions
STEP_SHARES = (0.5, 1.0, 1.5, 2.0, 3.0)
"""How far towards the source's state: beyond 1 is past it."""
RANKS = (1, 2, 4, 8, 16)
BASE, SAME, OTHER, NULL = "base", "same operands", "other operands", "null"
_NOTHING = Rate(0, 0)
_NEARLY = 0.95  # of the whole state's share: above it no higher rank is tried


@dataclass(frozen=True)
class RankedSubspace:
    """How often a digit followed within a subspace of one rank; `null` is that of random ones, `ceiling` of the whole
    state.
    """

    turn: Turn
    source: str
    rank: int
    followed: ColumnRates
    ceiling: Rate = _NOTHING


@dataclass(frozen=True, eq=False)
class PairStates:
    """Turns, the states of base and sources at one level, and what the model makes of such states."""

    turns: BranchPairs
    states: Mapping[str, StateMatrix]
    rest: RestOfModel

    def followed(self, name: str) -> NDArray[np.bool_]:
        """Which digits become what the turn makes of them when the whole state is that source's."""
        return np.asarray(self.rest.tokens(self.states[name]) == self.turns.after)


def read_pair_states(subject: Subject, turns: BranchPairs, level: str) -> PairStates:
    """The states of turns where their digit is predicted, at one level."""
    place = subject.predicting(turns.digit)
    asked = {BASE: turns.base, OTHER: turns.other, NULL: turns.null}
    read = {name: (questions, answers(questions)) for name, questions in asked.items()}
    read[SAME] = (turns.same, turns.same_read)
    states = {name: read_level(subject, *each, place, level) for name, each in read.items()}
    return PairStates(turns, states, RestOfModel.of(subject, turns.base, place, level))


def best_subspace(fit: PairStates, start: StateMatrix, source: str, seed: int) -> StateMatrix:
    """An orthonormal basis with as many rows as `start`, from which the descent sets out: the best it came by.

    With sources of other operands each base is given another of them at every step, so that nothing of a source can
    help but what all of them share.
    """
    parts = fit.rest.parts
    given = (fit.states[BASE], fit.states[source], start)
    base, sources, rows = (torch.from_numpy(each).to(parts.device, parts.dtype) for each in given)
    goal, free = torch.from_numpy(fit.turns.after).to(parts.device), rows.T.clone().requires_grad_()
    optimiser = torch.optim.Adam([free], lr=_RATE)
    random = torch.Generator().manual_seed(seed)
    best, least = rows.T, torch.inf
    for _ in range(_STEPS):
        basis = torch.linalg.qr(free)[0]
        drawn = sources
        if source == OTHER:
            drawn = sources[torch.randint(len(base), (len(base),), generator=random)]
        loss = F.cross_entropy(fit.rest.logits(base + (drawn - base) @ basis @ basis.T), goal)
        if (
            float(loss.detach()) < least
        ):  # the start may be best of all: steps are no shorter where little is left to gain
            best, least = basis.detach(), float(loss.detach())
        (free.grad,) = torch.autograd.grad(loss, [free])
        optimiser.step()
    return torch.linalg.qr(best.double())[0].T.cpu().numpy()


def by_rank(
    fits: Sequence[PairStates], tests: Sequence[PairStates], source: str, seed: int
) -> Iterator[RankedSubspace]:
    """How often digits follow within a learned subspace of each rank, all digits together, each with its own subspace.

    Ranks go up until nearly as many digits follow as follow the whole state: that suffices, and higher ones hold it.
    """
    ceiling = _whole(tests)
    for rank in RANKS:
        ours = null = _NOTHING
        for fit, test in zip(fits, tests, strict=True):
            at, start = seed + fit.turns.digit, principal_directions(fit)[:rank]
            best = best_subspace(fit, start, source, at)
            mixes = random_directions(fit, rank, at)
            ours, null = ours + _scored([best], fit, test, source), null + _scored(mixes, fit, test, source)
        yield RankedSubspace(fits[0].turns.turn, source, rank, ColumnRates(ours, null), ceiling)
        if ours.hits >= _NEARLY * ceiling.hits:
            return


def copied_by_rank(fits: Sequence[PairStates], tests: Sequence[PairStates], seed: int) -> Iterator[RankedSubspace]:
    """The same within the first principal directions of the differences, for sources of the same operands."""
    for rank in RANKS:
        ours = null = _NOTHING
        for fit, test in zip(fits, tests, strict=True):
            mixes = random_directions(fit, rank, seed + fit.turns.digit)
            ours += _scored([principal_directions(fit)[:rank]], fit, test, SAME)
            null += _scored(mixes, fit, test, SAME)
        yield RankedSubspace(fits[0].turns.turn, SAME, rank, ColumnRates(ours, null), _whole(tests))


def principal_directions(fit: PairStates) -> StateMatrix:
    """Orthonormal rows: the first holds most of what differs between bases and sources of the same operands."""
    return singular_values(fit.states[SAME] - fit.states[BASE])[2]


def random_directions(fit: PairStates, rank: int, seed: int) -> list[StateMatrix]:
    """Orthonormal bases of random subspaces within the spread of the bases' states."""
    spread, random = fit.states[BASE] - fit.states[BASE].mean(0), np.random.default_rng([seed, rank])
    mixes = [random.standard_normal((rank, len(spread))) @ spread for _ in range(_MIXES)]
    return [np.asarray(np.linalg.qr(mix.T)[0].T) for mix in mixes]


def _whole(some: Sequence[PairStates]) -> Rate:
    return sum((hit_rate(each.followed(SAME)) for each in some), _NOTHING)


def _scored(bases: Sequence[StateMatrix], fit: PairStates, test: PairStates, source: str) -> Rate:
    # By the share that is best on the fitting questions, scored on the others; each base has its part of both.
    total = _NOTHING
    for at, basis in enumerate(bases):
        mine, rows = (np.arange(at, len(each.turns), len(bases)) for each in (fit, test))
        if len(mine) and len(rows):
            hits = [_hits(basis, fit, source, share, mine).sum() for share in STEP_SHARES]
            total += hit_rate(_hits(basis, test, source, STEP_SHARES[int(np.argmax(hits))], rows))
    return total


def _hits(basis: StateMatrix, at: PairStates, source: str, share: float, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    base, way = at.states[BASE][rows], (at.states[source] - at.states[BASE])[rows] @ basis.T @ basis
    return np.asarray(at.rest.tokens(base + share * way, rows) == at.turns.after[rows])
