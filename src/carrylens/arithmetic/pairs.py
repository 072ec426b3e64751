"""Matched pairs: base and source questions made to test what a variable, and nothing else, does.

Takes  a causal model, one of its variables, a number of pairs and a seed.
Gives  effect pairs, where putting the source's value of the variable into the base must change the answer to just the
       counterfactual one, and null pairs, where it must change nothing though the source differs in all else it can.
Never  hands out a pair that it has not checked against the causal model, or one pair twice.

Effect pairs, step by step:
1. Draw bases from the enriched stream.
2. For each, propose sources: the base with some of the columns that the variable depends on drawn anew.
3. Keep a proposal if the variable differs, all of `agree` agrees, and the counterfactual answer is neither the base's
   own nor the one that carrying a variable in `tell_from` would give.
4. Of a base's proposals take the one in which most of the variables agree that are computed from the same inputs, since
   those are the easiest to confuse it with; then most others. They cannot all agree: some must show the difference.
   Each base has one of the answer's tokens assigned, and proposals that show there go first.
5. Order the pairs so that the answer's tokens take turns in being shown: far effects are rare in drawn questions.
   A token of the answer shows in itself alone, so its causes take turns instead (`turns.py`): its own column, the one
   below it, one further down, whose carry is passed on, and the operator.
Null pairs are made likewise: every other digit differs, the variable agrees, and of the proposals the one wins in which
most other variables differ. `Pairs.agreement` says how well either came out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.causal import CausalModel, Values
from carrylens.arithmetic.questions import Answers, Operation, Questions, joined
from carrylens.arithmetic.streams import Stream, StreamKind
from carrylens.arithmetic.turns import N_CAUSES, causes, first_times, taking_turns, tokens_changed
from carrylens.arithmetic.variables import D_PRIME, OPR, SGN, D, Variable
from carrylens.errors import CarryLensError

_PROPOSALS = 32  # per base and round
_ROUNDS = 64
_HOPELESS = 8  # rounds after which, with nothing found, nothing is expected
_HOPELESS_TO_TELL = 2  # fewer where variables are to be told apart, which is tried for thousands of pairs of them
_CHUNK = 1024  # bases at a time at most, to bound memory
_LEAST_CHUNK = 128
_FIRST_OF_ALL = 1 << 40  # more than agreement can ever count
_OTHER = 1 << 20  # from a seed to one that nobody else draws with
_TURNED = 0.25  # of proposals whose operator is the other one, where it has a say


@dataclass(frozen=True, eq=False)
class Pairs:
    """Base and source questions, and what the base must answer once `variable` is set to the source's value."""

    model: CausalModel
    variable: Variable
    base: Questions
    source: Questions
    expected: Answers

    def __len__(self) -> int:
        return len(self.base)

    def agreement(self) -> dict[Variable, float]:
        """For every variable, the share of pairs in which base and source agree in it."""
        base, source = self.model.run(self.base), self.model.run(self.source)
        return {each: float((base[each] == source[each]).mean()) for each in self.model.variables}

    def written(self, variable: Variable | str | None = None) -> Answers:
        """What a reader of the base's right answer must write if it carries `variable`, or the pairs' own.

        Where the source has another sign it was worked out the other way round, so only the sign is asked of such a
        pair: its digits are the base's.
        """
        found = written(self.model, self.variable if variable is None else variable, self.base, self.source)
        if self.variable == SGN or self.model.operation is Operation.ADD:
            return found
        return Answers(found.negative, np.where(self._turned[:, None], self._right.digits, found.digits))

    @cached_property
    def _right(self) -> Answers:
        return self.model.answers(self.base)

    @cached_property
    def _turned(self) -> NDArray[np.bool_]:
        return self.model.answers(self.source).negative != self._right.negative

    def tells_apart(self, other: Variable | str) -> NDArray[np.bool_]:
        """The pairs in which carrying `other` would give another answer than carrying the pairs' own variable."""
        other = Variable.of(other)
        source = self.model.run(self.source, read=[other])
        given = self.model.answers(self.base, do=source.pick(other))
        return np.asarray(tokens_changed(given, self.expected).any(axis=1))


