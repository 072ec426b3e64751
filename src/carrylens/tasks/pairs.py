"""Matched pairs: base and source questions made to test what a variable, and nothing else, does.

Takes  a causal model, one of its variables, a number of pairs and a seed.
Gives  effect pairs, where putting the source's value of the variable into the base must change the outputs to just the
       counterfactual ones, and null pairs, where it must change nothing though the source differs in all else it can.
Never  hands out a pair that it has not checked against the causal model, or one pair twice.

Effect pairs, step by step:
1. Draw bases from the causal model's population.
2. For each, propose sources: the base with some of the inputs that the variable depends on drawn anew.
3. Keep a proposal if the variable differs, all of `agree` agrees, and the counterfactual outputs are neither the base's
   own nor those that carrying a variable in `tell_from` would give.
4. Of a base's proposals take the one in which most of the variables agree that are computed from the same inputs, since
   those are the easiest to confuse it with; then most others. They cannot all agree: some must show the difference.
   Each base has one of the outputs assigned, and proposals that show there go first.
5. Order the pairs so that the outputs take turns in being shown: far effects are rare in drawn questions. An output
   shows in itself alone, so its causes take turns instead (`balance.py`): the inputs of its own index, of the one
   below it, of one further down, and the switches.
Null pairs are made likewise: every other input differs, the variable agrees, and of the proposals the one wins in which
most other variables differ. `Pairs.agreement` says how well either came out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from carrylens.errors import CarryLensError
from carrylens.tasks.balance import N_CAUSES, causes, first_times, taking_turns
from carrylens.tasks.batches import Batch, Columns, joined
from carrylens.tasks.causal import CausalModel, Values
from carrylens.tasks.grid import grid_of
from carrylens.tasks.samplers import population_of
from carrylens.tasks.variables import Variable

_PROPOSALS = 32  # per base and round
_ROUNDS = 64
_HOPELESS = 8  # rounds after which, with nothing found, nothing is expected
_HOPELESS_TO_TELL = 2  # fewer where variables are to be told apart, which is tried for thousands of pairs of them
_FEW_QUESTIONS, _NOTHING_NEW = 4096, 8  # of so few questions, so many rounds without a new pair are the last
_CHUNK = 1024  # bases at a time at most, to bound memory
_LEAST_CHUNK = 128
_FIRST_OF_ALL = 1 << 40  # more than agreement can ever count
_OTHER = 1 << 20  # from a seed to one that nothing else draws with
_TURNED = 0.25  # of proposals with another value of a switch, where it has a say


@dataclass(frozen=True, eq=False)
class Pairs:
    """Base and source questions, and the base's outputs once `variable` is set to the source's value."""

    model: CausalModel
    variable: Variable
    base: Batch
    source: Batch
    expected: Columns

    def __len__(self) -> int:
        return len(self.base)

    def agreement(self) -> dict[Variable, float]:
        """For every variable, the share of pairs in which base and source agree in it."""
        base, source = self.model.run(self.base), self.model.run(self.source)
        return {each: float((base[each] == source[each]).mean()) for each in self.model.variables}

    def counterfactual(self, variable: Variable | str | None = None) -> Columns:
        """What a reader of the base's own outputs must put out if it carries `variable`, or the pairs' own.

        Where the source has another value of an output that others depend on, it was worked out another way, so of
        such a pair only that output is counted: the later ones are the base's.
        """
        wanted = self.variable if variable is None else variable
        found = counterfactual_outputs(self.model, wanted, self.base, self.source, self._own)
        for steering in self.model.steering:
            if self.variable == steering:
                continue
            at = self.model.outputs.index(steering)
            later = np.arange(found.shape[1]) > at
            found = np.where(self._steered[steering][:, None] & later, self._own_outputs, found)
        return found

    @cached_property
    def _own(self) -> Values:
        return self.model.run(self.base, read=self.model.outputs)

    @cached_property
    def _own_outputs(self) -> Columns:
        return self._own.outputs()

    @cached_property
    def _steered(self) -> dict[Variable, NDArray[np.bool_]]:
        # For each output that others depend on, the pairs in which base and source differ in it.
        differs = self.model.output_values(self.source) != self._own_outputs
        return {each: differs[:, self.model.outputs.index(each)] for each in self.model.steering}

    def tells_apart(self, other: Variable | str) -> NDArray[np.bool_]:
        """The pairs in which carrying `other` would give other outputs than carrying the pairs' own variable."""
        other = Variable.of(other)
        source = self.model.run(self.source, read=[other])
        given = self.model.output_values(self.base, do=source.pick(other))
        return np.asarray((given != self.expected).any(axis=1))


