"""Subspaces: the stream where a digit is predicted, what the rest of the model makes of it, its best few directions.

Takes  a model, questions, the place where a digit is predicted, a level of the stream, and the tokens wanted there.
Gives  the states at that place and level; `Rest`, what the model makes of any state put there while all places before
       it stay as they are; an orthonormal basis within which going to a source's state makes most wanted tokens.
Never  sees the questions it is scored on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from carrylens.arithmetic.algorithms import answers
from carrylens.arithmetic.battery.states import read_hooks
from carrylens.arithmetic.battery.subject import Subject
from carrylens.arithmetic.battery.swapping import Swapped
from carrylens.arithmetic.battery.turning import Turn, Turns
from carrylens.arithmetic.questions import Answers, Questions
from carrylens.arithmetic.tokens import encode
from carrylens.evidence.rates import Rate
from carrylens.interventions.parts import LayerParts, Parts, by_head

Matrix = NDArray[np.float64]
Wanted = NDArray[np.int64]
_RATE = 0.03
_STEPS = 40
_ROWS = 256
_MIXES = 4  # random subspaces of each rank, each with its part of the questions
SHARES = (0.5, 1.0, 1.5, 2.0, 3.0)
"""How far towards the source's state: beyond 1 is past it."""
RANKS = (1, 2, 4, 8, 16)
BASE, SAME, OTHER, NULL = "base", "same operands", "other operands", "null"
_NOTHING = Rate(0, 0)
_NEARLY = 0.95  # of the whole state's share: above it no higher rank is tried


def entering(layer: int) -> str:
    """The level of the stream that enters a layer."""
    return f"blocks.{layer}.hook_resid_pre"


def behind_heads(layer: int) -> str:
    """The level of the stream behind a layer's heads."""
    return f"blocks.{layer}.hook_resid_mid"


def read_level(subject: Subject, questions: Questions, given: Answers, place: int, level: str) -> Matrix:
    """The stream at one place and level: axes question, d_model. Questions are read with the answers given."""
    model, found = subject.model, []
    tokens = torch.from_numpy(encode(questions, given))[:, : place + 1].to(model.unembed.W_U.device)
    narrow = level == behind_heads(subject.last_layer)  # the last layer is computed at the place alone
    for chunk in torch.split(tokens, _ROWS):
        with torch.inference_mode():
            _, cache = model.run_with_cache(chunk, [level], positions=[place])
        found.append(cache[level][:, 0 if narrow else place])
    return torch.cat(found).double().cpu().numpy()


@dataclass(frozen=True, eq=False)
class Rest:
    """What a model makes of states at one place from one level on; `past` has for each layer from there on the keys and
    values of all places before, one row for every question.
    """

    parts: Parts
    level: str
    past: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def of(cls, subject: Subject, questions: Questions, place: int, level: str) -> Rest:
        """With the places before as they are for the questions, read with their right answers."""
        parts, first = Parts(subject.model), _reading_from(level)
        layers = range(first, subject.last_layer + 1)
        streams = read_hooks(subject.model, questions, range(place), [entering(layer) for layer in layers])
        past = []
        for layer, stream in zip(layers, streams, strict=True):
            part = parts.layers[layer]
            read = part.norm_in(torch.from_numpy(stream).to(parts.device, parts.dtype))
            past.append((by_head(part.keys(read)).detach(), by_head(part.values(read)).detach()))
        return cls(parts, level, tuple(past))

    def tokens(self, states: Matrix, rows: NDArray[np.int64] | None = None) -> Wanted:
        """The token predicted from each state; `rows` says whose past each has, where not one after the other."""
        given = torch.from_numpy(states).to(self.parts.device, self.parts.dtype)
        with torch.inference_mode():
            rest = self if rows is None else self[torch.from_numpy(rows)]
            return rest.logits(given).argmax(-1).cpu().numpy()

    def __getitem__(self, rows: Tensor) -> Rest:
        return Rest(self.parts, self.level, tuple((keys[rows], values[rows]) for keys, values in self.past))

    def logits(self, states: Tensor) -> Tensor:
        """The scores of each token: axes question, vocab."""
        stream, layers = states[:, None], self.parts.layers
        if self.level.endswith("mid"):
            part = layers[_reading_from(self.level) - 1]
            stream = stream + part.think(part.norm_mid(stream))
        for part, past in zip(layers[len(layers) - len(self.past) :], self.past, strict=True):
            stream = stream + part.write(_attend(part, part.norm_in(stream), *past))
            stream = stream + part.think(part.norm_mid(stream))
        return self.parts.logits(stream)[:, 0]


@dataclass(frozen=True)
class Ranked:
    """How often a digit followed within a subspace of one rank; `null` is that of random ones, `ceiling` of the whole
    state.
    """

    turn: Turn
    source: str
    rank: int
    followed: Swapped
    ceiling: Rate = _NOTHING


