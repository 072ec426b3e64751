"""Arithmetic causal models: any algorithm that adds or subtracts, stated as mechanisms.

Takes  a name, an operation, a number of digits, mechanisms, and families of one's own where there are any.
Gives  `Algorithm`, a causal model that reads questions and gives answers.
Never  says how to add: `algorithms.py` and `rivals.py` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from carrylens.arithmetic.populations import Population, PopulationKind
from carrylens.arithmetic.questions import Answers, Operation, Questions, check_digits, question_inputs
from carrylens.arithmetic.variables import FAMILIES, OPR, SGN, A
from carrylens.errors import CarryLensError
from carrylens.tasks.batches import Batch
from carrylens.tasks.causal import CausalModel, Do, Mechanism
from carrylens.tasks.variables import Family, Variable

_FIXED = {Operation.ADD: ((OPR, 0),), Operation.SUB: ((OPR, 1),), Operation.MIX: ()}


@dataclass(frozen=True, eq=False)
class Algorithm(CausalModel):
    """A causal model of `operation` on operands of `digits` digits; its outputs are a sign and the answer's digits."""

    operation: Operation = Operation.ADD
    digits: int = 1

    def answers(self, questions: Questions, do: Do | None = None) -> Answers:
        """The answers, under `do` if given: the exact counterfactual ones."""
        return Answers.of_outputs(self.output_values(questions, do))

    def check_batch(self, batch: Batch) -> None:
        """Raise a clear error unless these are questions of this width and operation."""
        if isinstance(batch, Questions) and batch.digits != self.digits:
            raise CarryLensError(
                f"{self.name!r} works on {self.digits} digits, but the questions have {batch.digits}. "
                "Build the algorithm for that width."
            )
        if isinstance(batch, Questions) and self.fixed:
            strangers = batch.minus != bool(self.fixed[0][1])
            if strangers.any():
                does, other = ("subtracts", "an addition") if self.fixed[0][1] else ("adds", "a subtraction")
                raise CarryLensError(
                    f"{batch[strangers][:1].text()[0]!r} is {other}, but {self.name!r} only {does}. "
                    "Give it other questions, or use a model or an algorithm for mix."
                )
        super().check_batch(batch)


def state_algorithm(
    name: str,
    operation: Operation,
    digits: int,
    mechanisms: Iterable[Mechanism],
    families: Iterable[Family] = (),
) -> Algorithm:
    """The algorithm that the mechanisms state; `families` are those of variables that carrylens does not have."""
    own = {family.name: family for family in families}
    if taken := sorted(set(own) & set(FAMILIES)):
        raise CarryLensError(f"{taken[0]} is a family that carrylens already has. Give yours another name.")
    known: Mapping[str, Family] = FAMILIES | own
    some = tuple(mechanisms)
    inputs, outputs = question_inputs(check_digits(digits)), answer_outputs(digits)
    named = dict.fromkeys(each.name for each in (*inputs, *(mechanism.variable for mechanism in some), *outputs))
    if unknown := [each for each in named if each not in known]:
        raise CarryLensError(
            f"{name!r} states {unknown[0]}, which is of no family. Declare it: families=[Family(...)]."
        )
    return Algorithm(
        name,
        tuple(known[each] for each in named),
        inputs,
        outputs,
        some,
        _FIXED[operation],
        population=Population(PopulationKind.ENRICHED, operation, digits),
        operation=operation,
        digits=digits,
    )


def restate(model: Algorithm, name: str, mechanisms: Iterable[Mechanism], families: Iterable[Family] = ()) -> Algorithm:
    """Another algorithm for the same questions, with these mechanisms.

    `families` are those of new variables that carrylens does not have; those of the model are known.
    """
    some = tuple(mechanisms)
    named = {each.variable.name for each in some}
    known = {family.name: family for family in (*model.families, *families)}
    own = [family for family in known.values() if family.name in named and family.name not in FAMILIES]
    return state_algorithm(name, model.operation, model.digits, some, own)


def pruned(model: Algorithm) -> Algorithm:
    """The same algorithm without the variables that no answer needs."""
    needed = set(model.outputs).union(*(model.ancestors(output) for output in model.outputs))
    return restate(model, model.name, [each for each in model.mechanisms if each.variable in needed])


def answer_outputs(digits: int) -> tuple[Variable, ...]:
    """The sign and the answer's digits, in the order they are written."""
    return (SGN, *(A[k] for k in range(digits, -1, -1)))