def counterfactual_outputs(
    model: CausalModel, variable: Variable | str, base: Batch, source: Batch, own: Values | None = None
) -> Columns:
    """What a reader of the base's own outputs must put out, one by one, once it has the source's `variable`.

    An output that was already put out is held at the base's value for those that follow it, even if the variable would
    have changed it. `own` is a run of the base that was made before, if there is one.
    """
    variable = Variable.of(variable)
    own = model.run(base, read=model.outputs) if own is None else own
    do = model.run(source, read=[variable]).pick(variable)
    plain = model.run_again(own, do, model.outputs).outputs()
    held = [steering for steering in model.steering if steering != variable]
    for steering in held:
        at = model.outputs.index(steering)
        emitted = [each for each in held if model.outputs.index(each) <= at]
        later = np.arange(plain.shape[1]) > at
        plain = np.where(later, model.run_again(own, {**own.pick(*emitted), **do}, model.outputs).outputs(), plain)
    return plain


def interchange_pairs(
    model: CausalModel,
    variable: Variable | str,
    count: int,
    seed: int,
    tell_from: Collection[Variable | str] = (),
    at: int | None = None,
) -> Pairs:
    """Effect pairs for interchange interventions: `count` that agree in the outputs that others depend on, for those
    others, and half as many of any, for those outputs themselves.

    Where no such pair shows the variable, and where no output depends on another, they are just effect pairs. Agreement
    is had by choosing bases in which other inputs decide the output: a source that kept it by its other inputs would
    have other values there, and a node that holds some of those beside the variable would bring them along.
    """
    draw = partial(own_pairs, model, variable, tell_from=tell_from, at=at)
    free, wanted = draw(count, seed), count - (-count // 2)
    if not model.steering or free.variable in model.steering:
        return free
    try:
        found = [draw(count, seed, agree=model.steering), free]
    except CarryLensError:
        return free
    base, source = _distinct(found)
    if len(base) < wanted:  # the variable changes none of those outputs, so both have the same pairs
        with suppress(CarryLensError):
            base, source = _distinct([*found, draw(wanted - count, seed + _OTHER)])
    return _pairs(model, free.variable, base[:wanted], source[:wanted])


def _distinct(found: Sequence[Pairs]) -> tuple[Batch, Batch]:
    base, source = (joined([getattr(pairs, side) for pairs in found]) for side in ("base", "source"))
    first = first_times(base, source)
    return base[first], source[first]


def own_pairs(
    model: CausalModel,
    variable: Variable | str,
    count: int,
    seed: int,
    agree: Collection[Variable | str] = (),
    tell_from: Collection[Variable | str] = (),
    at: int | None = None,
) -> Pairs:
    """Effect pairs that differ in the variable's own inputs, and in what `tell_from` depends on only if they must.

    To tell a digit from what is made of it and the other operand's, both must change; else it alone does.
    """
    indices = {each.index for each in model.inputs_of(Variable.of(variable)) if each.index is not None}
    beside = [each for each in model.inputs if each.index in indices] if tell_from else []
    try:
        return effect_pairs(model, variable, count, seed, agree, tell_from, changing=beside, at=at)
    except CarryLensError:
        if not tell_from:
            raise
        return effect_pairs(model, variable, count, seed, agree, tell_from, changing=tell_from, at=at)


def effect_pairs(
    model: CausalModel,
    variable: Variable | str,
    count: int,
    seed: int,
    agree: Collection[Variable | str] = (),
    tell_from: Collection[Variable | str] = (),
    *,
    changing: Collection[Variable | str] | None = None,
    at: int | None = None,
) -> Pairs:
    """`count` pairs that differ in `variable`, agree in all of `agree`, and must show in the outputs.

    Where there are few questions at all, there may be fewer such pairs: then all of them.

    Carrying a variable in `tell_from` instead would give other outputs: another one `at`, if that is said. Inputs are
    the same in base and source unless `variable` depends on them, or one of `changing`: all variables named, if nothing
    is said.
    """
    variable = Variable.of(variable)
    changing = (*agree, *tell_from) if changing is None else changing
    others = [tuple(map(Variable.of, some)) for some in (agree, tell_from, changing)]
    wanted = _Wanted(variable, others[0], others[1], others[2], at)
    _check_readable(model, variable)
    if count < 0:
        raise CarryLensError(f"{count} pairs cannot be drawn. Give 0 or more.")
    found = _drawn(model, wanted, count, seed)
    if isinstance(found, Pairs):
        return found
    raise CarryLensError(
        f"{count} pairs that {wanted} were wanted, but only {found} were found among "
        f"{_rounds(wanted, bool(found)) * _CHUNK * _PROPOSALS:,}. Give a smaller number, or name fewer variables."
    )


@lru_cache(maxsize=1 << 14)  # a map of a mixed model tells thousands of pairs of variables apart, three times over
def _drawn(model: CausalModel, wanted: _Wanted, count: int, seed: int) -> Pairs | int:
    # The pairs, or how many there were where that was too few. Searching in vain takes longest, so it is done once.
    population = population_of(model)
    random = np.random.default_rng([seed, 1])
    found: list[tuple[Batch, Batch]] = []
    start, chunk = 0, _LEAST_CHUNK if wanted.tell_from else _CHUNK
    patience, n_known = _NOTHING_NEW if grid_of(model).n_questions <= _FEW_QUESTIONS else _ROUNDS, 0
    while start < _rounds(wanted, any(len(kept) for kept, _ in found)) * _CHUNK:
        base = population.draw(seed, start, chunk)
        rows, source, turns = _best_sources(model, wanted, base, random)
        order = taking_turns(turns)
        found.append((base[rows[order]], source[order]))
        bases, sources = (joined(side) for side in zip(*found, strict=True))
        first = first_times(bases, sources)[:count]
        if len(first) == count:
            return _pairs(model, wanted.variable, bases[first], sources[first])
        patience, n_known = max(0, patience - (len(first) == n_known)), len(first)
        if not patience and len(first):  # these are all that there are
            return _pairs(model, wanted.variable, bases[first], sources[first])
        start, chunk = start + chunk, min(_CHUNK, 2 * chunk)
    return len(first)


def _rounds(wanted: _Wanted, some_found: bool) -> int:
    return _ROUNDS if some_found else _HOPELESS_TO_TELL if wanted.tell_from else _HOPELESS


def null_pairs(model: CausalModel, variable: Variable | str, base: Batch, seed: int, *, turned: bool = False) -> Pairs:
    """For every base a source that agrees in `variable`, differs in every other indexed input, and in most else.

    Switches stay, because a model may carry a variable only where its operation asks for it. `turned` turns them, for
    claims that are meant to hold whatever they are.
    """
    variable = Variable.of(variable)
    model.check(variable)
    random, grid = np.random.default_rng([seed, 2]), grid_of(model)
    if turned and (variable in grid.switches or not grid.switches):
        raise CarryLensError(f"No switch can be turned in a null of {variable} in {model.name!r}. Leave it as it is.")
    rows = np.full(len(base), turned)
    other = grid.with_cells(base, grid.cells(base), dict.fromkeys(grid.switches, rows))
    chunks = [slice(at, at + _CHUNK) for at in range(0, max(1, len(base)), _CHUNK)]
    source = [_null_sources(model, variable, base[chunk], other[chunk], random) for chunk in chunks]
    return Pairs(model, variable, base, joined(source), model.output_values(base))


def _check_readable(model: CausalModel, variable: Variable) -> None:
    model.check(variable)
    if not any(variable == output or variable in model.ancestors(output) for output in model.outputs):
        why = f"No output of {model.name!r} depends on {variable}, so no pair can show it. Choose one that is read."
        raise CarryLensError(why)


@dataclass(frozen=True)
class _Wanted:
    variable: Variable
    agree: tuple[Variable, ...]
    tell_from: tuple[Variable, ...]
    changing: tuple[Variable, ...]
    at: int | None

    def __str__(self) -> str:
        agreeing = f" and agree in {', '.join(map(str, self.agree))}" if self.agree else ""
        telling = f" and tell it from {', '.join(map(str, self.tell_from))}" if self.tell_from else ""
        return f"differ in {self.variable}{agreeing}{telling}"


def _best_sources(
    model: CausalModel, wanted: _Wanted, base: Batch, random: np.random.Generator
) -> tuple[NDArray[np.intp], Batch, NDArray[np.bool_]]:
    # Steps 2 to 4 for one chunk: the rows of `base` that have a source, the sources, and what takes turns in them. A
    # base runs once, and each test is put to the proposals that passed the ones before it: few pass them all.
    variable = wanted.variable
    rows = np.repeat(np.arange(len(base)), _PROPOSALS)
    proposed = _changed(model, wanted, base[rows], random)
    is_output = variable in model.outputs
    assigned = random.integers(0, N_CAUSES if is_output else len(model.outputs), len(base))
    before, after = model.run(base), model.run(proposed, read=[variable, *wanted.agree])
    good = (before[variable][rows] != after[variable]) & model.admits(proposed)
    for agreed in wanted.agree:
        good &= before[agreed][rows] == after[agreed]
    rows, proposed = rows[good], proposed[good]
    moved = _counterfactual(model, variable, base[rows], proposed)
    shown = before.outputs()[rows] != moved
    good = np.asarray(shown.any(axis=1))
    for other in wanted.tell_from:
        rows, proposed, moved, shown = rows[good], proposed[good], moved[good], shown[good]
        told = moved != _counterfactual(model, other, base[rows], proposed)
        good = np.asarray(told.any(axis=1)) if wanted.at is None else told[:, wanted.at]
    rows, proposed, shown = rows[good], proposed[good], shown[good]
    turns = causes(grid_of(model), variable, base[rows], proposed) if is_output else shown
    siblings = {other for other in model.by_variable if model.inputs_of(other) == model.inputs_of(variable)}
    weights = {other: 1 + len(model.by_variable) * (other in siblings) for other in model.by_variable}
    score = _n_agreeing(model, before, rows, proposed, weights)
    score += _FIRST_OF_ALL * turns[np.arange(len(rows)), assigned[rows]]
    best = _best_of(rows, score)
    return rows[best], proposed[best], turns[best]


def _best_of(rows: NDArray[np.intp], score: NDArray[np.int64]) -> NDArray[np.intp]:
    # For each row its proposal with the highest score; of equals, the one proposed first.
    order = np.lexsort((-score, rows))
    return order[np.flatnonzero(np.diff(rows[order], prepend=-1))]


def _n_agreeing(
    model: CausalModel,
    before: Values,
    rows: NDArray[np.intp],
    proposed: Batch,
    weights: Mapping[Variable, int] | None = None,
) -> NDArray[np.int64]:
    # How many variables of each proposal agree with its base's, or what they weigh.
    after, n_agreeing = model.run(proposed), np.zeros(len(rows), dtype=np.int64)
    for variable in model.by_variable:
        n_agreeing += (weights[variable] if weights else 1) * (before[variable][rows] == after[variable])
    return n_agreeing


def _null_sources(
    model: CausalModel, variable: Variable, base: Batch, other: Batch, random: np.random.Generator
) -> Batch:
    values, waiting = np.array(other.values, order="F"), np.arange(len(base))
    for _ in range(_ROUNDS):
        rows = np.repeat(waiting, _PROPOSALS)
        proposed, before = _all_changed(model, variable, other[rows], random), model.run(base)
        good = (before[variable][rows] == model.run(proposed, read=[variable])[variable]) & model.admits(proposed)
        good &= (proposed.values != base.values[rows]).any(axis=1)
        rows, proposed = rows[good], proposed[good]
        best = _best_of(rows, -_n_agreeing(model, before, rows, proposed))
        done, chosen = rows[best], proposed[best]
        values[done] = chosen.values
        waiting = np.setdiff1d(waiting, done)
        if not len(waiting):
            return other.with_values(values)
    first = base[int(waiting[0])]
    said = " ".join(f"{each}={model.family(each).label(int(first.column(each)[0]))}" for each in model.inputs)
    raise CarryLensError(
        f"The question {said} has no null source: no other inputs were found that leave {variable} as it is. Use bases "
        "in which that variable can come about in more than one way."
    )


def _changed(model: CausalModel, wanted: _Wanted, base: Batch, random: np.random.Generator) -> Batch:
    # The inputs of one index in half of the proposals, of any number in the others; only those the variables depend on.
    variable, grid = wanted.variable, grid_of(model)
    reached = frozenset[Variable]().union(*(model.inputs_of(named) for named in (variable, *wanted.changing)))
    shape = (len(base), grid.size)
    one = np.zeros(shape, dtype=np.bool_)
    picked = random.choice(grid.indices_of(reached) or [0], len(base))
    if grid.size:
        one[np.arange(len(base)), picked] = True
    changes = np.where(random.random((len(base), 1)) < 0.5, one, random.random(shape) < 0.5)
    turned = {variable: np.ones(len(base), dtype=np.bool_)} if variable in grid.switches else {}
    for switch in grid.switches if not turned else ():
        if switch in reached:
            turned[switch] = random.random(len(base)) < _TURNED
    anew = grid.draw_anew(random, len(base))
    cells = np.where(changes & grid.holds(reached)[:, None, :], anew, grid.cells(base))
    return grid.with_cells(base, cells, turned)


def _all_changed(model: CausalModel, variable: Variable, base: Batch, random: np.random.Generator) -> Batch:
    grid = grid_of(model)
    steps = np.where(
        grid.holds({variable})[:, None, :], np.int8(0), grid.draw_steps(random, len(base), two_may_stay=True)
    )
    return grid.with_cells(base, grid.stepped(grid.cells(base), steps))


def _pairs(model: CausalModel, variable: Variable, base: Batch, source: Batch) -> Pairs:
    return Pairs(model, variable, base, source, _counterfactual(model, variable, base, source))


def _counterfactual(model: CausalModel, variable: Variable, base: Batch, source: Batch) -> Columns:
    return model.output_values(base, do=model.run(source, read=[variable]).pick(variable))
