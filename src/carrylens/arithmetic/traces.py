"""Traces: one question followed through its algorithm, as the paper's two algorithm figures do.

Takes  one question as text.
Gives  `Trace`: every variable's value, and what was known of it at each position.
Never  draws: `report/` does.

A trace has one chain for an addition. A subtraction has the chain of D-D', which ends in the sign; where the answer is
negative, its digits come from a second chain, that of D'-D.
"""

from __future__ import annotations

from dataclasses import dataclass

from carrylens.arithmetic.algorithm_model import Algorithm
from carrylens.arithmetic.algorithms import algorithm
from carrylens.arithmetic.classes import QuestionClass, classify
from carrylens.arithmetic.questions import Answers, Operation, Questions
from carrylens.arithmetic.timeline import timeline
from carrylens.arithmetic.variables import MB, MD, MV, NB, ND, NV, SA, SGN, ST, SV
from carrylens.tasks.variables import UNKNOWN, Family, Variable


@dataclass(frozen=True)
class TraceChain:
    """The families of one carry or borrow chain, and what it decides."""

    base: Family
    tri: Family
    resolved: Family
    decides: str


_ADDITION = TraceChain(SA, ST, SV, "the answer's digits")
_POSITIVE = TraceChain(MD, MB, MV, "the sign and the answer's digits")
_SIGN_ONLY = TraceChain(MD, MB, MV, "the sign")
_NEGATIVE = TraceChain(ND, NB, NV, "the answer's digits")


@dataclass(frozen=True, eq=False)
class Trace:
    """One question at work, as it was `given` and as it is padded to width.

    `known[v][p]` is the value of variable v if position p settles it, else UNKNOWN.
    """

    model: Algorithm
    given: str
    question: str
    answer: str
    question_class: QuestionClass
    depths: dict[str, int | None]
    values: dict[Variable, int]
    known: dict[Variable, list[int]]

    @property
    def digits(self) -> int:
        """How many digits each operand has."""
        return self.model.digits

    @property
    def chains(self) -> tuple[TraceChain, ...]:
        """What the trace shows, in order; the last chain gives the answer's digits."""
        if self.model.operation is Operation.ADD:
            return (_ADDITION,)
        return (_SIGN_ONLY, _NEGATIVE) if self.values[SGN] else (_POSITIVE,)

    def settled_at(self, variable: Variable) -> int:
        """The first position at which `variable` is known."""
        return next(position for position, value in enumerate(self.known[variable]) if value != UNKNOWN)


def trace(text: str, digits: int | None = None) -> Trace:
    """The question `text`, padded to `digits`, followed through its algorithm.

    >>> found = trace("555+448")
    >>> found.answer, found.question_class.name, found.depths["cascade_depth"], found.settled_at(SV[2])
    ('+1003', 'S3', 2, 6)
    """
    questions = Questions.parse([text], digits)
    model = algorithm(Operation.SUB if questions.minus[0] else Operation.ADD, questions.digits)
    values, labels = model.run(questions), classify(questions)
    known = timeline(model, questions)
    return Trace(
        model=model,
        given=text.strip(),
        question=questions.text()[0],
        answer=Answers.of_outputs(values.outputs()).text()[0],
        question_class=labels.classes()[0],
        depths=labels.depths(0),
        values={variable: int(values[variable][0]) for variable in model.variables},
        known={variable: known.settled(variable)[0].tolist() for variable in model.variables},
    )


def answer_parts(found: Trace, k: int) -> tuple[Variable | None, Variable | None]:
    """What answer digit `k` is made of: a base digit and the carry or borrow from below, where there is one."""
    chain = found.chains[-1]
    if k == found.digits:
        return None, chain.resolved[k - 1] if found.model.operation is Operation.ADD else None
    return chain.base[k], chain.resolved[k - 1] if k else None
