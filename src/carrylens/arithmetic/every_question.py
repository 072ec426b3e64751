"""Every question: a population that has each question there is once, in order.

Takes  an operation, a number of digits, and a range of indices.
Gives  the questions of that range.
Never  draws by chance: a test on all of them states a fact, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carrylens.arithmetic.questions import Digits, Operation, Questions, check_digits
from carrylens.errors import CarryLensError
from carrylens.tasks.draws import check_range

EVERY = "every question"
"""What a part of a test is called that has them all."""
MOST = 10**9
"""Of one operation: more would take days."""


@dataclass(frozen=True)
class EveryQuestion:
    """Question i of one operation is i written as two operands, the first one's digits before the second's.

    `small`: only top digits below 5, so that no sum has more digits than its operands.

    >>> every = EveryQuestion(Operation.SUB, digits=2)
    >>> every.count, every.draw(0, 9_907, 2).text()
    (10000, ['99-07=', '99-08='])
    """

    operation: Operation
    digits: int
    small: bool = False

    def __post_init__(self) -> None:
        check_digits(self.digits)
        if self.operation is Operation.MIX:
            raise CarryLensError(
                "Every question can be asked of one operation only. Give Operation.ADD or Operation.SUB."
            )
        if self.count > MOST:
            raise CarryLensError(
                f"There are {self.count:,} questions of {self.digits} digits, more than {MOST:,}. "
                "Test it on populations instead: carrylens test without --exhaustive."
            )

    @property
    def count(self) -> int:
        """How many there are."""
        return self._operands**2

    @property
    def _operands(self) -> int:
        return 10**self.digits // (2 if self.small else 1)

    def draw(self, _seed: int, start: int, count: int) -> Questions:
        """Questions `start` to `start + count - 1`; no seed changes them."""
        check_range((0,), start, count)
        if start + count > self.count:
            raise CarryLensError(f"There are {self.count:,} questions, none after the last. Take fewer.")
        first, second = np.divmod(np.arange(start, start + count, dtype=np.int64), self._operands)
        minus = np.full(count, self.operation is Operation.SUB)
        return Questions(_digits(first, self.digits), _digits(second, self.digits), minus)


def _digits(numbers: NDArray[np.int64], digits: int) -> Digits:
    return (numbers[:, None] // 10 ** np.arange(digits) % 10).astype(np.int8)
