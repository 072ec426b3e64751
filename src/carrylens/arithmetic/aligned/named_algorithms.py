"""Named algorithms: every algorithm that a model can be trained to run, by the name that files have for it.

Takes  an operation and a number of digits.
Gives  the algorithms that answer such questions, in their order.
Never  says which nodes compute what: `sites.py` does.
"""

from __future__ import annotations

from functools import cache

from carrylens.arithmetic import rivals
from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.mixtures import GATED_TENTHS, gated, units_digit_below, weighted_on_some
from carrylens.arithmetic.questions import Operation
from carrylens.errors import CarryLensError, quote


def weighted_by_units(operation: Operation, digits: int, tenths: int) -> Algorithm:
    """The same, but that the first operand's last digit decides.

    >>> weighted_by_units(Operation.ADD, 3, 3).name
    'left-to-right add, weighted-sum on 30% by the units'
    """
    usual = algorithm(operation, digits)
    name = f"{usual.name}, weighted-sum on {tenths}0% by the units"
    return gated(units_digit_below(tenths), usual, rivals.weighted_sum(operation, digits), name)


@cache
def named_algorithms(operation: Operation, digits: int) -> dict[str, Algorithm]:
    """The algorithms for these questions by name, each of which a model that was trained to run another must not hold.

    >>> list(named_algorithms(Operation.SUB, 3))[:2]
    ['left-to-right sub', 'left-to-right sub with binary carries']
    """
    some = [algorithm(operation, digits), rivals.binary_carries(operation, digits)]
    if operation is Operation.ADD:
        some += [rivals.one_layer(digits), rivals.one_layer(digits, sum_nine=True)]
    some += [rivals.weighted_sum(operation, digits)]
    some += [weighted_on_some(operation, digits, tenths) for tenths in GATED_TENTHS]
    return {each.name: each for each in some}


def algorithm_called(name: str, operation: Operation, digits: int) -> Algorithm:
    """The algorithm that has this name."""
    by_units = (weighted_by_units(operation, digits, tenths) for tenths in GATED_TENTHS)
    known = {**named_algorithms(operation, digits), **{each.name: each for each in by_units}}
    if name not in known:
        raise CarryLensError(
            f"{quote(name)} is not an algorithm for {operation.value} that carrylens has. "
            f"Write one of {', '.join(known)}."
        )
    return known[name]
