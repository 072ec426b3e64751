"""Own variables: state a hypothesis about variables that carrylens does not have, map a model for them, judge it.

    python examples/own_variable.py

`hypothesis` is all that a hypothesis file needs; `carrylens map` and `carrylens judge` take it as --hypothesis FILE. It
says that a model adds with two values of each column: the class of the sum (below 9, 9, above 9), and whether the sum
is even or odd. Run as a script, it plants a circuit that adds from left to right, in which the first is true and the
second is not, maps the circuit for these variables, and prints the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator

from carrylens.arithmetic.subtasks import same, zero
from carrylens.arithmetic.task import ArithmeticTask, algorithm_for
from carrylens.arithmetic.variables import D_PRIME, SGN, A, D
from carrylens.claims.hypothesis import Hypothesis
from carrylens.tasks.batches import Column
from carrylens.tasks.causal import Mechanism
from carrylens.tasks.variables import Family

# A family declares its values, numbered from 0, and what they mean. Nothing lies below the units, so 9 is low there.
CLS = Family("CLS", (0, 1, 2), "class of the column's sum", labels=("below 9", "9", "above 9"), first_values=(0, 2))
CAR = Family("CAR", (0, 1), "carry out of the column, all lower columns resolved")
PAR = Family("PAR", (0, 1), "parity of the column's sum", labels=("even", "odd"))
HLF = Family("HLF", (0, 1, 2, 3, 4), "half of the column's digit, rounded down")


def sum_class(d: Column, e: Column) -> Column:
    """0 below 9, 1 at 9, 2 above."""
    return (d + e >= 9) * 1 + (d + e >= 10)


def units_class(d: Column, e: Column) -> Column:
    """0 up to 9, 2 above."""
    return (d + e >= 10) * 2


def carry(column: Column, below: Column | int = 0) -> Column:
    """A column above 9 carries; one of 9 passes on what comes from below."""
    return (column == 2) | ((column == 1) & (below == 1))


def parity(d: Column, e: Column) -> Column:
    """1 if the sum is odd."""
    return (d + e) % 2


def half(d: Column, e: Column) -> Column:
    """Half of the sum's last digit."""
    return (d + e) % 10 // 2


def digit(halved: Column, odd: Column, below: Column | int = 0) -> Column:
    """The answer's digit."""
    return (2 * halved + odd + below) % 10


def mechanisms(digits: int) -> Iterator[Mechanism]:
    """Each variable with its parents and its rule, every one after its parents."""
    for k in range(digits):
        column = (D[k], D_PRIME[k])
        yield Mechanism(CLS[k], column, sum_class if k else units_class)
        yield Mechanism(PAR[k], column, parity)
        yield Mechanism(HLF[k], column, half)
        yield Mechanism(CAR[k], (CLS[k], *CAR.below(k)), carry)
    yield Mechanism(SGN, (), zero)
    yield Mechanism(A[digits], (CAR[digits - 1],), same)
    for k in range(digits):
        yield Mechanism(A[k], (HLF[k], PAR[k], *CAR.below(k)), digit)


def hypothesis(task: ArithmeticTask) -> Hypothesis:
    """What is claimed of a model for this task."""
    families = (CLS, CAR, PAR, HLF)
    model = algorithm_for(task, "class and parity", mechanisms(task.digits), families)
    return Hypothesis(
        "class and parity",
        model,
        required=("CLS", "PAR", "A"),
        places={"PAR": lambda k: [f"D'{k}"]},
    )


def main(digits: int = 2) -> list[str]:
    """The lines that are printed: the verdict on each claim that a variable is carried."""
    from carrylens.arithmetic.planted.dials import describe
    from carrylens.arithmetic.planted.planting import plant
    from carrylens.arithmetic.questions import Operation
    from carrylens.arithmetic.task import arithmetic_task
    from carrylens.claims.judgement import judge
    from carrylens.discovery.node_search import MapSettings, map_model

    task = arithmetic_task(Operation.ADD, digits)
    mine = hypothesis(task)
    model = plant(describe(Operation.ADD, digits)).model
    found = map_model(model, "planted", task, MapSettings(), causal=mine.model).map
    judgement = judge(found, mine)
    carried = [each for each in judgement.findings if each.claim.variable is not None]
    return [f"{each.verdict.value:<12}  {each.claim.name}: {each.why}" for each in carried]


if __name__ == "__main__":
    for line in main():
        print(line)  # noqa: T201
