"""Output pairs: base and source questions made to show what a variable does to one output, and to no earlier one.

Takes  a causal model, one of its variables, one of its outputs, a number of pairs and a seed.
Gives  pairs in which that output is the first to change once the variable has the source's value.
Never  hands out a pair in which an output that is put out before this one gives the change away.

A model reads its own earlier outputs. In a pair in which one of them changes, too, what it has read contradicts the
interchange; and a node of the source has read others than the base's. So here none of them changes, nor differs.

Pairs are sought, not waited for: with twenty columns few drawn questions let the lowest one show at the top.
1. Draw bases, and for each a source that differs only in what the variable depends on, and in the variable.
2. Keep the pairs that do as wanted.
3. In each of the others change the inputs of one index, in base and source alike. Where the change of the variable does
   not get through to the output, it stops at a value with a parent that moved: take an index of its other parents.
   Where it gets through to an earlier output, take one of the other parents of what it went through.
4. Of a few such tries keep the best: the variable still differs, the change gets further, fewer earlier outputs differ.
   Go on with 2.
Of all that are found, those are handed out in which the variable goes from each of its values to each other in turn.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.balance import first_times, in_turns
from carrylens.tasks.batches import Batch, joined
from carrylens.tasks.causal import CausalModel
from carrylens.tasks.grid import InputGrid, grid_of
from carrylens.tasks.pairs import Pairs
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_DRAWN = 512  # bases a round
_BASES = 96  # of them that are worked on, the most promising
_TRIES = 8  # of each, a step
_STEPS = 48
_STUCK = 10  # steps in which nothing was found or gained, after which new bases are drawn
_ROUNDS = 24  # times that bases are drawn anew
_FRUITLESS = 3  # rounds without a new pair after which there are no more
_ANYWHERE = 0.15  # of tries at an index chosen blindly
_SPREAD = 0.35  # of sources that differ at several indices, where the variable has several
_TURNED = 4  # one in so many pairs of an output differs in a switch alone
_SWITCHED = 0.25  # of sources with another value of a switch that the variable depends on

_Rows = NDArray[np.bool_]


@dataclass(frozen=True)
class _Wanted:
    """What a pair must do; `alike` asks that the source's own earlier outputs are the base's, too."""

    model: CausalModel
    variable: Variable
    output: Variable
    tell_from: tuple[Variable, ...] = ()
    changing: tuple[Variable, ...] = ()
    alike: bool = True

    @cached_property
    def blocked(self) -> tuple[Variable, ...]:
        return read_before(self.model, self.variable, self.output)

    @cached_property
    def between(self) -> tuple[Variable, ...]:
        # What lies on a way from the variable to the output or an earlier one, in order; the variable is left out.
        ends = [self.output, *self.blocked]
        above = set(ends).union(*(self.model.ancestors(end) for end in ends))
        return tuple(
            each for each in self.model.by_variable if each in above and self.variable in self.model.ancestors(each)
        )

    def indices_of(self, parent: Variable) -> list[int]:
        """The indices of what a parent is made from."""
        if parent not in self._indices:
            self._indices[parent] = grid_of(self.model).indices_of(self.model.inputs_of(parent))
        return self._indices[parent]

    @cached_property
    def _indices(self) -> dict[Variable, list[int]]:
        return {}

    @cached_property
    def reach(self) -> frozenset[Variable]:
        # What lies on a way to the output itself.
        above = {self.output, *self.model.ancestors(self.output)}
        return frozenset(each for each in self.between if each in above)


def read_before(model: CausalModel, variable: Variable, output: Variable) -> tuple[Variable, ...]:
    """The outputs that are read before `output` is put out, and that must not give a change of `variable` away.

    Where the variable is one of them, it is what is moved, and those after it move with it.
    """
    if not model.fed_back:
        return ()
    before = model.outputs[: model.outputs.index(output)]
    return before[: before.index(variable)] if variable in before else before


def output_pairs(
    model: CausalModel,
    variable: Variable | str,
    output: Variable | str,
    count: int,
    seed: int,
    tell_from: Collection[Variable | str] = (),
) -> Pairs:
    """`count` pairs that differ in `variable`, and in which `output` is the first output that it changes.

    Where there are few questions at all, there may be fewer such pairs: then all that were found. Carrying a variable
    in `tell_from` instead would make the output another one.

    >>> from carrylens.arithmetic import Operation, algorithm
    >>> from carrylens.arithmetic.questions import Questions
    >>> pairs = output_pairs(algorithm(Operation.ADD, 6), "ST[1]", "A[4]", 2, seed=0)
    >>> for side in (pairs.base, pairs.source):
    ...     print(Questions.of_batch(side).text()[0])
    806720+323279=
    806760+323279=
    """
    variable, output = Variable.of(variable), Variable.of(output)
    model.check(variable)
    if output not in model.outputs:
        raise CarryLensError(f"{output} is not an output of {model.name!r}. Choose one of {_named(model.outputs)}.")
    if not _gets_through(model, variable, output):
        raise CarryLensError(
            f"{output} of {model.name!r} does not depend on {variable}, unless by an output before it, so no pair can "
            "show it there. Choose another output."
        )
    found = _sought(_Wanted(model, variable, output, tuple(map(Variable.of, tell_from))), count, seed)
    if found is None:
        told = f" and tell it from {_named(map(Variable.of, tell_from))}" if tell_from else ""
        raise CarryLensError(
            f"No pair was found that differs in {variable}{told} and shows it in {output} before any other output. "
            "Choose another variable or output."
        )
    return found


def mixed_pairs(
    model: CausalModel, variable: Variable, output: Variable, count: int, seed: int, beside: Collection[Variable]
) -> Pairs | None:
    """Pairs as `output_pairs` gives, whose sources may also differ in all that the variables `beside` depend on.

    One draw of them tells a variable from most others; None if there is no such pair.
    """
    return _mixed(_Wanted(model, variable, output, changing=tuple(sorted(beside))), count, seed)


@lru_cache(maxsize=1 << 12)
def _mixed(wanted: _Wanted, count: int, seed: int) -> Pairs | None:
    for alike in (True, False):
        search = _Search(replace(wanted, alike=alike), grid_of(wanted.model), np.random.default_rng([seed, 9]))
        found = search.pairs(count, seed)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=1 << 12)
def shown_outputs(model: CausalModel, variable: Variable) -> tuple[Variable, ...]:
    """The outputs that may be the first to show a variable."""
    found = []
    for output in model.outputs:
        with suppress(CarryLensError):
            found += [output] * bool(len(output_pairs(model, variable, output, 1, 0)))
    return tuple(found)


def _gets_through(model: CausalModel, variable: Variable, output: Variable) -> bool:
    # Whether a way leads from the variable to the output that passes no output that must not change.
    closed = set(_Wanted(model, variable, output).blocked)
    reached = {variable}
    for mechanism in model.mechanisms:
        if mechanism.variable not in closed and not reached.isdisjoint(mechanism.parents):
            reached.add(mechanism.variable)
    return output in reached


@lru_cache(maxsize=1 << 14)
def _sought(wanted: _Wanted, count: int, seed: int) -> Pairs | None:
    # Both sides' earlier outputs are to agree; where that cannot be, those under the interchange alone.
    plain = not wanted.tell_from
    grid, model = grid_of(wanted.model), wanted.model
    indices = {each.index for each in model.inputs_of(wanted.variable) if each.index is not None}
    beside = tuple(each for each in model.inputs if each.index in indices) if not plain else ()
    for alike in (True, False):
        for changing in ((),) if plain else (beside, wanted.tell_from):
            search = _Search(replace(wanted, alike=alike, changing=changing), grid, np.random.default_rng([seed, 6]))
            found = search.pairs(count, seed)
            if found is not None:
                return _with_turned(search, found, count, seed)
    return None


def _with_turned(search: _Search, found: Pairs, count: int, seed: int) -> Pairs:
    # An output may come about in another way once a switch is turned: a quarter of its pairs differ in nothing else.
    if found.variable not in found.model.outputs or not search.switched:
        return found
    search.only_turned = True
    turned = search.pairs(max(1, count // _TURNED), seed)
    if turned is None:
        return found
    base, source = (joined([getattr(each, side) for each in (turned, found)]) for side in ("base", "source"))
    first = first_times(base, source)[:count]
    first = first[np.random.default_rng([seed, 8]).permutation(len(first))]
    return _pairs(found.model, found.variable, base[first], source[first])


class _Search:
    only_turned = False

    def __init__(self, wanted: _Wanted, grid: InputGrid, random: np.random.Generator) -> None:
        self.wanted, self.grid, self.random = wanted, grid, random
        named = (wanted.variable, *wanted.changing)
        reached = frozenset[Variable]().union(*(wanted.model.inputs_of(each) for each in named))
        self.cells = grid.holds(reached)  # [family, index]: where base and source may differ
        self.own = np.flatnonzero(self.cells.any(axis=0))
        self.switched = [each for each in grid.switches if each in reached]

    def pairs(self, count: int, seed: int) -> Pairs | None:
        """The pairs, all that there seem to be if those are fewer, or None."""
        model, population = self.wanted.model, population_of(self.wanted.model)
        kept: list[tuple[Batch, Batch]] = []
        n_found, fruitless = 0, 0
        for at in range(_ROUNDS):
            base, source = self._begun(population.draw(seed, at * _DRAWN, _DRAWN))
            if len(base):
                kept += self._climbed(base, source, count - n_found)
            n_before = n_found
            if kept:
                bases, sources = (joined(side) for side in zip(*kept, strict=True))
                first = first_times(bases, sources)
                first = first[in_turns(self._changes(bases[first], sources[first]))][:count]
                kept, n_found = [(bases[first], sources[first])], len(first)
            fruitless = 0 if n_found > n_before else fruitless + 1
            if n_found == count or fruitless >= (_FRUITLESS if n_found else 1):
                break
        if not n_found:
            return None
        return _pairs(model, self.wanted.variable, *kept[0])

    def _changes(self, base: Batch, source: Batch) -> NDArray[np.int64]:
        # From which value of the variable to which, as one number.
        model, variable = self.wanted.model, self.wanted.variable
        before, after = (model.run(side, read=[variable])[variable].astype(np.int64) for side in (base, source))
        return before * (1 + max(model.values_of(variable))) + after

    def _begun(self, base: Batch) -> tuple[Batch, Batch]:
        # Step 1: each base with one source that differs in the variable, if one of a few proposals does.
        rows = np.repeat(np.arange(len(base)), _TRIES)
        proposed = self._with_source(base[rows])
        variable = self.wanted.variable
        model, read = self.wanted.model, [variable]
        good = model.run(base, read=read)[variable][rows] != model.run(proposed, read=read)[variable]
        good &= model.admits(proposed)
        table = good.reshape(len(base), _TRIES)
        has = np.flatnonzero(table.any(1))
        return base[has], proposed[has * _TRIES + table.argmax(1)[has]]

    def _with_source(self, base: Batch) -> Batch:
        # Sources that differ at one index, or at some, of those that the variable depends on.
        n_rows, random = len(base), self.random
        at = np.zeros((n_rows, self.grid.size), dtype=np.bool_)
        if len(self.own):
            at[np.arange(n_rows), random.choice(self.own, n_rows)] = True
            several = random.random(n_rows) < _SPREAD
            at |= several[:, None] & (random.random(at.shape) < 0.5)
        anew = self.grid.draw_anew(random, n_rows)
        cells = np.where(at & self.cells[:, None, :], anew, self.grid.cells(base))
        surely = self.only_turned or self.wanted.variable in self.switched
        turned = {each: random.random(n_rows) < (1.0 if surely else _SWITCHED) for each in self.switched}
        if self.only_turned:
            return self.grid.with_cells(base, self.grid.cells(base), turned)
        return self.grid.with_cells(base, cells, turned)

    def _climbed(self, base: Batch, source: Batch, count: int) -> list[tuple[Batch, Batch]]:
        # Steps 2 to 4: the pairs found on the way, until they are as many as wanted.
        found: list[tuple[Batch, Batch]] = []
        seen, n_found, stuck, total = _Seen(self.wanted, base, source), 0, 0, -1
        for _ in range(_STEPS):
            good = np.flatnonzero(seen.is_good)
            found.append((seen.base[good], seen.source[good]))
            n_found += len(good)
            left = np.flatnonzero(~seen.is_good)
            seen = seen.rows(left[np.argsort(-seen.score[left], kind="stable")[:_BASES]])
            gained = bool(len(good)) or seen.score.sum() > total
            stuck, total = 0 if gained else stuck + 1, int(seen.score.sum())
            if n_found >= count or stuck == _STUCK or not len(seen.base):
                break
            rows = np.repeat(np.arange(len(seen.base)), _TRIES)
            after = _Seen(self.wanted, *self._varied(seen.base[rows], seen.source[rows], seen.weights[rows]))
            score = after.score.reshape(len(seen.base), _TRIES)
            chosen = np.arange(len(score)) * _TRIES + score.argmax(1)
            seen = seen.with_better(after.rows(chosen))
        return [each for each in found if len(each[0])]

    def _varied(self, base: Batch, source: Batch, weights: NDArray[np.float64]) -> tuple[Batch, Batch]:
        # Both sides with the inputs of one index drawn anew: alike where they agreed, apart where they did not.
        random, grid, n_rows = self.random, self.grid, len(base)
        if not grid.size:
            return base, source
        blind = random.random(n_rows) < _ANYWHERE
        weights = np.where(blind[:, None] | (weights.sum(1, keepdims=True) == 0), 1.0, weights)
        edges = weights.cumsum(1)
        picked = (edges < random.random((n_rows, 1)) * edges[:, -1:]).sum(1)
        at = np.zeros((n_rows, grid.size), dtype=np.bool_)
        at[np.arange(n_rows), np.minimum(picked, grid.size - 1)] = True
        mine, theirs = grid.cells(base), grid.cells(source)
        new, other = grid.draw_anew(random, n_rows), grid.draw_anew(random, n_rows)
        apart = mine != theirs
        return (
            grid.with_cells(base, np.where(at, new, mine)),
            grid.with_cells(source, np.where(at, np.where(apart, other, new), theirs)),
        )


class _Seen:
    """What becomes of pairs: how far the variable's change gets, and which earlier outputs differ."""

    def __init__(self, wanted: _Wanted, base: Batch, source: Batch) -> None:
        model, variable, output = wanted.model, wanted.variable, wanted.output
        earlier = wanted.blocked
        read = {variable, output, *earlier, *wanted.between}
        before, there = model.run(base, read=read), model.run(source, read={variable, *earlier, *wanted.tell_from})
        moved = model.run_again(before, there.pick(variable), read)
        self.wanted, self.base, self.source = wanted, base, source
        self.moved = {each: before[each] != moved[each] for each in wanted.between}
        self.moved[variable] = before[variable] != there[variable]
        admitted = self.moved[variable] & model.admits(base) & model.admits(source)
        self.n_violated = np.zeros(len(base), dtype=np.int64)
        for each in earlier:
            self.n_violated += before[each] != moved[each]
            if wanted.alike:
                self.n_violated += before[each] != there[each]
        self.is_good = np.asarray(admitted & (self.n_violated == 0) & (before[output] != moved[output]))
        for other in wanted.tell_from:
            told = model.run_again(before, there.pick(other), [output])
            self.is_good = self.is_good & (moved[output] != told[output])
        # The change's way to the output counts, and each earlier output that differs costs as much as a step of it.
        steps = np.zeros(len(base), dtype=np.int64)
        for each in wanted.reach:
            steps += self.moved[each]
        self.score = np.where(admitted, 1 + 2 * len(wanted.between) + steps - self.n_violated, 0)

    def rows(self, rows: NDArray[np.intp]) -> _Seen:
        """Some of the pairs."""
        some = copy(self)
        some.base, some.source = self.base[rows], self.source[rows]
        some.moved = {each: moved[rows] for each, moved in self.moved.items()}
        some.n_violated, some.is_good, some.score = self.n_violated[rows], self.is_good[rows], self.score[rows]
        return some

    def with_better(self, other: _Seen) -> _Seen:
        """The pairs, with those of the others in whose place they score no less."""
        new, some = other.score >= self.score, copy(self)
        some.base, some.source = _where(new, other.base, self.base), _where(new, other.source, self.source)
        some.moved = {each: np.where(new, other.moved[each], moved) for each, moved in self.moved.items()}
        some.n_violated = np.where(new, other.n_violated, self.n_violated)
        some.is_good, some.score = np.where(new, other.is_good, self.is_good), np.maximum(other.score, self.score)
        return some

    @property
    def weights(self) -> NDArray[np.float64]:
        """For every pair and index how likely a change there helps."""
        wanted, grid = self.wanted, grid_of(self.wanted.model)
        found = np.zeros((len(self.base), grid.size))
        violated, moved = self.n_violated > 0, self.moved
        reached = moved[wanted.output]
        for each in wanted.between:
            parents = wanted.model.by_variable[each].parents
            some = reduce(np.logical_or, [moved[parent] for parent in parents if parent in moved])
            blamed = np.where(moved[each], violated, some & ~reached & (each in wanted.reach))
            for parent in parents if blamed.any() else ():
                if at := wanted.indices_of(parent):
                    still = blamed & ~moved[parent] if parent in moved else blamed
                    found[:, at] += still[:, None] / len(at)
        return found


def _pairs(model: CausalModel, variable: Variable, base: Batch, source: Batch) -> Pairs:
    do = model.run(source, read=[variable]).pick(variable)
    return Pairs(model, variable, base, source, model.output_values(base, do=do))


def _where(rows: _Rows, new: Batch, old: Batch) -> Batch:
    return old.with_values(np.asfortranarray(np.where(rows[:, None], new.values, old.values)))


def _named(variables: Collection[Variable] | map[Variable]) -> str:
    return ", ".join(map(str, variables))
