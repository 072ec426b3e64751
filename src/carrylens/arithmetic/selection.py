"""Selection first: the left-to-right algorithms, choosing digit and borrow before they are put together.

Takes  an algorithm that subtracts, or its hypothesis.
Gives  the same with two more variables for each answer digit: the column's digit that is used, and the carry or borrow
       that is used. Operator and sign choose these; the digit is then made of the two.
Never  gives another answer.

Stated as in the paper, both differences and both borrows reach the place of a digit, and the sign chooses there. A
network may as well bring just what the sign has chosen. The two are one algorithm in another order, so a model is held
against both, and its record says which one it follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from carrylens.arithmetic.algorithm_model import Algorithm, pruned, restate
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.subtasks import difference_digit, sum_digit
from carrylens.arithmetic.variables import (
    BINARY,
    DIGIT,
    DIGIT_KIND,
    MD,
    MV,
    ND,
    NV,
    OPR,
    RESOLVED_KIND,
    SA,
    SGN,
    SV,
    A,
)
from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import Family, Variable

XD = Family("XD", DIGIT, "the column's digit that the answer is made of: SA, MD or ND", DIGIT_KIND, title="used digit")
XV = Family("XV", BINARY, "the carry or borrow that the answer is made of", RESOLVED_KIND, title="used carry")

_STILL = ("ST", "MB", "NB", "SGN", "XD", "XV", "A")  # families that are required in this form, too
_INPUTS = ("OPR", "D", "D'")


def selected_first(stated: Hypothesis) -> tuple[Hypothesis, ...]:
    """The same hypothesis with digit and borrow chosen first; none where there is nothing to choose."""
    model = stated.model
    if not isinstance(model, Algorithm) or model.operation is Operation.ADD:
        return ()
    chosen = select_first(model)
    known = {each.name for each in chosen.by_variable}
    form = replace(
        stated,
        name=chosen.name,
        model=chosen,
        required=tuple(each for each in (*stated.required, XD.name, XV.name) if each in _STILL and each in known),
        optional=tuple(each for each in stated.optional if each in _INPUTS),
        folded=tuple(each for each in (XV.name,) if each in known),
    )
    return (form,)


@cache
def select_first(model: Algorithm) -> Algorithm:
    """The algorithm with the used digit and the used carry as variables of their own.

    >>> from carrylens.arithmetic import Questions, algorithm
    >>> chosen = select_first(algorithm(Operation.MIX, 3))
    >>> chosen.answers(Questions.parse(["325-329", "555+448"])).text()
    ['-0004', '+1003']
    >>> chosen.answers(Questions.parse(["325-329"]), do={"XV[0]": 1}).text()
    ['-0094']
    """
    return pruned(restate(model, f"{model.name}, selected first", _mechanisms(model), (XD, XV)))


def _mechanisms(model: Algorithm) -> Iterator[Mechanism]:
    mixed = model.operation is Operation.MIX
    for each in model.mechanisms:
        k = each.variable.index
        if each.variable.name != A.name or k is None or k == model.digits:
            yield each
            continue
        yield Mechanism(XD[k], _parents(mixed, SA[k], MD[k], ND[k]), _chosen if mixed else _by_sign)
        if k:
            yield Mechanism(XV[k - 1], _parents(mixed, SV[k - 1], MV[k - 1], NV[k - 1]), _chosen if mixed else _by_sign)
        used = (XD[k], *XV.below(k))
        yield Mechanism(A[k], (OPR, *used) if mixed else used, _put_together if mixed else _difference)


def _parents(mixed: bool, added: Variable, positive: Variable, negative: Variable) -> tuple[Variable, ...]:
    return (OPR, SGN, added, positive, negative) if mixed else (SGN, positive, negative)


def _by_sign(sign: Column, positive: Column, negative: Column) -> Column:
    return np.where(sign == 0, positive, negative)


def _chosen(operator: Column, sign: Column, added: Column, positive: Column, negative: Column) -> Column:
    return np.where(operator == 0, added, _by_sign(sign, positive, negative))


def _difference(digit: Column, borrow: Column | int = 0) -> Column:
    return difference_digit(np.zeros_like(digit), digit, digit, borrow, borrow)


def _put_together(operator: Column, digit: Column, carry: Column | int = 0) -> Column:
    return np.where(operator == 0, sum_digit(digit, carry), _difference(digit, carry))