@dataclass(frozen=True, eq=False)
class Standing:
    """Turns, the states of base and sources at one level, and what the model makes of such states."""

    turns: Turns
    states: Mapping[str, Matrix]
    rest: Rest

    def followed(self, name: str) -> NDArray[np.bool_]:
        """Which digits become what the turn makes of them when the whole state is that source's."""
        return np.asarray(self.rest.tokens(self.states[name]) == self.turns.after)


def stand(subject: Subject, turns: Turns, level: str) -> Standing:
    """The states of turns where their digit is predicted, at one level."""
    place = subject.predicting(turns.digit)
    asked = {BASE: turns.base, OTHER: turns.other, NULL: turns.null}
    read = {name: (questions, answers(questions)) for name, questions in asked.items()}
    read[SAME] = (turns.same, turns.same_read)
    states = {name: read_level(subject, *each, place, level) for name, each in read.items()}
    return Standing(turns, states, Rest.of(subject, turns.base, place, level))


def best_subspace(fit: Standing, start: Matrix, source: str, seed: int) -> Matrix:
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


def by_rank(fits: Sequence[Standing], tests: Sequence[Standing], source: str, seed: int) -> Iterator[Ranked]:
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
        yield Ranked(fits[0].turns.turn, source, rank, Swapped(ours, null), ceiling)
        if ours.hits >= _NEARLY * ceiling.hits:
            return


def copied_by_rank(fits: Sequence[Standing], tests: Sequence[Standing], seed: int) -> Iterator[Ranked]:
    """The same within the first principal directions of the differences, for sources of the same operands."""
    for rank in RANKS:
        ours = null = _NOTHING
        for fit, test in zip(fits, tests, strict=True):
            mixes = random_directions(fit, rank, seed + fit.turns.digit)
            ours += _scored([principal_directions(fit)[:rank]], fit, test, SAME)
            null += _scored(mixes, fit, test, SAME)
        yield Ranked(fits[0].turns.turn, SAME, rank, Swapped(ours, null), _whole(tests))


def principal_directions(fit: Standing) -> Matrix:
    """Orthonormal rows: the first holds most of what differs between bases and sources of the same operands."""
    return np.asarray(np.linalg.svd(fit.states[SAME] - fit.states[BASE], full_matrices=False)[2])


def random_directions(fit: Standing, rank: int, seed: int) -> list[Matrix]:
    """Orthonormal bases of random subspaces within the spread of the bases' states."""
    spread, random = fit.states[BASE] - fit.states[BASE].mean(0), np.random.default_rng([seed, rank])
    mixes = [random.standard_normal((rank, len(spread))) @ spread for _ in range(_MIXES)]
    return [np.asarray(np.linalg.qr(mix.T)[0].T) for mix in mixes]


def _whole(some: Sequence[Standing]) -> Rate:
    return sum((_rate(each.followed(SAME)) for each in some), _NOTHING)


def _scored(bases: Sequence[Matrix], fit: Standing, test: Standing, source: str) -> Rate:
    # By the share that is best on the fitting questions, scored on the others; each base has its part of both.
    total = _NOTHING
    for at, basis in enumerate(bases):
        mine, rows = (np.arange(at, len(each.turns), len(bases)) for each in (fit, test))
        if len(mine) and len(rows):
            hits = [_hits(basis, fit, source, share, mine).sum() for share in SHARES]
            total += _rate(_hits(basis, test, source, SHARES[int(np.argmax(hits))], rows))
    return total


def _hits(basis: Matrix, at: Standing, source: str, share: float, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    base, way = at.states[BASE][rows], (at.states[source] - at.states[BASE])[rows] @ basis.T @ basis
    return np.asarray(at.rest.tokens(base + share * way, rows) == at.turns.after[rows])


def _attend(part: LayerParts, read: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    # What the heads bring home to one place from those before it and from itself; the former are never copied.
    query, own, value = part.queries(read)[:, 0], part.keys(read)[:, 0], part.values(read)[:, 0]
    before = (keys @ query[..., None])[..., 0]
    pattern = (torch.cat([before, (query * own).sum(-1, keepdim=True)], -1) * query.shape[-1] ** -0.5).softmax(-1)
    return ((pattern[:, :, None, :-1] @ values)[:, :, 0] + pattern[..., -1:] * value)[:, None]


def _reading_from(level: str) -> int:
    # The first layer whose heads still read after this level.
    _, layer, hook = level.split(".")
    return int(layer) + hook.endswith("mid")


def _rate(hits: NDArray[np.bool_]) -> Rate:
    return Rate(int(hits.sum()), len(hits))
