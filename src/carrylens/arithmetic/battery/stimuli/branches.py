"""Branches: the three ways the algorithm takes.

Takes  an operation.
Gives  `Branch`: a sum, a difference that is not negative, a negative one; the sub-tasks that belong to each.
Never  draws a question.
"""

from __future__ import annotations

from enum import Enum

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.variables import MB, MV, NB, NV, ST, SV
from carrylens.tasks.variables import Family


class Branch(Enum):
    """Which of its three ways the algorithm takes: a sum, a difference that is not negative, a negative one."""

    ADD = "add"
    POSITIVE = "positive"
    NEGATIVE = "negative"

    @property
    def operation(self) -> Operation:
        """The operation whose questions take this branch."""
        return Operation.ADD if self is Branch.ADD else Operation.SUB

    @property
    def family(self) -> Family:
        """What a column says about its carry, or its borrow, on this branch."""
        return {Branch.ADD: ST, Branch.POSITIVE: MB, Branch.NEGATIVE: NB}[self]

    @property
    def resolved(self) -> Family:
        """The carry, or borrow, out of a column once those below it are resolved."""
        return {Branch.ADD: SV, Branch.POSITIVE: MV, Branch.NEGATIVE: NV}[self]

    def top(self, digits: int) -> int:
        """The highest digit of the answer that can be anything but 0."""
        return digits if self is Branch.ADD else digits - 1


def branches_of(operation: Operation) -> tuple[Branch, ...]:
    """The branches that questions of an operation take.

    >>> [branch.value for branch in branches_of(Operation.SUB)]
    ['positive', 'negative']
    """
    return tuple(branch for branch in Branch if operation in (Operation.MIX, branch.operation))