def written(model: CausalModel, variable: Variable | str, base: Questions, source: Questions) -> Answers:
    """What a reader of the base's right answer must write, token by token, once it has the source's `variable`.

    Once a sign stands there, digits are made with that one, even if the variable would have turned it.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import D
    >>> base, source = Questions.parse(["53-21"]), Questions.parse(["13-21"])
    >>> model = algorithm(Operation.SUB, 2)
    >>> model.answers(base, do=model.run(source).pick(D[1])).text(), written(model, D[1], base, source).text()
    (['-008'], ['-092'])
    """
    variable = Variable.of(variable)
    do = model.run(source, read=[variable]).pick(variable)
    plain = model.answers(base, do=do)
    if variable == SGN or SGN not in model.by_variable:
        return plain
    held = model.answers(base, do={**model.run(base, read=[SGN]).pick(SGN), **do})
    return Answers(plain.negative, held.digits)


def swapping_pairs(
    model: CausalModel,
    variable: Variable | str,
    count: int,
    seed: int,
    tell_from: Collection[Variable | str] = (),
    at: int | None = None,
) -> Pairs:
    """Effect pairs for swaps in a network: `count` of one sign, for the digits, and half as many of any, for the sign.

    Where no pair of one sign shows the variable, and in additions, they are just effect pairs. The sign is kept by
    choosing bases in which other columns decide it: a source that kept it by its other columns would have other digits
    and borrows there, and a node that holds some of those beside the variable would bring them along.
    """
    draw = partial(own_pairs, model, variable, tell_from=tell_from, at=at)
    free, wanted = draw(count, seed), count - (-count // 2)
    if model.operation is Operation.ADD or free.variable == SGN:
        return free
    try:
        found = [draw(count, seed, agree=[SGN]), free]
    except CarryLensError:
        return free
    base, source = _distinct(found)
    if len(base) < wanted:  # the variable does not turn the sign, so both have the same pairs
        with suppress(CarryLensError):
            base, source = _distinct([*found, draw(wanted - count, seed + _OTHER)])
    return _pairs(model, free.variable, base[:wanted], source[:wanted])


def _distinct(found: Sequence[Pairs]) -> tuple[Questions, Questions]:
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
    """Effect pairs that differ in the variable's own columns, and in what `tell_from` depends on only if they must.

    To tell a digit from what is made of it and the other operand's, both must change; else it alone does.
    """
    columns = [each.digit for each in model.inputs_of(Variable.of(variable)) if each.digit is not None]
    beside = [digit[k] for k in columns for digit in (D, D_PRIME)] if tell_from else []
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
    """`count` pairs that differ in `variable`, agree in all of `agree`, and must show in the answer.

    Carrying a variable in `tell_from` instead would give another answer: another token `at`, counted from the sign, if
    that is said. Inputs are the same in base and source unless `variable` depends on them, or one of `changing`: all
    variables named, if nothing is said.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import SA, ST
    >>> pairs = effect_pairs(algorithm(Operation.ADD, 6), ST[3], 100, seed=0, agree=[SA[3]])
    >>> shares = pairs.agreement()
    >>> shares[ST[3]], shares[SA[3]], shares[SA[2]]
    (0.0, 1.0, 1.0)
    """
    variable = Variable.of(variable)
    changing = (*agree, *tell_from) if changing is None else changing
    others = [tuple(map(Variable.of, some)) for some in (agree, tell_from, changing)]
    wanted = _Wanted(variable, others[0], others[1], others[2], at)
    _check_readable(model, variable)
    if count < 0:
        raise CarryLensError(f"{count} pairs cannot be drawn. Ask for 0 or more.")
    found = _drawn(model, wanted, count, seed)
    if isinstance(found, Pairs):
        return found
    raise CarryLensError(
        f"{count} pairs that {wanted} were asked for, but only {found} were found among "
        f"{_rounds(wanted, bool(found)) * _CHUNK * _PROPOSALS:,}. Ask for fewer, or name fewer variables."
    )


@lru_cache(maxsize=1 << 14)  # a map of a mixed model tells thousands of pairs of variables apart, three times over
def _drawn(model: CausalModel, wanted: _Wanted, count: int, seed: int) -> Pairs | int:
    # The pairs, or how many there were where that was too few. Searching in vain takes longest, so it is done once.
    stream = Stream(StreamKind.ENRICHED, model.operation, model.digits, seed)
    random = np.random.default_rng([seed, 1])
    found: list[tuple[Questions, Questions]] = []
    start, chunk = 0, _LEAST_CHUNK if wanted.tell_from else _CHUNK
    while start < _rounds(wanted, any(len(kept) for kept, _ in found)) * _CHUNK:
        base = stream.take(start, chunk)
        rows, source, turns = _best_sources(model, wanted, base, random)
        order = taking_turns(turns)
        found.append((base[rows[order]], source[order]))
        bases, sources = (joined(side) for side in zip(*found, strict=True))
        first = first_times(bases, sources)[:count]
        if len(first) == count:
            return _pairs(model, wanted.variable, bases[first], sources[first])
        start, chunk = start + chunk, min(_CHUNK, 2 * chunk)
    return len(first)


def _rounds(wanted: _Wanted, some_found: bool) -> int:
    return _ROUNDS if some_found else _HOPELESS_TO_TELL if wanted.tell_from else _HOPELESS


def null_pairs(
    model: CausalModel, variable: Variable | str, base: Questions, seed: int, *, other_operator: bool = False
) -> Pairs:
    """For every base a source that agrees in `variable`, differs in every other digit, and in most else that it can.

    The operator stays, because a model may carry a variable only where its operation asks for it. `other_operator`
    turns it round, for claims that are meant to hold across operations.

    >>> from carrylens.arithmetic.algorithms import algorithm
    >>> from carrylens.arithmetic.questions import Operation
    >>> from carrylens.arithmetic.variables import ST
    >>> addition = algorithm(Operation.ADD, 6)
    >>> null = null_pairs(addition, ST[3], effect_pairs(addition, ST[3], 100, seed=0).base, seed=0)
    >>> null.agreement()[ST[3]], null.agreement()[D[3]]
    (1.0, 0.0)
    """
    variable = Variable.of(variable)
    model.check(variable)
    random = np.random.default_rng([seed, 2])
    if other_operator and (variable == OPR or model.operation is not Operation.MIX):
        why = f"The operator cannot differ in a null of {variable} in {model.name!r}. Leave it as it is."
        raise CarryLensError(why)
    turned = Questions(base.first, base.second, base.minus ^ other_operator)
    chunks = [slice(at, at + _CHUNK) for at in range(0, max(1, len(base)), _CHUNK)]
    source = [_null_sources(model, variable, base[chunk], turned[chunk], random) for chunk in chunks]
    return Pairs(model, variable, base, joined(source), model.answers(base))


def _check_readable(model: CausalModel, variable: Variable) -> None:
    model.check(variable)
    if not any(variable == answer or variable in model.ancestors(answer) for answer in model.answer_variables):
        why = f"No answer of {model.name!r} depends on {variable}, so no pair can show it. Choose one that is read."
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
    model: CausalModel, wanted: _Wanted, base: Questions, random: np.random.Generator
) -> tuple[NDArray[np.intp], Questions, NDArray[np.bool_]]:
    # Steps 2 to 4 for one chunk: the rows of `base` that have a source, the sources, and what takes turns in them. A
    # base runs once, and each test is put to the proposals that passed the ones before it: few pass them all.
    variable = wanted.variable
    rows = np.repeat(np.arange(len(base)), _PROPOSALS)
    proposed = _changed(model, wanted, base[rows], random)
    is_answer = variable in model.answer_variables
    assigned = random.integers(0, N_CAUSES if is_answer else len(model.answer_variables), len(base))
    before, after = model.run(base), model.run(proposed, read=[variable, *wanted.agree])
    good = before[variable][rows] != after[variable]
    for agreed in wanted.agree:
        good &= before[agreed][rows] == after[agreed]
    rows, proposed = rows[good], proposed[good]
    moved = _counterfactual(model, variable, base[rows], proposed)
    shown = tokens_changed(before.answers()[rows], moved)
    good = np.asarray(shown.any(axis=1))
    for other in wanted.tell_from:
        rows, proposed, moved, shown = rows[good], proposed[good], moved[good], shown[good]
        told = tokens_changed(moved, _counterfactual(model, other, base[rows], proposed))
        good = np.asarray(told.any(axis=1)) if wanted.at is None else told[:, wanted.at]
    rows, proposed, shown = rows[good], proposed[good], shown[good]
    turns = causes(variable, base[rows], proposed) if is_answer else shown
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
    proposed: Questions,
    weights: Mapping[Variable, int] | None = None,
) -> NDArray[np.int64]:
    # How many variables of each proposal agree with its base's, or what they weigh.
    after, n_agreeing = model.run(proposed), np.zeros(len(rows), dtype=np.int64)
    for variable in model.by_variable:
        n_agreeing += (weights[variable] if weights else 1) * (before[variable][rows] == after[variable])
    return n_agreeing


