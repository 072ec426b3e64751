"""The proof: the left-to-right algorithms are right for every number of digits, by induction over the columns.

Takes  nothing but the causal models themselves; their own rules are what is run.
Gives  the lemmas, each with the number of cases checked; a lemma that fails raises `ProofError` with the case.
Never  samples: every lemma is checked on every case there is.

Write c for what column k hands up. Number the columns so that D = sum of D[k] * 10**k.
1. Units:   A[0] is a digit, SV[0], MV[0] and NV[0] are 0 or 1, and the step's equations hold with nothing from below.
2. Step:    for every digit pair and every incoming carry c: A[k] + 10*SV[k] = D[k] + D'[k] + c. For every digit pair
            and every way the lower columns compare: MV[k] says whether D<D' and NV[k] whether D>D' up to column k,
            and the digit that each would write keeps A[k] - 10*borrow = difference - incoming borrow; with the right
            borrow that makes A[k] a digit. For addition it is checked that A[k] is a digit and SV[k] 0 or 1.
3. Top:     the sign is the last borrow of a subtraction, the leading digit the last carry of an addition.
4. Uniform: column k of the algorithm for n digits is column 1 of the algorithm for 2, moved up: the same rules, the
            same parents; and so for the units and the top. So the lemmas hold for every k of every width taken.
Multiply the step's equations by 10**k and add them up: all carries cancel but the last one, and what remains says that
the answer's digits are those of D+D', D-D' or D'-D. That is the whole theorem, for every n.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.questions import MAX_DIGITS, Operation, Questions
from carrylens.arithmetic.variables import D_PRIME, MV, NV, OPR, SGN, SV, A, D
from carrylens.tasks.causal import Mechanism, Values
from carrylens.tasks.variables import Variable

_Case = NDArray[np.int64]

_STEP = 1  # the column the step is proved at; `uniform` moves it to every other


@dataclass(frozen=True)
class Lemma:
    """One proved statement and how many cases it took."""

    operation: Operation
    name: str
    statement: str
    cases: int


class ProofError(AssertionError):
    """A lemma does not hold: the algorithms as stated are wrong."""


def prove() -> list[Lemma]:
    """Every lemma, checked; raises `ProofError` at the first that fails.

    >>> {lemma.name: lemma.cases for lemma in prove() if lemma.operation is Operation.ADD}
    {'units, addition': 100, 'step, addition': 200, 'top': 2, 'uniform': 4220}
    """
    return [lemma for operation in Operation for lemma in prove_model(algorithm(operation, 2))] + [
        _uniform(operation) for operation in Operation
    ]


def prove_model(model: Algorithm) -> Iterator[Lemma]:
    """The units, step and top lemmas of a two-digit algorithm."""
    if model.operation is not Operation.SUB:
        yield _addition_units(model)
        yield _addition_step(model)
    if model.operation is not Operation.ADD:
        yield _subtraction_units(model)
        yield _subtraction_step(model)
    yield _top(model)


def _addition_units(model: Algorithm) -> Lemma:
    case = _cases(d=10, e=10, **_unread(model, Operation.ADD, 0))
    values = _run_column(model, 0, case, minus=False)
    holds = _adds_up(values, 0, case["d"] + case["e"])
    return _lemma(model, "units, addition", "A[0] + 10*SV[0] = D[0] + D'[0]", holds)


def _addition_step(model: Algorithm) -> Lemma:
    case = _cases(d=10, e=10, carry=2, **_unread(model, Operation.ADD, _STEP))
    values = _run_column(model, _STEP, case, minus=False)
    holds = _adds_up(values, _STEP, case["d"] + case["e"] + case["carry"])
    return _lemma(model, "step, addition", "A[k] + 10*SV[k] = D[k] + D'[k] + SV[k-1]", holds)


def _adds_up(values: Values, k: int, total: _Case) -> NDArray[np.bool_]:
    # A digit and a carry, not merely two numbers with the right sum.
    digit, carry = _wide(values[A[k]]), _wide(values[SV[k]])
    return (digit + 10 * carry == total) & (digit >= 0) & (digit <= 9) & np.isin(carry, (0, 1))


def _subtraction_units(model: Algorithm) -> Lemma:
    case = _cases(d=10, e=10, sign=2, **_unread(model, Operation.SUB, 0))
    values = _run_column(model, 0, case, minus=True)
    return _lemma(model, "units, subtraction", "as the step, with equal lower columns", _compares(values, 0, case))


def _subtraction_step(model: Algorithm) -> Lemma:
    case = _cases(d=10, e=10, order=3, sign=2, **_unread(model, Operation.SUB, _STEP))
    values = _run_column(model, _STEP, case, minus=True)
    statement = "MV[k] is D<D' and NV[k] is D>D' up to k; A[k] - 10*borrow = difference - borrow from below"
    return _lemma(model, "step, subtraction", statement, _compares(values, _STEP, case))


def _compares(values: Values, k: int, case: Mapping[str, _Case]) -> NDArray[np.bool_]:
    d, e = case["d"], case["e"]
    below = case["order"] - 1 if k else np.zeros_like(d)  # the lower columns of D are less than, equal to, more than D'
    now = np.where(d == e, below, np.sign(d - e))
    borrows = (values[MV[k]] == (now < 0)) & (values[NV[k]] == (now > 0))
    positive = _wide(values[A[k]]) - 10 * _wide(values[MV[k]]) == d - e - (below < 0)
    negative = _wide(values[A[k]]) - 10 * _wide(values[NV[k]]) == e - d - (below > 0)
    return borrows & np.where(case["sign"] == 0, positive, negative)


def _top(model: Algorithm) -> Lemma:
    # Every value of the top column's carry and borrow, under every operator the model takes.
    n, holds = model.digits, []
    top = [variable for variable in (SV[n - 1], MV[n - 1]) if variable in model.by_variable]
    _check_local(model, [SGN, A[n]], {OPR, *top})
    for minus in _operators(model):
        for handed_up in product((0, 1), repeat=len(top)):
            do = dict(zip(top, handed_up, strict=True))
            values = model.run(Questions.parse(["0-0" if minus else "0+0"], n), do)
            carry, borrow = do.get(SV[n - 1], 0), do.get(MV[n - 1], 0)
            holds.append(values[SGN][0] == (minus and borrow) and values[A[n]][0] == (not minus and carry))
    statement = "SGN is - exactly when MV[n-1] is 1 in a subtraction; A[n] is SV[n-1] in an addition, else 0"
    return _lemma(model, "top", statement, np.array(holds))


def _uniform(operation: Operation) -> Lemma:
    # Column k of every width, against column 1 of the two-digit algorithm; then its units and its top.
    small = algorithm(operation, 2).by_variable
    proved = {_wiring(mechanism, 0) for mechanism in small.values()}
    holds = []
    for n in range(1, MAX_DIGITS + 1):
        model = algorithm(operation, n)
        holds.append(set(model.by_variable) == _expected_variables(small, n))
        for mechanism in model.mechanisms:
            k = mechanism.variable.index
            rise = 0 if k == 0 else n - 2 if k is None or k == n else k - 1
            holds.append(_wiring(mechanism, rise) in proved)
    statement = f"every column of every width from 1 to {MAX_DIGITS} has the rules and parents proved above"
    return _lemma(algorithm(operation, 2), "uniform", statement, np.array(holds))


def _expected_variables(small: Mapping[Variable, Mechanism], n: int) -> set[Variable]:
    # The two-digit algorithm's units once, its column 1 for every column above them, its top once.
    expected = set()
    for variable in small:
        if variable.index is None or variable.index == 0:
            expected.add(variable)
        elif variable.index == 1:
            expected |= {Variable(variable.name, k) for k in range(1, n)}
        else:
            expected.add(Variable(variable.name, n))
    return expected


def _wiring(mechanism: Mechanism, rise: int) -> tuple[object, ...]:
    # What a mechanism computes, from what and how, with its column counted from `rise`.
    counted = (_counted(variable, rise) for variable in (mechanism.variable, *mechanism.parents))
    return (*counted, mechanism.rule)


def _counted(variable: Variable, rise: int) -> tuple[str, int | None]:
    return variable.name, None if variable.index is None else variable.index - rise


def _cases(**sizes: int) -> dict[str, _Case]:
    # Every combination there is, one row each.
    grid = np.meshgrid(*(np.arange(size) for size in sizes.values()), indexing="ij")
    return {name: axis.ravel() for name, axis in zip(sizes, grid, strict=True)}


def _unread(model: Algorithm, operation: Operation, k: int) -> dict[str, int]:
    # What the other operation hands up in a mixed model: it must not matter, so every value of it is tried.
    if model.operation is not Operation.MIX:
        return {}
    from_below = ({"order": 3} if operation is Operation.ADD else {"carry": 2}) if k else {}
    return from_below | ({"sign": 2} if operation is Operation.ADD else {})


def _run_column(model: Algorithm, k: int, case: Mapping[str, _Case], *, minus: bool) -> Values:
    do: dict[Variable, NDArray[np.generic]] = {D[k]: case["d"], D_PRIME[k]: case["e"]}
    if "sign" in case:
        do[SGN] = case["sign"]
    if "carry" in case and k:
        do[SV[k - 1]] = case["carry"]
    if "order" in case and k:  # by induction MV and NV say how the lower columns compare
        do |= {MV[k - 1]: case["order"] == 0, NV[k - 1]: case["order"] == 2}
    _check_local(model, [family[k] for family in (A, SV, MV, NV) if family[k] in model.by_variable], {OPR, *do})
    blank = np.zeros((len(case["d"]), model.digits), dtype=np.int8)
    return model.run(Questions(blank, blank, np.full(len(blank), minus)), do)


def _check_local(model: Algorithm, read: list[Variable], given: set[Variable]) -> None:
    # A lemma covers every case only if what it reads depends on nothing but what it sets.
    waiting, seen = list(read), set(given)
    while waiting:
        variable = waiting.pop()
        if variable in seen:
            continue
        if variable not in model.by_variable:
            raise ProofError(f"{model.name}: {', '.join(map(str, read))} depend on {variable}, which no lemma covers")
        seen.add(variable)
        waiting.extend(model.by_variable[variable].parents)


def _lemma(model: Algorithm, name: str, statement: str, holds: NDArray[np.bool_]) -> Lemma:
    if not len(holds) or not holds.all():
        case = int(np.argmin(holds)) if len(holds) else 0
        raise ProofError(f"{model.name}: {name} does not hold in case {case} of {len(holds)}: {statement}")
    return Lemma(model.operation, name, statement, len(holds))


def _operators(model: Algorithm) -> tuple[bool, ...]:
    return {Operation.ADD: (False,), Operation.SUB: (True,), Operation.MIX: (False, True)}[model.operation]


def _wide(values: NDArray[np.int8]) -> NDArray[np.int64]:
    return values.astype(np.int64)
