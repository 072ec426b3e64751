"""Hard questions: the classes on which models fail last.

Takes  an operation and a number of digits.
Gives  the population of the deepest class of each kind that a model must answer.
Never  draws a question.
"""

from __future__ import annotations

from carrylens.arithmetic.classes import QuestionClass
from carrylens.arithmetic.questions import Operation
from carrylens.arithmetic.targets import Target, TargetPopulation, is_possible


def hard_populations(operation: Operation, digits: int) -> tuple[TargetPopulation, ...]:
    """The deepest possible class of additions, of positive and of negative subtractions, as the operation has them.

    >>> [population.target.negative for population in hard_populations(Operation.SUB, 6)]
    [False, True]
    """
    letters = {Operation.ADD: "S", Operation.SUB: "MN", Operation.MIX: "SMN"}[operation]
    return tuple(TargetPopulation(_deepest(letter, digits), digits) for letter in letters)


def _deepest(letter: str, digits: int) -> Target:
    targets = [Target.of_class(found) for found in QuestionClass if found.value[0] == letter]
    return [target for target in targets if is_possible(target, digits)][-1]