def _null_sources(
    model: CausalModel, variable: Variable, base: Questions, turned: Questions, random: np.random.Generator
) -> Questions:
    first, second = np.array(base.first), np.array(base.second)
    waiting = np.arange(len(base))
    for _ in range(_ROUNDS):
        rows = np.repeat(waiting, _PROPOSALS)
        proposed, before = _all_changed(variable, turned[rows], random), model.run(base)
        good = before[variable][rows] == model.run(proposed, read=[variable])[variable]
        rows, proposed = rows[good], proposed[good]
        best = _best_of(rows, -_n_agreeing(model, before, rows, proposed))
        done, chosen = rows[best], proposed[best]
        first[done], second[done] = chosen.first, chosen.second
        waiting = np.setdiff1d(waiting, done)
        if not len(waiting):
            return Questions(first, second, turned.minus)
    raise CarryLensError(
        f"{base[waiting[:1]].text()[0]!r} has no null source: no other digits were found that leave {variable} as it "
        "is. Use bases in which that variable can come about in more than one way."
    )


def _changed(model: CausalModel, wanted: _Wanted, base: Questions, random: np.random.Generator) -> Questions:
    # One column in half of the proposals, any number of columns in the others; only inputs the variables depend on.
    variable = wanted.variable
    reached = frozenset[Variable]().union(*(model.inputs_of(named) for named in (variable, *wanted.changing)))
    shape = base.first.shape
    one = np.zeros(shape, dtype=np.bool_)
    columns = [k for k in range(base.digits) if D[k] in reached or D_PRIME[k] in reached] or [0]
    one[np.arange(len(base)), random.choice(columns, len(base))] = True
    changes = np.where(random.random((len(base), 1)) < 0.5, one, random.random(shape) < 0.5)
    turned = np.full(len(base), variable == OPR)
    if model.operation is Operation.MIX and OPR in reached and variable != OPR:
        turned = random.random(len(base)) < _TURNED
    anew = partial(random.integers, 0, 10, shape, dtype=np.int8)
    first, second = (
        np.where(changes & [family[k] in reached for k in range(base.digits)], anew(), digits)
        for digits, family in ((base.first, D), (base.second, D_PRIME))
    )
    return Questions(first, second, base.minus ^ turned)


def _all_changed(variable: Variable, base: Questions, random: np.random.Generator) -> Questions:
    shift = random.integers(1, 10, (2, *base.first.shape), dtype=np.int8)
    for side, family in enumerate((D, D_PRIME)):
        if variable.name == family.name:
            shift[side, :, variable.digit] = 0
    first, second = (base.first + shift[0]) % np.int8(10), (base.second + shift[1]) % np.int8(10)
    return Questions(first, second, base.minus)


def _pairs(model: CausalModel, variable: Variable, base: Questions, source: Questions) -> Pairs:
    return Pairs(model, variable, base, source, _counterfactual(model, variable, base, source))


def _counterfactual(model: CausalModel, variable: Variable, base: Questions, source: Questions) -> Answers:
    return model.answers(base, do=model.run(source, read=[variable]).pick(variable))
