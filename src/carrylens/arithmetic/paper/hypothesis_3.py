"""Hypothesis 3: the paper's pseudo-code for five-digit addition, stated as a causal model.

Takes  a task.
Gives  `hypothesis`, which `carrylens settle MODEL --hypothesis` takes as a file.
Never  differs from the paper's table but in `OWN`, its name for the carry that the place of A2 computes for itself.

It answers as the usual algorithm does. What it says else shows under interventions: A2 takes the carry of column 1 from
`OWN[1]`, and `SV[1]`, which was resolved before, counts only where column 1 leaves the carry open; A1 reads the binary
carry of the units alone; SV[3] is folded from ST[3], ST[2] and SV[1] in one step.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.subtasks import base_add, same, simple_carry, sum_digit, tri_add, tri_carry, zero
from carrylens.arithmetic.task import ArithmeticTask, algorithm_for
from carrylens.arithmetic.variables import COLUMN_KIND, D_PRIME, SA, SC, SGN, ST, SV, TRI_STATE, A, D
from carrylens.claims.hypothesis import Hypothesis
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import Family

NAME = "Hypothesis 3"
OWN = Family(
    "OWN", TRI_STATE, "carry of this column, computed again where A2 is predicted", COLUMN_KIND, labels=("0", "1", "U")
)
_DIGITS = 5


def digit_of_own_carry(base: Column, own: Column, earlier: Column) -> Column:
    """A2: its own carry where that is certain, else the one that was resolved earlier."""
    return sum_digit(base, tri_add(own, earlier))


def fold_two(upper: Column, middle: Column, lower: Column) -> Column:
    """SV[3] in one step: TriAdd(ST[3], TriAdd(ST[2], SV[1]))."""
    return tri_add(upper, tri_add(middle, lower))


def mechanisms() -> Iterator[Mechanism]:
    """Each value of the paper's table, with what it is calculated from."""
    for k in range(_DIGITS):
        yield Mechanism(SA[k], (D[k], D_PRIME[k]), base_add)
    for k in (1, 2, 3, 4):
        yield Mechanism(ST[k], (D[k], D_PRIME[k]), tri_carry)
    yield Mechanism(ST[0], (D[0], D_PRIME[0]), simple_carry)
    yield Mechanism(SC[0], (D[0], D_PRIME[0]), simple_carry)
    yield Mechanism(OWN[1], (D[1], D_PRIME[1]), tri_carry)
    yield Mechanism(SV[1], (ST[1], ST[0]), tri_add)
    yield Mechanism(SV[2], (ST[2], SV[1]), tri_add)
    yield Mechanism(SV[3], (ST[3], ST[2], SV[1]), fold_two)
    yield Mechanism(SV[4], (ST[4], SV[3]), tri_add)
    yield Mechanism(SGN, (), zero)
    yield Mechanism(A[5], (SV[4],), same)
    yield Mechanism(A[4], (SA[4], SV[3]), sum_digit)
    yield Mechanism(A[3], (SA[3], SV[2]), sum_digit)
    yield Mechanism(A[2], (SA[2], OWN[1], SV[1]), digit_of_own_carry)
    yield Mechanism(A[1], (SA[1], SC[0]), sum_digit)
    yield Mechanism(A[0], (SA[0],), same)


def hypothesis(task: ArithmeticTask) -> Hypothesis:
    """What the paper's Hypothesis 3 claims of a five-digit addition."""
    if task.operation is not Operation.ADD or task.digits != _DIGITS:
        raise CarryLensError(f"{NAME} is about {_DIGITS}-digit addition. Name a model that adds {_DIGITS} digits.")
    model = algorithm_for(task, NAME, mechanisms(), (OWN,))
    return Hypothesis(NAME, model, required=("SA", "SC", "ST", "OWN", "SV", "A"), folded=("SV",))
